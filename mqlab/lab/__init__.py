"""The lab: real brokers on this machine, incidents made on purpose, and whether the diagnosis was right.

``mqlab lab run SCENARIO`` starts brokers without containers, plays a small file of loads and faults, gathers what an
engineer would gather, counts in the loads' own books what truly happened, and compares that with the diagnosis.

Nothing outside this package imports it; the command line loads it by name.
"""
