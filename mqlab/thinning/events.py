"""Events, polls, metrics and settings of one source made small: runs, extrema and series instead of rows."""

from __future__ import annotations

import polars as pl

from mqlab.formats import exporters

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


LONG = 1.0
"""Seconds from which a poll has a row of its own."""
TOGETHER = 10
"""Seconds in which shorter ones share a row."""


def batches(told: pl.DataFrame) -> pl.DataFrame:
    """One row a long poll and one for the short ones of one client that end within ten seconds.

    *told* are rows of POLLS; a line that stands for several in a flood counts that often. The last moment is ``wall``
    in microseconds; line and text are those of the longest poll, the first of equals.
    """
    long, times = pl.col("seconds") >= LONG, pl.col("lines").fill_null(1)
    known = told.with_columns(
        pl.when(long).then("line").otherwise(pl.col("wall") // (TOGETHER * 1_000_000)).alias("bucket"),
        long.alias("long"),
        times.alias("times"),
        ((pl.col("seconds") * 1e6).round().cast(pl.Int64) * times).alias("micros"),
    ).sort("seconds", "line", descending=[True, False])
    return known.group_by("source", "offset", "client_id", "group", "long", "bucket").agg(
        pl.col("wall").max(),
        pl.col("times").sum().alias("polls"),
        (pl.col("records") * pl.col("times")).sum().alias("records"),
        (pl.col("micros").sum() / 1e6).round(6).alias("seconds"),
        pl.col("seconds").first().alias("longest_seconds"),
        pl.col("records").first().alias("longest_records"),
        pl.col("line", "text").first(),
    ).drop("long", "bucket")  # fmt: skip


def series(samples: pl.DataFrame) -> pl.DataFrame:
    """One row a series: its points (at, value, line) by time; labels are JSON with sorted keys."""
    names = samples["name"].unique().drop_nulls()
    known = [name for name in names if name.startswith("app.") or exporters.is_known(name)]
    told = samples.filter(pl.col("name").is_in(known) & pl.col("value").is_not_null())
    points = pl.struct(pl.col("wall").alias("at"), "value", "line").sort_by("wall", "value", "line")
    return told.group_by("source", "name", pl.col("series").alias("labels"), "offset").agg(points.alias("points"))


_KEPT = ("source", "line", "text", "scope", "owner", "key", "value", "origin", "version", "offset", "wall")


def changed(values: pl.DataFrame) -> pl.DataFrame:
    """Settings without those that repeat the value printed before."""
    said = pl.col("value").fill_null("")
    before = said.shift(1).over("source", "scope", "owner", "key")
    ordered = values.sort("source", "line", maintain_order=True)
    return ordered.filter(before.is_null() | (before != said)).select(_KEPT)
