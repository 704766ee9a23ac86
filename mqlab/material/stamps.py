"""Moments in the names of files: a snapshot says when it was taken, where its content does not.

``groups.20261121T121918Z.txt``, ``2026-11-21T12-19-18Z``, ``20261121-121918`` and ``1795263520.json`` are moments.
A date alone or the suffix of a rolled log, ``server.log.2026-11-21-11``, is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

_DAY = r"(?P<year>(?:19|20)\d\d)-?(?P<month>\d\d)-?(?P<day>\d\d)"
_CLOCK = r"(?P<hour>\d\d)[-:_.]?(?P<minute>\d\d)[-:_.]?(?P<second>\d\d)(?:[.,](?P<fraction>\d{3,9})(?=Z))?"
_ZONE = r"(?P<zone>Z|\+\d\d:?\d\d|-\d\d:\d\d)"
_CALENDAR = (
    re.compile(rf"(?<!\d){_DAY}[T_-]?{_CLOCK}{_ZONE}?(?![\da-zA-Z])"),
    re.compile(rf"(?<!\d){_DAY}T(?P<hour>\d\d)[-:_]?(?P<minute>\d\d){_ZONE}(?![\da-zA-Z])"),
)
# A RocketMQ client id ends in "#" and a nanosecond counter of 13 digits: no moment.
_EPOCH = re.compile(r"(?<![\w#@])(?<!\d\.)(?P<seconds>1[2-9]\d{8}|20\d{8})(?P<millis>\d{3})?(?![\w#@])")


@dataclass(frozen=True, slots=True)
class Stamp:
    """A moment in epoch seconds; ``zoned`` is False where UTC was assumed."""

    at: float
    zoned: bool


def moment_in(name: str) -> Stamp | None:
    """The last moment that a file name holds, a calendar's before a counter's; None without one."""
    stamps = [stamp for pattern in _CALENDAR for match in pattern.finditer(name) if (stamp := _calendar(match))]
    if stamps:
        return stamps[-1]
    counters = list(_EPOCH.finditer(name.replace("_", "-")))
    return _epoch(counters[-1]) if counters else None


def _calendar(match: re.Match[str]) -> Stamp | None:
    found = {"second": "00", "fraction": None} | match.groupdict()
    day, clock = "{year}-{month}-{day}", "{hour}:{minute}:{second}"
    text = f"{day}T{clock}".format_map(found) + (found["zone"] or "Z")
    try:
        return Stamp(
            datetime.fromisoformat(text).timestamp() + float(f"0.{found['fraction'] or 0}"), bool(found["zone"])
        )
    except ValueError:
        return None


def _epoch(match: re.Match[str]) -> Stamp:
    return Stamp(int(match["seconds"]) + int(match["millis"] or 0) / 1000, zoned=True)
