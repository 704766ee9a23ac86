"""Files of one ledger of MQTT as one, since who receives a message twice must be told from two who receive it.

While they are one, a row's line says its file, too, in the bits above ``_BITS``; afterwards rows cite their own files.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import polars as pl

from mqlab.ledgers.layout import Holder

_BITS = 40
"""Bits of a number of a line: no file has more lines."""


def firsts(holders: Mapping[str, Holder], mqtt: Collection[str]) -> dict[str, str]:
    """The first file of each ledger by all of its files, where a ledger has several; *mqtt* are those of MQTT."""
    found: dict[tuple[str, bool], str] = {}
    first = {link: found.setdefault((one.place, link in mqtt), link) for link, one in holders.items()}
    return first if len(found) < len(first) else {}


def as_one(rows: pl.DataFrame, first: Mapping[str, str]) -> pl.DataFrame:
    """*rows* of LEDGER with the first file of their ledger as ``source``, and lines that say the file."""
    number = pl.col("source").replace_strict({link: n for n, link in enumerate(first, 1)}, default=0)
    return rows.with_columns(
        pl.col("source").replace(dict(first)), (pl.col("line") + number.cast(pl.Int64) * 2**_BITS).alias("line")
    )


def apart(frame: pl.DataFrame, first: Mapping[str, str]) -> pl.DataFrame:
    """A fact that was told by rows ``as_one``, with lines of files and the ``file`` that each stands in."""
    links = dict(enumerate(first, 1))

    def file(line: pl.Expr, source: pl.Expr) -> pl.Expr:
        told = (line // 2**_BITS).replace_strict(links, default=None, return_dtype=pl.String)
        return pl.coalesce(told, source.cast(pl.String))

    for name in {"first", "last"} & set(frame.columns):
        field = pl.col(name).struct
        line = field.field("line")
        own = {"source": file(line, field.field("source")), "line": line % 2**_BITS}
        frame = frame.with_columns(field.with_fields(**own).alias(name))
    if "line" in frame.columns:
        line = pl.col("line")
        others = [
            pl.when(other // 2**_BITS == line // 2**_BITS).then(other % 2**_BITS)
            for other in (pl.col("again_line"), pl.col("retained_line"))
        ]
        frame = frame.with_columns(file(line, pl.col("source")).alias("file"), line % 2**_BITS, *others)
    return frame
