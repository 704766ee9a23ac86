"""What several subjects ask of Facts: actors, settings in force, counters, flows, lag, and how findings are worded."""
