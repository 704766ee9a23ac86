"""EVENTS thinned to episodes: one row per kind, actor and ten seconds, with count, extrema, first and last line."""

from __future__ import annotations

import polars as pl

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
_ENDING = pl.col("kind").is_in(["publish-denied", "subscribe-denied"]) & (pl.col("reason") == "not-authorized")
"""A refusal with which a connection ended; each of them is an episode, as every other end is."""
PAUSE = 0.1
"""Seconds from which a pause of a whole process is an episode of its own; collectors make many shorter ones."""


_WHO = ("kind", "source", "system", "node", "client_id", "group", "topic", "queue", "member_id", "peer", "reason",
        "offset")  # fmt: skip


def episodes(happened: pl.DataFrame) -> pl.DataFrame:
    """Events thinned: one row per kind, actor and ten seconds; one row a line where the kind is exact."""
    pause = (pl.col("kind") == "gc-pause") & (pl.col("value") >= PAUSE)
    alone = pl.col("kind").is_in(sorted(EXACT)) | pause | _ENDING
    bucket = pl.when(alone.fill_null(False)).then("line").otherwise(pl.col("wall") // (EPISODE * 1_000_000))
    place = pl.struct("line", "text")
    return happened.with_columns(bucket.alias("bucket")).group_by(*_WHO, "bucket").agg(
        pl.col("lines").fill_null(1).sum().alias("count"),
        pl.col("wall").min().alias("first_at"),
        pl.col("wall").max().alias("last_at"),
        place.sort_by("line").first().alias("first"),
        place.sort_by("line").last().alias("last"),
        pl.col("value").min().alias("value_min"),
        pl.col("value").max().alias("value_max"),
    )  # fmt: skip
