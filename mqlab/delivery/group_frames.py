"""Tables of the groups that read an audited topic: where they stood, and which offsets they passed over unread."""

from __future__ import annotations

import pandas as pd

from mqlab.delivery.path import by_number
from mqlab.delivery.rows import GroupRow
from mqlab.delivery.view import AuditView
from mqlab.delivery.words import NOT_TOLD, count
from mqlab.delivery_groups import offsets
from mqlab.delivery_groups import skips as group_skips
from mqlab.delivery_groups.offsets import Mark
from mqlab.facts import Facts
from mqlab.frames import where
from mqlab.rocketmq.group_frames import table
from mqlab.units import clock, number

_POSITIONS = (
    "group", "partition", "first position", "last position", "log start", "log end", "handled", "pending", "lost",
    "doubled", "unknown",
)  # fmt: skip
_SKIPS = ("group", "partition", "UTC", "from", "up to", "offsets", "why", "for example")


def positions(facts: Facts, view: AuditView) -> pd.DataFrame:
    """One row per group and partition: its position as first and last seen, the log around it, what it handled."""
    return table([_position(facts, row) for row in _rows(view)], _POSITIONS)


def skips(facts: Facts, view: AuditView) -> pd.DataFrame:
    """One row per range of offsets that a group passed over without reading it, and why."""
    rows = [
        {
            "group": row.group,
            "partition": row.queue,
            "UTC": clock(one.at),
            "from": number(one.low),
            "up to": number(one.high - 1),
            "offsets": number(one.high - one.low),
            "why": f"{one.why}{', it has not come back' if one.ongoing else ''}",
            "for example": where(one.places[0]) if one.places else NOT_TOLD,
        }
        for row in _rows(view)
        for one in group_skips.skips(facts, row.group, row.topic, row.queue)
    ]
    return table(rows, _SKIPS)


def _rows(view: AuditView) -> list[GroupRow]:
    groups = view.audit.groups if view.audit else ()
    return sorted(groups, key=lambda row: (row.group, by_number(row.queue)))


def _position(facts: Facts, row: GroupRow) -> dict[str, object]:
    known = offsets.offsets(facts, row.group, row.topic, row.queue)
    return {
        "group": row.group,
        "partition": row.queue,
        "first position": _mark(known.committed[0] if known.committed else None),
        "last position": _mark(known.last),
        "log start": _mark(known.start),
        "log end": _mark(known.end),
        "handled": count(row.handled),
        "pending": count(row.pending),
        "lost": number(row.lost),
        "doubled": number(row.doubled),
        "unknown": number(row.unknown),
    }


def _mark(mark: Mark | None) -> str:
    """``5,035 at 12:07:10``."""
    return NOT_TOLD if mark is None else f"{number(mark.offset)} at {clock(mark.at)}"
