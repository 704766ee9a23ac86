"""The backlog of a group: its state and speed from Facts, forecast and plan."""
