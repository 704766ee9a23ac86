"""MQTT: connections, sessions, subscriptions, share groups, queues, refusals, copies, and who got how many messages."""
