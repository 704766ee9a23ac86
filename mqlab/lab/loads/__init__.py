"""Loads: one process a client, ``python -m mqlab.lab.loads.KIND FILE`` or a Java main.

A load writes its log as such clients do, a ledger of what it sent, received or did, and a book of facts that never
leaves the lab: what truly happened, which no capture tells.
"""
