"""The way of a topic's messages as a table of the screen, that leaves out what tells least where there is no room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mqlab.delivery.path import PathRow, telling, total
from mqlab.delivery.words import NOT_TOLD, count
from mqlab.screens.rows import LABEL, ROOM, line, safe
from mqlab.units import counted, number

_ALWAYS = ("partition", "sent", "acknowledged", "stored")
_READ = ("handled", "committed at")
_LESS_TELLING = ("of them stored", "unanswered", "log", "failed")
"""What goes first where numbers are too long for the screen."""
_MOST_ROWS = 24


def path_rows(rows: Sequence[PathRow], group: str | None) -> Iterator[str]:
    """The table: a row for each partition, and one for all of them."""
    told = f"to group {group}" if group else "to the log; no group that reads it is told of"
    yield line("PATH", told)
    shown = telling(rows, _MOST_ROWS)
    cells = [_cells(one) for one in shown]
    cells += [_cells(total(rows))] if len(rows) > 1 else []
    widths = {
        name: max(len(name), *(len(one[name]) for one in cells)) for name in cells[0] if _shown(name, group, cells)
    }
    names = _fitting(widths)
    for one in ({name: name for name in names}, *cells):
        texts = (f"{one[n]:<{widths[n]}}" if n == "partition" else f"{one[n]:>{widths[n]}}" for n in names)
        yield " " * LABEL + "  ".join(texts)
    if len(shown) < len(rows):
        yield line(
            "", f"{counted(len(rows) - len(shown), 'more partition')} in the sum (mqlab audit --format json lists them)"
        )


def _fitting(widths: Mapping[str, int]) -> list[str]:
    """The columns that there is room for."""
    names = list(widths)
    for less in _LESS_TELLING:
        if sum(widths[name] + 2 for name in names) - 2 <= ROOM:
            break
        names = [name for name in names if name != less]
    return names


def _cells(one: PathRow) -> dict[str, str]:
    def cell(name: str, value: int | None) -> str:
        return f"≥ {number(value)}" if value is not None and name in one.partly else count(value)

    whole = one.queue is None
    return {
        "partition": "all" if whole else safe(one.queue) or "not told",
        "sent": cell("sent", one.sent),
        "acknowledged": cell("acked", one.acked),
        "failed": cell("failed", one.failed),
        "of them stored": cell("failed_stored", one.failed_stored),
        "unanswered": cell("unanswered", one.unanswered),
        "stored": cell("stored", one.stored),
        "handled": cell("handled", one.handled),
        "committed at": "" if whole else count(one.committed),
        "log": "" if whole or one.start is None is one.end else f"{count(one.start)} to {count(one.end)}",
        "lost": f"{one.bound} {number(one.lost)}".strip(),
        "pending": cell("pending", one.pending),
        "doubled": number(one.doubled),
        "unknown": number(one.unknown),
    }


def _shown(name: str, group: str | None, cells: Sequence[dict[str, str]]) -> bool:
    """Columns of the path always, others where they say something."""
    if name in (*_ALWAYS, "lost", "doubled"):
        return True
    if name in (*_READ, "pending"):
        return group is not None
    return any(one[name] not in ("", "0", NOT_TOLD) for one in cells)
