"""How `tdl.language.format` lays text out: tokens with their comments, spacing, breaking, alignment."""
