"""The automatic schedule of an op: text, written line by line, each line proved as one that a person wrote."""
