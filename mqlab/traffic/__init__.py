"""Amplified traffic: split loops, batches sent again, records submitted again, other encodings, smaller batches."""
