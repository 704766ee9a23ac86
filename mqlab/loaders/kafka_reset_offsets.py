"""``kafka-consumer-groups.sh --reset-offsets`` and ``--delete-offsets`` → EVENTS: offsets that somebody set or removed.

Sample lines::

    GROUP                          TOPIC                          PARTITION  NEW-OFFSET
    quote-board                    price.ticks                    2          1667
    Request succeed for deleting offsets with topic stock.moves:1 group stock-view

Before 2.4 there is no column for the group. 3.8 and 3.9 print header and rows without line breaks. A dry run prints the
same table as one that was executed: that an offset was set is shown by what the group did next.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches, quoted, replaced
from mqlab.tables import EVENTS, Table

FORMAT = "kafka-reset-offsets"
TABLES: tuple[Table, ...] = (EVENTS,)
READING = Reading.TABLE

_HEADER = r"^\s*(?:GROUP\s+)?TOPIC\s+PARTITION\s+NEW-OFFSET\s*"
_CELLS = r"\S+\s+\d{1,9}\s+\d{1,19}(?=\s|$)"
_ROW = rf"^(?:\s*(?:\S+\s+)?{_CELLS})+\s*$"
_ONE = rf"(?:\S+\s+)?{_CELLS}"
_PARTS = r"^(?:(\S+)\s+)?(\S+)\s+(\d+)\s+(\d+)$"
_DELETED = r"^Request succeed for deleting offsets with topic (\S+) group (\S+)\s*$"
_PLACE = r"^(.+):(\d+)$"
_STATUS = r"^\s*(?:TOPIC\s+PARTITION\s+STATUS|\S+\s+(?:\d+|Not Provided)\s+(?:Successful|Error: .*))\s*$"


def recognise(head: Head) -> bool:
    """True for a table of new offsets, or for the answer to a request to remove some."""
    return any(re.search(f"{_HEADER}|{_DELETED}", line) for line in console.plain_lines(head))


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One event a partition: ``offsets-set`` with the new offset, ``offsets-removed`` with the old one gone."""
    tables = rows.selectExpr("*", f"{replaced('plain', _HEADER)} AS bare").where(matches("bare", _ROW))
    every = tables.selectExpr("*", f"explode(regexp_extract_all(bare, {quoted(_ONE)}, 0)) AS cells")
    columns = {
        "at": "at",
        "system": "'kafka'",
        "kind": "'offsets-set'",
        "group": f"coalesce({filled(group('cells', _PARTS, 1))}, named)",
        "topic": group("cells", _PARTS, 2),
        "queue": group("cells", _PARTS, 3),
        "value": f"try_cast({group('cells', _PARTS, 4)} AS DOUBLE)",
    }
    return {EVENTS: EVENTS.rows(every, columns).unionByName(_removed(rows))}


def line_class(text: str) -> str:
    """Rows are data, headers and what the tool says of each removal noise."""
    line = console.plain(text)
    bare = replaced(line, _HEADER)
    return f"""CASE
        WHEN {matches(bare, _ROW)} OR {matches(line, _DELETED)} THEN 'data'
        WHEN {matches(line, _HEADER)} OR {matches(line, _STATUS)} THEN 'noise'
        ELSE {console.remark_class(line)} END"""


def _removed(rows: DataFrame) -> DataFrame:
    """Offsets that were removed: of one partition, or of a whole topic."""
    place = group("plain", _DELETED)
    columns = {
        "at": "at",
        "system": "'kafka'",
        "kind": "'offsets-removed'",
        "group": group("plain", _DELETED, 2),
        "topic": f"coalesce({filled(group(place, _PLACE))}, {place})",
        "queue": filled(group(place, _PLACE, 2)),
    }
    return EVENTS.rows(rows.where(matches("plain", _DELETED)), columns)
