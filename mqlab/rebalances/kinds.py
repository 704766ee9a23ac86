"""Kinds of episodes about Kafka groups, by who writes the lines."""

from __future__ import annotations

COORDINATOR = frozenset(
    {
        "rebalance-started", "rebalance-stabilized", "rebalance-assigned", "group-emptied", "member-expired",
        "member-dropped", "member-left", "member-joined", "group-epoch-bumped", "target-assigned", "group-loaded",
        "group-unloaded", "static-member-replaced", "group-metadata",
    }
)  # fmt: skip
CLIENT = frozenset(
    {
        "join-started", "join-requested", "join-completed", "sync-completed", "partitions-assigned",
        "partitions-revoked", "partitions-lost", "assignment-made", "poll-timeout", "leave-sent", "heartbeat-failed",
        "generation-reset", "coordinator-lost", "coordinator-found", "session-timeout", "commit-failed",
        "commit-deferred", "offset-set", "offset-missing", "subscribed",
    }
)  # fmt: skip
STARTS = frozenset({"settings-printed", "app-started", "process-started"})
STOPS = frozenset({"app-stopping", "consumer-closed", "leave-sent"})
PROCESS = STARTS | STOPS | {"process-exit", "client-version"}
