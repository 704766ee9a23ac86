"""``leader-epoch-checkpoint`` beside the segments of a partition (KIP-101, 0.11 on) → EVENTS of kind ``leader-epoch``.

Sample file, of version 0, with two epochs that began at offsets 0 and 1032::

    0
    2
    0 0
    2 1032

The folder that the file is in is its topic and partition, ``orders-0``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches
from mqlab.tables import EVENTS, Table

FORMAT = "leader-epoch-checkpoint"
TABLES: tuple[Table, ...] = (EVENTS,)
READING = Reading.TABLE

_NAMED = r"(?i)leader-epoch"
_FILE = r"^0\s+(\d+)\s+((?:\d+ \d+\s+)*)$"
_ENTRY = r"^(\d+) (\d+)\s*$"
_FOLDER = r"^([\w.-]+)-(\d+)\.leader-epoch-checkpoint"
_COPY = r"leader-epoch-checkpoint[-_.]([\w.-]+?)-(\d+)(?:\.|$)"


def recognise(head: Head) -> bool:
    """True for a version, a count and as many pairs, in a file that is named after the leaders' epochs."""
    found = re.search(_FILE, head.text.rstrip() + "\n") if re.search(_NAMED, head.name) else None
    return found is not None and (head.size > len(head.text) or len(found[2].splitlines()) == int(found[1]))


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One event an epoch: ``value`` is the offset that it began at, ``reason`` its number."""
    entries = rows.where(f"line > 2 AND {matches('plain', _ENTRY)}")
    columns = {
        "at": "at",
        "system": "'kafka'",
        "kind": "'leader-epoch'",
        "topic": _place(1),
        "queue": _place(2),
        "value": f"try_cast({group('plain', _ENTRY, 2)} AS DOUBLE)",
        "reason": group("plain", _ENTRY, 1),
    }
    return {EVENTS: EVENTS.rows(entries, columns)}


def line_class(text: str) -> str:
    """Epochs are data, version and count noise."""
    line = console.plain(text)
    return f"""CASE WHEN {matches(line, _ENTRY)} THEN 'data' WHEN {matches(line, "^[0-9]*$")} THEN 'noise' END"""


def _place(number: int) -> str:
    """SQL: topic or partition, from the folder, which is part of the name, or from the name of a copy."""
    return f"coalesce({filled(group('name', _FOLDER, number))}, {filled(group('name', _COPY, number))})"
