"""Polls that applications say they worked off, thinned."""

import polars as pl

from mqlab.formats.values import instant
from mqlab.thinning import tables


def test_long_polls_stand_alone_and_short_ones_share_ten_seconds():
    told = pl.DataFrame(
        [
            ("s", 1, None, "a", "2026-11-21 12:00:01", 5, 0.5),
            ("s", 2, 3, "b", "2026-11-21 12:00:02", 7, 0.9),
            ("s", 3, None, "c", "2026-11-21 12:00:03", 500, 44.6),
            ("s", 4, None, "d", "2026-11-21 12:00:11", 1, 0.1),
        ],
        schema=["source", "line", "lines", "text", "wall", "records", "seconds"],
        orient="row",
    ).with_columns(
        pl.col("wall").map_elements(instant, return_dtype=pl.Int64),
        pl.lit(None, pl.Int32).alias("offset"),
        pl.lit(None, pl.String).alias("client_id"),
        pl.lit(None, pl.String).alias("group"),
    )
    found = (
        tables.batches(told)
        .sort("line")
        .select("line", "polls", "records", pl.col("seconds"), "longest_seconds", "longest_records", "text")
    )
    assert found.rows() == [
        (2, 4, 26, 3.2, 0.9, 7, "b"),
        (3, 1, 500, 44.6, 44.6, 500, "c"),
        (4, 1, 1, 0.1, 0.1, 1, "d"),
    ]
