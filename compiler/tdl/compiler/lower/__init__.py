"""From scheduled nests to kernels that a back-end can take as they are. `pipeline.py` is the table of contents."""
