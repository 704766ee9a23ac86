"""Ledgers that the user's map describes (``--ledger``, see ``ledgers.mapping``) → LEDGER.

Sample lines, of which only the map knows what they are::

    17|0|33|2026-11-21 12:00:00.123

No file is recognised as such: intake reads it so because the map says it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.ledgers.layout import Layout
from mqlab.ledgers.mapping import Entry
from mqlab.loaders import console, ledger_csv, ledger_json
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.tables import LEDGER, Table

FORMAT = "ledger-mapped"
TABLES: tuple[Table, ...] = (LEDGER,)
READING = Reading.TABLE


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


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a message; *rows* have their layout."""
    objects = ledger_json.load(rows.where("laid_separator = ''"))[LEDGER]
    return {LEDGER: ledger_csv.load(rows.where("laid_separator <> ''"))[LEDGER].unionByName(objects)}


def line_class(text: str) -> str:
    """Lines with a digit are data, others (headers, remarks, blank lines) noise: the user knows the file."""
    return f"CASE WHEN {text} RLIKE '[0-9]' THEN 'data' ELSE 'noise' END"
