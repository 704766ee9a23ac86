"""Spark: how it starts, where it runs, what it is set to; nothing else builds a session."""
