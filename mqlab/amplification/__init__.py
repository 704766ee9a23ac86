"""Traffic that is more than its payload: splits, retries, records submitted again, other encodings."""
