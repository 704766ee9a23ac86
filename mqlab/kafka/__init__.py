"""Groups of Kafka: members, their lives and restarts, rebalances, late polls, lost heartbeats, repeated records."""
