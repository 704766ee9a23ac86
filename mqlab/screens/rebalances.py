"""The rebalances of a group as a table: when, what began each, what is behind it, and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo

from mqlab.rebalances.rows import Rebalance
from mqlab.rebalances.standstill import standstills
from mqlab.screens.rows import LABEL, clipped, safe
from mqlab.units import counted, duration, number

_HEAD = ("at", "gen", "trigger", "behind it", "client", "members", "moved", "still", "delayed", "repeated")
_WIDE = 28
"""Characters of a client's name."""
_LEFT = frozenset({"at", "trigger", "behind it", "client"})


def rebalances_screen(histories: Sequence[tuple[str, Sequence[Rebalance]]], tz: tzinfo = UTC) -> str:
    """Every group with its rebalances; an asterisk marks what is concluded and not told by the line itself."""
    lines = [line for group, rows in histories for line in _group(group, rows, tz)]
    return "\n".join(line.rstrip() for line in lines or ["No Kafka group is told of in the material."]) + "\n"


def _group(group: str, rows: Sequence[Rebalance], tz: tzinfo) -> Iterator[str]:
    still = sum(end - since for since, end in standstills(rows))
    counts = ", ".join(f"{count} {what}" for what, count in sorted(Counter(r.behind for r in rows).items()))
    told = counted(len(rows), "rebalance") + (f", {duration(still)} of standstill" if still else "")
    yield f"{'GROUP':<{LABEL}}{safe(group)}: {told}{f'; behind them: {counts}' if counts else ''}"
    cells = [_HEAD, *(_cells(row, tz) for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(_HEAD))]
    for row in cells if rows else ():
        parts = [
            f"{cell:<{width}}" if name in _LEFT else f"{cell:>{width}}"
            for name, cell, width in zip(_HEAD, row, widths, strict=True)
        ]
        yield " " * LABEL + "  ".join(parts)


def _cells(row: Rebalance, tz: tzinfo) -> tuple[str, ...]:
    return (
        f"{datetime.fromtimestamp(row.started, tz):%H:%M:%S}",
        _count(row.generation),
        f"{row.trigger}{'*' if row.inferred else ''}",
        str(row.behind),
        clipped(safe(row.client_id), _WIDE) or "-",
        f"{_count(row.members_before)} -> {_count(row.members_after)}",
        _count(row.moved),
        "-" if row.standstill is None else duration(row.standstill),
        _count(row.delayed),
        _count(row.repeated),
    )


def _count(value: int | None) -> str:
    return "-" if value is None else number(value)
