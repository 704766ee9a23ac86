"""What the values in lines of one shape are, and the regex by which they are read.

Sample statement and its columns::

    paid <PO-17> (topic=<payouts> partition=<1> offset=<33>)      key 0, topic 1, queue 2, offset 3
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mqlab.ledgers import line_names, mqtt
from mqlab.ledgers.layout import field_of
from mqlab.ledgers.statements import PREFIX, Piece

ENOUGH = 3
"""Different messages from which lines of one shape are a ledger's."""
_FIELDS = ("time", "topic", "queue", "offset", "place", "key", "status", "qos", "dup", "retained", "party", "group")
_MOMENT = "2026-01-01T00:00:00Z"
"""Stands for the moment before a statement, of which it only matters that it is there."""
_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")

Columns = Mapping[str, int]
"""Numbers of values by field."""
Cells = Sequence[Sequence[str]]
"""A list for each value: what it is in each line."""


def columns(said: Sequence[Piece], cells: Cells, *, timed: bool) -> Columns:
    """Numbers of the values by field, as in a table of them; a line that is dated (*timed*) needs no moment."""
    lead = [[_MOMENT] * len(cells[0])] if timed else []
    names = [*(["time"] if timed else []), *line_names.names(said, cells)]
    rows = [list(row) for row in zip(*lead, *cells, strict=True)]
    found = {field: n - len(lead) for field, n in mqtt.named(names, rows, "").columns.items() if field in _FIELDS}
    called = {field: field_of(names[n + len(lead)]) for field, n in found.items()}
    guessed = {field for field in ("queue", "offset", "place") if called.get(field, field) != field}
    return {f: n for f, n in found.items() if n >= 0 and f not in guessed and not (timed and f == "time")}


def placed(found: Columns) -> bool:
    """Whether the values name a place of a message in a log."""
    return "offset" in found and bool({"queue", "place"} & found.keys())


def apart(found: Columns, cells: Cells) -> bool:
    """Whether these are several messages: different places, which hold numbers, else different keys."""
    if not placed(found):
        return "key" in found and len(set(cells[found["key"]])) >= ENOUGH
    offsets, partitions = cells[found["offset"]], cells[found["queue" if "queue" in found else "place"]]
    numbers = all(cell.lstrip("-").isdigit() for cell in offsets)
    return numbers and len(set(zip(partitions, offsets, strict=True))) >= ENOUGH


def pattern(said: Sequence[Piece], found: Columns) -> tuple[str, Mapping[str, int]]:
    """The regex of such lines up to the last value that is a fact of a message, and its groups by field.

    It reads the same in Python and in Rust, and fits from the beginning of a line.
    """
    values = [n for n, piece in enumerate(said) if piece.pattern]
    fields = {values[n]: field for field, n in found.items()}
    end = max(fields) + 1
    groups = {fields[n]: number for number, n in enumerate(sorted(fields), 1)}
    return f"^{PREFIX}{''.join(_part(piece, n in fields) for n, piece in enumerate(said[:end]))}", groups


def _part(piece: Piece, wanted: bool) -> str:
    if piece.pattern:
        return f"({piece.pattern})" if wanted else f"(?:{piece.pattern})"
    return r"[ \t]+" if piece.text == " " else _SPECIAL.sub(r"\\\g<0>", piece.text)
