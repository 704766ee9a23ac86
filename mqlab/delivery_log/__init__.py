"""The audit from the producer to the log: who led, how far logs reached, what is gone, doubled or refused."""
