"""Ledgers that the user's map describes (``--ledger``) → LEDGER.

Sample lines, of which only the map knows what they are::

    17|0|33|2026-11-21 12:00:00.123

No file is recognised as such: intake reads it so because the map says it.
"""

from __future__ import annotations

import polars as pl

from mqlab.formats import console, ledger_csv, ledger_json, ledger_rows
from mqlab.formats.base import About, Block, Head, Spec
from mqlab.ledgers.layout import Layout
from mqlab.ledgers.mapping import Entry
from mqlab.sources import Role
from mqlab.tables import LEDGER

FORMAT = Spec("ledger-mapped", Role.LEDGER, (LEDGER,))


def recognise(_: Head) -> bool:
    """Never true: the map says so."""
    return False


def layout(_: Head) -> str:
    """A layout without columns."""
    return Layout().text()


def mapped(head: Head, entry: Entry) -> str:
    """How the rows of the file stand by *entry*, and by what is in them where it says nothing."""
    first = next(iter(console.plain_lines(head)), "")
    if entry.separator is None and first.startswith("{"):
        return entry.over(ledger_json.laid_out(head), ledger_json.paths(head)).text()
    found = ledger_csv.laid_out(head, entry.separator, entry.header)
    names = {} if entry.header is False else {
        cell.lower(): str(n) for n, cell in enumerate(ledger_csv.cells(first, found.separator))
    }  # fmt: skip
    return entry.over(found, names).text()


def parse_block(lines: pl.DataFrame, about: About) -> Block:
    """One row a message; lines with a digit are data, others noise: the user knows the file."""
    known = ledger_rows.layout(about.layout)
    found = ledger_csv.rows(lines, known) if known.separator else ledger_json.rows(lines, known)[0]
    has_digit = pl.col("text").str.contains("[0-9]")
    kinds = lines.select(pl.when(has_digit).then(pl.lit("data")).otherwise(pl.lit("noise")))
    return Block({LEDGER: ledger_rows.dated(found)}, kinds.to_series())
