"""Any other log with a moment in its lines: counted by minute, level and shape; counters that it prints are read.

Sample lines::

    2026-11-21 12:18:54,559 INFO  [stats] Bridge - stats received=300 receivedBytes=1812937 delivered=300 failed=0
    2026/11/21 11:40:34.483970 progress received=200
"""

from __future__ import annotations

import re

from mqlab.formats import application_lines, batch_lines, kafka_layout, layouts
from mqlab.formats.base import Head, Signature, Spec
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, METRICS, VOLUME

FORMAT = Spec(
    "application-log", Role.APPLICATION_LOG, (EVENTS, VOLUME, METRICS), "", Reading.LOG, "kafka", kafka_layout.LAYOUT
)

_VERBS = (
    *("received", "delivered", "consumed", "processed", "forwarded", "sent", "acked", "published", "acknowledged"),
    *("failed", "errors", "resubmitted", "retried", "dropped"),
)
_COUNTED = (
    rf"(?:{'|'.join(_VERBS)})"
    r"(?:_?(?:[Bb]ytes|[Pp]ayload\w*|[Tt]otal|[Cc]ount|[Rr]ecords|[Mm]essages))?"
)
_RARE = rf"(?:{'|'.join(_VERBS)})(?:=|_?(?:[Bb]ytes|[Pp]ayload|[Tt]otal|[Cc]ount|[Rr]ecords|[Mm]essages))"
"""How a counter's name goes on: its verb alone stands in many lines."""
_SUMS = ("progress", "finished", "shutting down,")
"""Words behind which a single counter is one, too, whatever system the application works for."""
COUNTERS = "app-counters"
COUNTER = rf"\b({_COUNTED})=(\d+)(?![\d.\w/])"
"""One ``name=number`` that an application counts up."""

SIGNATURES: tuple[Signature, ...] = (
    Signature(COUNTERS, begins=rf"(?:{'|'.join(_SUMS)}) {_COUNTED}=\d+", rare=_RARE, system="os"),
    Signature(COUNTERS, begins=rf"(?:[\w-]+:? )?{_COUNTED}=\d+,? \w+=\d+", rare=_RARE),
    *batch_lines.SIGNATURES,
    *application_lines.SIGNATURES,
)

_DATED = re.compile(
    r"^\W{0,2}(?:<\d+>)?(?:\[[A-Z]+\]\s+)?"
    r"(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\d{2}:\d{2}:\d{2}[.,]\d{3} |\d{10}: )"
)


_CONTINUED = re.compile(r"\s|Caused by|\.\.\. \d+ more|[\w.$]+(?:Exception|Error)\b")


def recognise(head: Head) -> bool:
    """True when at least a tenth of the lines begin with a moment, those of stack traces not counted."""
    lines = [line for line in head.lines if line.strip() and not _CONTINUED.match(line)]
    return bool(lines) and sum(map(_is_dated, lines)) * 10 >= len(lines)


def _is_dated(line: str) -> bool:
    return _DATED.match(line) is not None or layouts.other_moment(line[:80]) is not None
