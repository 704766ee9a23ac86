"""Rows of LEDGER drawn by hand, as they come to be thinned."""

import polars as pl

TEXTS = ("source", "role", "told", "party", "group", "topic", "queue", "key", "status", "dup", "retained")
TYPES = dict.fromkeys(TEXTS, pl.String) | {"line": pl.Int64, "position": pl.Int64, "qos": pl.Int32, "at": pl.Float64}


def rows(told):
    """A frame of rows that are *told* as dictionaries: ``at`` in seconds; what is left out is null."""
    frame = pl.DataFrame(told, TYPES)
    return frame.select(pl.exclude("at"), (pl.col("at") * 1_000_000).round().cast(pl.Int64).alias("wall"))
