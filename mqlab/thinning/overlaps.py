"""Rows of ledgers that were gathered twice count once: a copy that has grown since, files that overlap as rotated.

Whose ledger a file is, its place and its name tell (``Holder``). Rows of one place that are equal with their moment
count once, as often as the file does that notes them most: what one file notes twice was handled twice. Where nothing
tells that two files are of different parties, rows that follow one another in both, from an end of a file to an end of
a file, are one part of one ledger; where these are too few to tell, they count once, and it is said. A file all of
whose rows another one has, in whatever order, is a sorted copy. What two parties note, or two files in their midst, are
doubles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from mqlab.ledgers.layout import TELLING_ROWS, Holder

_SAYS = ("role", "group", "topic", "queue", "position", "key", "status", "wall", "dup", "qos", "retained")
_TORN = 1
"""Rows at an end of a file that may differ from the other one's: a line may have been cut."""
_ALIKE = 4
"""Equal rows of one file above which they are no help in laying two files side by side: a bound of time."""
_FINE = pl.col("wall").filter(pl.col("wall") % 1_000_000 != 0).n_unique().alias("fine")
_LEFT = {"index": pl.UInt32, "source": pl.String, "other": pl.String, "open": pl.Boolean}


def cut(rows: pl.DataFrame, holders: Mapping[str, Holder]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """*rows* of LEDGER without those that count elsewhere, and what was left out.

    That is one row for each source: ``source``, ``other`` in which they stand too, ``lines``, and ``open`` where it
    cannot be told whether they are the same. *holders* are in the order in which files are preferred.
    """
    numbered = rows.with_row_index("index")
    shared = _shared(numbered, holders)
    again = _of_one_holder(shared) if shared.height else pl.DataFrame(schema=_LEFT)
    rest = shared.join(again, on="index", how="anti")
    again = pl.concat([again, *_of_one_part(rest, numbered, holders)])
    left = numbered.join(again, on="index", how="anti").drop("index")
    told = again.group_by("source").agg(pl.col("other").min(), pl.len().alias("lines"), pl.col("open").any())
    return (left if again.height else rows), told.sort("source")


def _shared(numbered: pl.DataFrame, holders: Mapping[str, Holder]) -> pl.DataFrame:
    """Dated rows of *holders* that several of them have: ``row`` stands for what a row says."""
    names = {"source": list(holders), "place": [one.place for one in holders.values()], "rank": range(len(holders))}
    told = pl.DataFrame(names, {"source": pl.String, "place": pl.String, "rank": pl.Int64})
    dated = numbered.filter(pl.col("wall").is_not_null()).join(told, on="source")
    known = dated.select("index", "source", "line", "place", "rank", "wall", pl.struct(_SAYS).hash().alias("row"))
    ends = known.group_by("row").agg(pl.col("rank").min().alias("low"), pl.col("rank").max().alias("high"))
    return known.join(ends.filter(pl.col("low") < pl.col("high")), on="row", how="semi").sort("rank", "line", "index")


def _of_one_holder(shared: pl.DataFrame) -> pl.DataFrame:
    """Rows that an earlier file of the same place has as often."""
    time = pl.int_range(pl.len()).over("source", "row").alias("time")
    first = pl.col("source").first().over("place", "row", "time").alias("other")
    told = shared.with_columns(time).with_columns(first, pl.lit(False).alias("open"))
    return told.filter(pl.col("source") != pl.col("other")).select(*_LEFT)


def _of_one_part(shared: pl.DataFrame, numbered: pl.DataFrame, holders: Mapping[str, Holder]) -> list[pl.DataFrame]:
    """Rows of parts that two files have in common of which nothing tells that they are of different parties."""
    if not shared.height:
        return []
    order = pl.int_range(pl.len()).over("source", order_by=["line", "index"])
    dated = numbered.filter(pl.col("wall").is_not_null())
    placed = dated.select("index", order.alias("number"), (pl.len().over("source") - 1).alias("end"))
    placed = shared.join(placed, on="index")
    rows = placed.filter(pl.len().over("source", "row") <= _ALIKE)
    pairs = rows.join(rows, on="row", suffix="_other").filter(pl.col("rank") > pl.col("rank_other"))
    shift = (pl.col("number").cast(pl.Int64) - pl.col("number_other")).alias("shift")
    runs = pairs.group_by("source", "source_other", shift).agg(
        pl.len().alias("lines"),
        pl.col("number", "number_other").min().name.suffix("_first"),
        pl.col("number", "number_other").max().name.suffix("_last"),
        pl.col("end", "end_other").first(),
        _FINE,
    )
    found = _wholes(placed, holders)
    for run in runs.filter(_is_part()).sort("source", "source_other", "shift").to_dicts():
        if _may_be_one(holders[run["source"]], holders[run["source_other"]], run["fine"] >= TELLING_ROWS):
            number = pl.col("number").is_between(run["number_first"], run["number_last"])
            found.append(
                rows.filter(number, source=run["source"]).select(
                    "index", "source", other=pl.lit(run["source_other"]), open=pl.lit(run["fine"] < TELLING_ROWS)
                )
            )
    return [pl.concat(found).sort("open", "other").unique("index", keep="first", maintain_order=True)] if found else []


def _wholes(placed: pl.DataFrame, holders: Mapping[str, Holder]) -> list[pl.DataFrame]:
    """Rows of a file that stands in another one as a whole, in another order: a copy that was sorted."""
    time = pl.int_range(pl.len()).over("source", "row").alias("time")
    rows = placed.sort("source", "number").with_columns(time)
    pairs = rows.join(rows, on=["row", "time"], suffix="_other").filter(pl.col("rank") > pl.col("rank_other"))
    end = pl.min_horizontal(pl.col("end").first(), pl.col("end_other").first()).alias("end")
    both = pairs.group_by("source", "source_other").agg(pl.len().alias("lines"), end, _FINE)
    whole = both.filter(pl.col("lines").cast(pl.Int64) + _TORN > pl.col("end"), pl.col("fine") >= TELLING_ROWS)
    return [
        pairs.filter(source=one, source_other=other).select("index", "source", other=pl.lit(other), open=pl.lit(False))
        for one, other in sorted(whole.select("source", "source_other").rows())
        if _may_be_one(holders[one], holders[other], tells=True)
    ]


def _is_part() -> pl.Expr:
    """Whether the rows of a run follow one another in both files, from an end of one of them to an end of one.

    A single row is a part where it is all that a file holds.
    """
    first, last, lines = pl.col("number_first"), pl.col("number_last"), pl.col("lines")
    begins = pl.min_horizontal(first, "number_other_first") <= _TORN
    left = pl.min_horizontal(pl.col("end") - last, pl.col("end_other") - pl.col("number_other_last"))
    whole = pl.min_horizontal("end", "end_other") == 0
    return (lines == last - first + 1) & begins & (left <= _TORN) & ((lines > 1) | whole)


def _may_be_one(one: Holder, other: Holder, tells: bool) -> bool:
    """Whether two files may be of one party; *tells*: the rows they share are many, with moments finer than a second.

    ``x-processed-2.csv`` beside ``x-processed.csv`` is a second copy, or of a second process: only its rows can tell.
    """
    if one.party is None or other.party is None or one.party == other.party:
        return True
    return tells and bool(_numbered(one, other) or _numbered(other, one))


def _numbered(one: Holder, other: Holder) -> re.Match[str] | None:
    """Whether *one* has the name of *other* and a number behind it, in the same folder."""
    folder, slash, name = other.place.rpartition("/")
    stem, dot, ending = name.partition(".")
    return re.fullmatch(rf"{re.escape(folder + slash + stem)}[-_. ]?\d{{1,2}}{re.escape(dot + ending)}", one.place)
