"""What can be asked of a document, a pure function in a file of its own each; `table.py` lists them."""
