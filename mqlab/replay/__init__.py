"""A recorded consumer group with other settings: its course from Facts, the replays, what they are worth."""
