"""Each rebalance of a Kafka group and the life of each member: trigger, what is behind it, cost."""
