"""Logs that grow far faster than before: files that are one log, loud times, shapes of lines."""
