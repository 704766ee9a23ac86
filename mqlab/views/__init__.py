"""A subject for the eye: its rows put together for figures, and its tables for notebooks and JSON."""
