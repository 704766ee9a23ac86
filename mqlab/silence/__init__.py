"""Members of Kafka groups that their coordinator expelled: how long they were silent, and why."""
