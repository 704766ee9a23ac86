"""What the metric formats share: numbers that may be NaN, label sets that may name a label twice."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

_LABEL = r'([A-Za-z_][\w.-]*)="((?:[^"\\]|\\.)*)"'


def finite(text: Column) -> Column:
    """The number; null for NaN, infinities and anything else."""
    number = text.try_cast("double")
    return F.when(~F.isnan(number) & (F.abs(number) != float("inf")), number)


def labels(text: Column) -> Column:
    r"""Map of ``topic="a",path="C:\\x"``; of a label named twice the first counts, as a map key must be unique."""
    names = F.regexp_extract_all(text, F.lit(_LABEL), F.lit(1))
    values = F.regexp_extract_all(text, F.lit(_LABEL), F.lit(2))
    pairs = F.zip_with(names, values, lambda name, value: F.struct(name.alias("k"), _bare(value).alias("v")))
    return unique(pairs)


def unique(pairs: Column) -> Column:
    """Map of an array of structs (k, v); the first value of each key."""
    keys = F.transform(pairs, lambda pair: pair["k"])
    return F.map_from_entries(F.filter(pairs, lambda pair, at: F.array_position(keys, pair["k"]) == at + 1))


def instant(number: Column) -> Column:
    """Timestamp of epoch seconds or milliseconds, told apart by size."""
    value = number.try_cast("double")
    seconds = F.when(F.abs(value) > 1e11, value / 1000).otherwise(value)
    return F.timestamp_micros(F.round(seconds * 1e6).try_cast("long"))


def _bare(value: Column) -> Column:
    return F.regexp_replace(value, r'\\(["\\])', "$1")
