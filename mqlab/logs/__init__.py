"""Logs that grow far faster than before."""
