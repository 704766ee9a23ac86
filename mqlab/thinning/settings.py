"""SETTINGS thinned: processes print the same block at each start."""

from __future__ import annotations

import polars as pl

_KEPT = ("source", "line", "text", "scope", "owner", "key", "value", "origin", "version", "offset", "wall")


def changed(values: pl.DataFrame) -> pl.DataFrame:
    """Settings without those that repeat the value printed before."""
    said = pl.col("value").fill_null("")
    before = said.shift(1).over("source", "scope", "owner", "key")
    ordered = values.sort("source", "line", maintain_order=True)
    return ordered.filter(before.is_null() | (before != said)).select(_KEPT)
