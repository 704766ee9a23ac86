"""What the audit says, in the words that screen, tables and figures share: intervals, places, offsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import groupby

from mqlab.delivery.path import by_number
from mqlab.delivery.rows import Audit, Doubled, Loss, Side
from mqlab.delivery_risks.rows import Risk
from mqlab.units import counted, duration, number

NOT_TOLD = "–"
UNEXPLAINED = "mechanism not told"
_FROM = {Side.PRODUCER: "at the producer", Side.LOG: "in the log", Side.GROUP: "by group"}


@dataclass(frozen=True, slots=True)
class Toll:
    """What one mechanism lost or doubled at one place, in all partitions."""

    incident: str
    where: str
    records: int
    """Messages lost; copies too many."""
    least: int
    most: int
    since: float | None
    until: float | None
    parts: tuple[Loss | Doubled, ...]
    """By partition and offset."""


def count(value: int | None) -> str:
    """A number, or a dash where the material does not say."""
    return NOT_TOLD if value is None else number(value)


def bounded(records: int, least: int, most: int) -> str:
    """``1,562`` where it was counted, else with the interval: ``≥ 1,200 (≤ 1,300)``, ``about 5 (≥ 3, ≤ 9)``."""
    if least == records == most:
        return number(records)
    if records == least:
        return f"≥ {number(records)} (≤ {number(most)})"
    if records == most:
        return f"≤ {number(records)} (≥ {number(least)})"
    return f"about {number(records)} (≥ {number(least)}, ≤ {number(most)})"


def losses(audit: Audit) -> tuple[Toll, ...]:
    """What log and groups lost, by mechanism and place, the most first."""
    return _tolls([(one, one.records) for one in audit.losses if one.side is not Side.PRODUCER])


def refused(audit: Audit) -> tuple[Toll, ...]:
    """What the producers were told of as failed, by mechanism: nobody acknowledged it, so that no log lost it."""
    return _tolls([(one, one.records) for one in audit.losses if one.side is Side.PRODUCER])


def doubles(audit: Audit) -> tuple[Toll, ...]:
    """What was doubled by mechanism and place, the most first."""
    return _tolls([(one, one.extra) for one in audit.doubled])


def at_stake(risk: Risk) -> str:
    """``about 529 records (≤ 1,558)``, ``up to 417 records``; empty where nothing bounds it."""
    if risk.records is not None:
        bound = f" (≤ {number(risk.high)})" if risk.high not in (None, risk.records) else ""
        return f"about {counted(risk.records, 'record')}{bound}"
    if risk.high is None:
        return f"{counted(risk.low, 'record')} or more" if risk.low else ""
    return (
        f"{number(risk.low)} to {counted(risk.high, 'record')}" if risk.low else f"up to {counted(risk.high, 'record')}"
    )


def due(risk: Risk) -> str:
    """``in 3.20 h if all goes on as it did``; empty where that is not known."""
    return "" if risk.due_seconds is None else f"in {duration(risk.due_seconds)} if all goes on as it did"


def partition(queue: str) -> str:
    """``partition 0``; messages of which nothing tells the partition are named so."""
    return f"partition {queue}" if queue else "partition not told"


def offsets(one: Loss | Doubled) -> str:
    """``at offsets 1,032 to 2,593``; empty where none is known."""
    if isinstance(one, Doubled) or one.first_offset is None:
        return ""
    if one.last_offset in (None, one.first_offset):
        return f"at offset {number(one.first_offset)}"
    return f"at offsets {number(one.first_offset)} to {number(one.last_offset or 0)}"


def between(since: float | None, until: float | None, tz: tzinfo = UTC) -> str:
    """``12:04:32 to 12:04:38``; empty where no moment is known."""
    times = [f"{datetime.fromtimestamp(at, tz):%H:%M:%S}" for at in (since, until) if at is not None]
    return " to ".join(dict.fromkeys(times))


def _tolls(rows: Sequence[tuple[Loss | Doubled, int]]) -> tuple[Toll, ...]:
    ordered = sorted(rows, key=lambda row: (_mechanism(row[0]), *_in_partition(row[0])))
    tolls = [_toll(list(own)) for _, own in groupby(ordered, key=lambda row: _mechanism(row[0]))]
    return tuple(sorted(tolls, key=lambda toll: (-toll.records, toll.incident, toll.where)))


def _toll(rows: Sequence[tuple[Loss | Doubled, int]]) -> Toll:
    parts = tuple(one for one, _ in rows)
    first = parts[0]
    return Toll(
        first.incident or UNEXPLAINED,
        f"{_FROM[first.side]} {first.group}" if first.side is Side.GROUP else _FROM[first.side],
        sum(records for _, records in rows),
        sum(one.least for one in parts),
        sum(one.most for one in parts),
        min((one.since for one in parts if one.since is not None), default=None),
        max((one.until for one in parts if one.until is not None), default=None),
        parts,
    )


def _mechanism(one: Loss | Doubled) -> tuple[str, str, str]:
    return (one.incident or "", one.side, one.group or "")


def _in_partition(one: Loss | Doubled) -> tuple[tuple[bool, int, str], int, float]:
    first = one.first_offset if isinstance(one, Loss) else None
    return (by_number(one.queue), first or 0, one.since or 0.0)
