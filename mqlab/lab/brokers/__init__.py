"""Brokers of the lab: one module a software, each says how it is set up, started and known to be ready."""
