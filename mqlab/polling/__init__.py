"""Members of Kafka groups that poll too late: what they were allowed, how long polls took, and why."""
