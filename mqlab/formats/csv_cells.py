"""Cells of a line of CSV, which never fail: what formats of columns share."""

from __future__ import annotations

import csv

from mqlab.formats.values import epoch, instant


def cells(line: str, separator: str = ",") -> list[str]:
    """What stands between the separators, without quotes; nothing of a line that no CSV writer wrote."""
    try:
        return next(csv.reader((line,), delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        return []


def moment(cell: str) -> int | None:
    """Microseconds of epoch seconds, epoch milliseconds or a date with a clock."""
    number = epoch(cell)
    return instant(cell) if number is None else number
