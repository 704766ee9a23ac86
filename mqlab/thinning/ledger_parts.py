"""What each ledger or dump tells of each partition, counted."""

from __future__ import annotations

import polars as pl

_ROW = ("source", "line", "told", "party", "group", "position", "wall", "key")


def parts(rows: pl.DataFrame, topics: pl.DataFrame) -> pl.DataFrame:
    """One row for each source, role, topic and queue of LEDGER, with the topic that the ledger is about.

    Records of control and the row that stands for a dump itself are not counted, but their offsets are covered.
    """
    inside = pl.col("role") != "dump"
    known = rows.filter(pl.col("role").is_not_null()).select(
        *_ROW,
        inside.alias("inside"),
        (inside & pl.col("status").ne_missing("control")).alias("record"),
        pl.col("role").replace("dump", "stored"),
        pl.col("topic", "queue").fill_null(""),
    )
    titled = known.join(topics.select("source", "topic", "title"), on=["source", "topic"], how="left")
    named = titled.with_columns(pl.coalesce("title", "topic").alias("topic"))
    position, wall, record = (pl.col(name) for name in ("position", "wall", "record"))
    return named.group_by("source", "role", "topic", "queue").agg(
        pl.col("told", "party", "group").min(),
        record.sum().alias("messages"),
        pl.col("key").filter(record).drop_nulls().n_unique().alias("keys"),
        position.filter("inside").min().alias("first_offset"),
        position.filter("inside").max().alias("last_offset"),
        wall.filter("inside").min().alias("first_at"),
        wall.filter("inside").max().alias("last_at"),
        pl.col("line").min().alias("first_line"),
        pl.col("line").max().alias("last_line"),
        position.filter(~pl.col("inside")).min().alias("start"),
        wall.filter(~pl.col("inside")).max().alias("taken_at"),
    )
