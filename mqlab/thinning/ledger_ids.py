"""Ledgers that note ids of messages and no places: what they are about is told by dumps and ledgers with the same ids.

Two producers may both count from 0: an id alone proves little, so a ledger must share far more of them with one topic
than with any other.
"""

from __future__ import annotations

import polars as pl

_FAR_MORE = 10
"""Times as many ids in common as with any other topic."""


def with_ids(titles: pl.DataFrame, noted: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """*titles* (source, shared), and the topic by ids where nothing else tells one.

    *told* has the sources with ``topic``, ``placed`` and ``unique``, *noted* the keys that they note.
    """
    loose = told.filter(topic="", placed=0, unique=True).select("source")
    keyed = noted.filter(pl.col("key").is_not_null()) if loose.height else noted.clear()
    by_ids = in_common(keyed.join(loose, on="source", how="semi"), keyed, "key", times=_FAR_MORE)
    both = titles.join(by_ids, on="source", how="left")
    return both.select("source", pl.coalesce("shared", "topic").alias("shared"))


def in_common(loose: pl.DataFrame, noted: pl.DataFrame, *by: str, times: int = 1) -> pl.DataFrame:
    """Source and topic of *loose* ledgers: that of *noted* rows with which they have most of what is told *by* columns.

    It must be more than *times* as many as with any other topic.
    """
    named = noted.filter(pl.col("topic") != "").select("topic", *by)
    shared = loose.select("source", *by).unique().join(named.unique(), on=by) if named.height else named.clear()
    if not shared.height:
        return loose.select("source", "topic").clear()
    counted = shared.group_by("source", "topic").len().sort("len", descending=True)
    clear = pl.col("len").first() > times * pl.col("len").slice(1).max().fill_null(0)
    return counted.group_by("source").agg(pl.col("topic").first(), clear.alias("clear")).filter("clear").drop("clear")
