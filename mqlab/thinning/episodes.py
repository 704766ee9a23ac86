"""EVENTS thinned to episodes: one row per kind, actor and ten seconds, with count, extrema, first and last line."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.sql import quoted

EPISODE = 10
"""Seconds that one episode spans."""
EXACT = frozenset({
    "rebalance-started", "rebalance-stabilized", "rebalance-assigned", "group-emptied", "member-expired",
    "member-dropped", "member-left", "member-joined", "group-epoch-bumped", "target-assigned", "group-loaded",
    "group-unloaded", "offsets-expired", "static-member-replaced", "static-member-fenced",
    "join-started", "join-requested", "join-completed", "sync-completed", "partitions-assigned", "partitions-revoked",
    "partitions-lost", "assignment-made", "poll-timeout", "leave-sent", "heartbeat-failed", "generation-reset",
    "coordinator-lost", "coordinator-found", "session-timeout", "commit-failed", "commit-deferred", "offset-set",
    "offset-missing", "offset-reset", "offset-reset-to", "offset-sought", "subscribed", "consumer-closed",
    "record-failed", "call-failed", "request-cancelled", "app-stopping", "app-started", "group-metadata",
    "leader-started", "follower-started", "isr-shrunk", "isr-updated", "log-truncated", "truncation-asked",
    "truncation-idle", "below-watermark", "fetch-offset-reset", "unclean-election", "leader-elected", "no-leader",
    "broker-failed", "broker-fenced", "truncation-detected",
    "client-connected", "client-disconnected", "session-takeover", "session-resumed", "session-expired",
    "client-subscribed", "client-unsubscribed", "broker-starting", "bridge-connecting", "connection-made",
    "connection-closed", "connection-lost", "ping-unanswered", "client-configured", "proxied-connection",
    "flapping-detected", "session-killed",
})  # fmt: skip
"""Kinds of which every line is an episode: the life of a consumer group, of a log and of MQTT connections."""
ENDING = "kind IN ('publish-denied', 'subscribe-denied') AND reason = 'not-authorized'"
"""SQL: true for a refusal with which a connection ended; each of them is an episode, as every other end is."""
PAUSE = 0.1
"""Seconds from which a pause of a whole process is an episode of its own; collectors make many shorter ones."""


def episodes(happened: DataFrame) -> DataFrame:
    """Events thinned: one row per kind, actor and ten seconds; one row a line where the kind is exact."""
    who = ["kind", "source", "system", "node", "client_id", "group", "topic", "queue", "member_id", "peer", "reason",
           "offset"]  # fmt: skip
    exact = ", ".join(quoted(kind) for kind in sorted(EXACT))
    alone = f"kind IN ({exact}) OR (kind = 'gc-pause' AND value >= {PAUSE}) OR ({ENDING})"
    bucket = f"CASE WHEN {alone} THEN line ELSE floor(unix_seconds(wall) / {EPISODE}) END AS bucket"
    known = happened.selectExpr("*", bucket)
    return known.groupBy(*who, "bucket").agg(
        F.expr("sum(coalesce(lines, 1)) AS count"),
        F.expr("unix_micros(min(wall)) AS first_at"),
        F.expr("unix_micros(max(wall)) AS last_at"),
        F.expr("min(struct(line, text)) AS first"),
        F.expr("max(struct(line, text)) AS last"),
        F.expr("min(value) AS value_min"),
        F.expr("max(value) AS value_max"),
    )
