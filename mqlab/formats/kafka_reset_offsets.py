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

from mqlab.formats import console
from mqlab.formats.base import About, Head, Items, Lines, Spec, regex
from mqlab.formats.values import real
from mqlab.sources import Role
from mqlab.tables import EVENTS, Row

FORMAT = Spec("kafka-reset-offsets", Role.COMMAND, (EVENTS,), "kafka")

_HEADER = regex(r"^\s*(?:GROUP\s+)?TOPIC\s+PARTITION\s+NEW-OFFSET\s*")
_ROW = regex(r"\s*(?:(?P<group>\S+)\s+)?(?P<topic>\S+)\s+(?P<queue>\d{1,9})\s+(?P<offset>\d{1,19})(?=\s|$)\s*")
"""One of the rows of a line."""
_DELETED = regex(
    r"^Request succeed for deleting offsets with topic (?P<topic>\S+?)(?::(?P<queue>\d+))?"
    r" group (?P<group>\S+)\s*$"
)
_STATUS = regex(r"^\s*(?:TOPIC\s+PARTITION\s+STATUS|\S+\s+(?:\d+|Not Provided)\s+(?:Successful|Error: .*))\s*$")


def recognise(head: Head) -> bool:
    """True for a table of new offsets, or for the answer to a request to remove some."""
    return any(_HEADER.search(line) or _DELETED.search(line) for line in console.plain_lines(head))


def parse(lines: Lines, about: About) -> Items:
    """One event a partition; headers and what the tool says of each removal are noise."""
    return console.table(lines, about, _changes, lambda text: _HEADER.search(text) or _STATUS.search(text))


def _changes(one: console.Shown) -> tuple[Row, ...]:
    """Offsets that were set; else those removed, of one partition or of a whole topic."""
    found = [(row, "offsets-set", row["offset"]) for row in _cells(_HEADER.sub("", one.plain))]
    if not found and (removed := _DELETED.search(one.plain)):
        found = [(removed, "offsets-removed", None)]
    return tuple(
        EVENTS.row(
            at=one.at,
            system="kafka",
            kind=kind,
            group=row["group"] or one.named,
            topic=row["topic"],
            queue=row["queue"],
            value=real(offset),
        )
        for row, kind, offset in found
    )


def _cells(bare: str) -> list[re.Match[str]]:
    """The rows of a line that holds nothing else."""
    found, end = [], 0
    while row := _ROW.match(bare, end):
        found.append(row)
        end = row.end()
    return found if end == len(bare) else []
