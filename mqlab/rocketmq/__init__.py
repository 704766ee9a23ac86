"""Groups of RocketMQ: members, who holds which queue, shared client ids, subscriptions that differ."""
