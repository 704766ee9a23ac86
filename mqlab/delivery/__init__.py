"""The delivery audit of a topic: both sides put together, in rows, words, tables and JSON."""
