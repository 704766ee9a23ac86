"""What one source gives, made small: events, polls, metrics and settings, what became of its lines, and how it grew.

Lines that are kept verbatim carry bytes like any others, so they are counted under a shape of their own. Lines without
a moment have no minute; ``assembly.logs`` says to which they belong.
"""

from __future__ import annotations

import polars as pl

from mqlab.formats import exporters
from mqlab.sources import Reading
from mqlab.thinning import MICROS

EXACT = frozenset({
    "rebalance-started", "rebalance-stabilized", "rebalance-assigned", "group-emptied", "member-expired",
    "member-dropped", "member-left", "member-joined", "group-epoch-bumped", "target-assigned", "group-loaded",
    "group-unloaded", "offsets-expired", "static-member-replaced", "static-member-fenced",
    "join-started", "join-requested", "join-completed", "sync-completed", "partitions-assigned", "partitions-revoked",
    "partitions-lost", "assignment-made", "poll-timeout", "leave-sent", "heartbeat-failed", "generation-reset",
    "coordinator-lost", "coordinator-found", "session-timeout", "commit-failed", "commit-deferred", "offset-set",
    "offset-missing", "offset-reset", "offset-reset-to", "offset-sought", "subscribed", "consumer-closed",
    "record-failed", "call-failed", "request-cancelled", "app-stopping", "app-started", "group-metadata",
    "leader-started", "follower-started", "isr-shrunk", "isr-updated", "log-truncated", "log-deleted",
    "truncation-asked", "truncation-idle", "below-watermark", "fetch-offset-reset", "unclean-election",
    "leader-elected", "no-leader", "broker-failed", "broker-fenced", "truncation-detected",
    "client-connected", "client-disconnected", "session-takeover", "session-resumed", "session-expired",
    "client-subscribed", "client-unsubscribed", "broker-starting", "bridge-connecting", "connection-made",
    "connection-closed", "connection-lost", "ping-unanswered", "client-configured", "proxied-connection",
    "flapping-detected", "session-killed", "settings-reloaded",
})  # fmt: skip
"""Kinds of which every line is an episode: the life of a consumer group, of a log and of MQTT connections."""
_ENDING = pl.col("kind").is_in(["publish-denied", "subscribe-denied"]) & (pl.col("reason") == "not-authorized")
"""A refusal with which a connection ended; each of them is an episode, as every other end is."""
PAUSE = 0.1
"""Seconds from which a pause of a whole process is an episode of its own: half of what G1 aims at
(-XX:MaxGCPauseMillis=200). Collectors make many shorter ones, which end no session and no request."""


_WHO = ("kind", "source", "system", "node", "client_id", "group", "topic", "queue", "member_id", "peer", "reason",
        "offset")  # fmt: skip


def episodes(happened: pl.DataFrame) -> pl.DataFrame:
    """Events thinned: one row per kind, actor and ten seconds; one row a line where the kind is exact."""
    pause = (pl.col("kind") == "gc-pause") & (pl.col("value") >= PAUSE)
    alone = pl.col("kind").is_in(sorted(EXACT)) | pause | _ENDING
    bucket = pl.when(alone.fill_null(False)).then("line").otherwise(pl.col("wall") // MICROS)
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
"""Seconds from which a poll has a row of its own: what log clocks of whole seconds show, and far below any
max.poll.interval.ms; all shorter ones together still have their counts and sums."""


def batches(told: pl.DataFrame) -> pl.DataFrame:
    """One row a long poll and one for the short ones of one client that end within ten seconds.

    *told* are rows of POLLS; a line that stands for several in a flood counts that often. The last moment is ``wall``
    in microseconds; line and text are those of the longest poll, the first of equals.
    """
    long, times = pl.col("seconds") >= LONG, pl.col("lines").fill_null(1)
    known = told.with_columns(
        pl.when(long).then("line").otherwise(pl.col("wall") // MICROS).alias("bucket"),
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


def coverage(rows: pl.DataFrame) -> pl.DataFrame:
    """Lines and bytes per source and class: data, noise, or null for what nobody understands."""
    sample = pl.struct("line", "text").sort_by("line").first()
    return rows.group_by("source", "class").agg(
        pl.col("lines", "bytes").sum(),
        pl.col("first_second").min(),
        pl.col("last_second").max(),
        pl.col("damage").min(),
        pl.when(pl.col("class").first().is_null()).then(sample).alias("sample"),
    )


SHAPES = 300
"""Shapes kept per source, to bound what leaves Spark; the rest is counted under coverage only."""


def shapes(rows: pl.DataFrame) -> pl.DataFrame:
    """Line shapes of each source, the most frequent ones and all that warn; *rows* are those of COUNTS."""
    counted = rows.filter(~pl.col("kept") & pl.col("shape").is_not_null())
    grouped = counted.group_by("source", "level", "shape").agg(
        pl.col("lines", "bytes").sum(),
        pl.col("minute").min().alias("first_minute"),
        pl.col("minute").max().alias("last_minute"),
        pl.col("line").min(),
    )
    warns = pl.col("level").is_in(["WARN", "ERROR", "FATAL"]).fill_null(False).alias("warns")
    ranked = grouped.with_columns(warns).sort("warns", "lines", "shape", descending=[True, True, False])
    return ranked.group_by("source", maintain_order=True).head(SHAPES).drop("warns")


MOST = 24
"""Shapes of a log whose minutes are told. A flood is made of three at most, but a shape that was cut to its length
before its numbers were masked stands here once for each length of its numbers; ``log_growth.shapes`` joins them."""
MATTERS = 1_000_000
"""Bytes below which a log's shapes are not told: it cannot have grown by that much within any minute."""


def volumes(rows: pl.DataFrame) -> pl.DataFrame:
    """One row a log (``whole``) and one for each of its loudest shapes, from rows of COUNTS.

    ``minutes`` holds (minute, line, lines, bytes) by minute, ``line`` being the first one. In the row of the whole log
    the entry without a minute counts its undated lines.
    """
    logs = rows.filter(pl.col("source").str.starts_with(Reading.LOG.value))
    whole = _by_minute(logs, ["source", "minute"]).with_columns(
        whole=pl.lit(True), level=pl.lit(None, pl.String), shape=pl.lit(None, pl.String)
    )
    shaped = _by_minute(logs.filter(pl.col("minute").is_not_null()), ["source", "minute", "level", "shape"])
    every = pl.concat([whole, shaped.with_columns(whole=pl.lit(False))], how="diagonal")
    grown = every.group_by("source", "whole", "level", "shape").agg(
        pl.col("lines", "bytes").sum(),
        pl.col("line").min(),
        pl.col("bytes").max().alias("loudest"),
        pl.struct("minute", "line", "lines", "bytes").sort_by("minute", nulls_last=False).alias("minutes"),
    )
    total = pl.col("bytes").filter("whole").max().over("source")
    ordered = grown.with_columns(total.alias("total")).sort("loudest", "line", "shape", descending=[True, False, False])
    ranked = ordered.with_columns(pl.int_range(pl.len()).over("source", "whole").alias("rank"))
    told = ranked.filter(pl.col("whole") | ((pl.col("rank") < MOST) & (pl.col("total") >= MATTERS)))
    return told.drop("total", "loudest", "rank")


def _by_minute(logs: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    return logs.group_by(keys).agg(pl.col("lines", "bytes").sum(), pl.col("line").min())
