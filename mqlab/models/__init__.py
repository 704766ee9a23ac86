"""Arithmetic of brokers and clients: one module per rule, pure Python, no input or output."""
