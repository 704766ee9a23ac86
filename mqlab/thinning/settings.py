"""SETTINGS thinned: processes print the same block at each start."""

from __future__ import annotations

from pyspark.sql import DataFrame


def changed(values: DataFrame) -> DataFrame:
    """Settings without those that repeat the value printed before."""
    before = "lag(coalesce(value, '')) OVER (PARTITION BY source, scope, owner, key ORDER BY line)"
    return (
        values.selectExpr("*", f"{before} AS before")
        .where("before IS NULL OR before <> coalesce(value, '')")
        .selectExpr(
            "source", "line", "text", "scope", "owner", "key", "value", "origin", "version", "offset",
            "unix_micros(wall) AS wall",
        )
    )  # fmt: skip
