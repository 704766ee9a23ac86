"""Rows of Facts that have a module of their own: plain data."""
