"""The audit from the log to the groups that read it: handled, lost, doubled, waiting, and by which mechanism."""
