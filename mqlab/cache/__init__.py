"""The workspace: what was read once is not read again."""
