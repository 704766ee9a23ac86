"""What is gathered from running brokers, harmlessly: `mqlab capture`. Nothing of the core imports it.

A capture is a folder of files in layouts that mqlab reads (`bundle`), with what was asked and what failed beside them
(`manifest`); secrets are masked before anything is written (`masking`).
"""
