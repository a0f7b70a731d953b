"""The language server: everything the checker knows, at the cursor. `docs/lsp.md` says how to add a feature."""
