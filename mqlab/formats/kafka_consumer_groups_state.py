"""``kafka-consumer-groups.sh --describe --state`` and ``--list --state`` → EVENTS of kind ``group-state``.

Sample lines::

    GROUP                     COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE           #MEMBERS
    warehouse-loader          kafka-1:9092  (1)         range                Stable          1

The header's columns do not line up with the rows, and the strategy of an empty group is blank. 3.8 and 3.9 end without
a line break: what is printed next sticks to the last row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Item, Line, Noise
from mqlab.formats.values import real
from mqlab.sources import Reading
from mqlab.tables import EVENTS, Row, Table

FORMAT = "kafka-consumer-groups-state"
TABLES: tuple[Table, ...] = (EVENTS,)
READING = Reading.TABLE

_STATE = (
    r"(?P<state>PreparingRebalance|AwaitingSync|CompletingRebalance|Stable|Empty|Dead|Assigning|Reconciling|NotReady"
    r"|Unknown)"
)
_HEADER = re.compile(
    r"^\s*(?:GROUP\s+)?COORDINATOR \(ID\)\s+.*STATE|^\s*GROUP\s+(?:TYPE\s+)?(?:PROTOCOL\s+)?STATE\s*$", re.ASCII
)
_DESCRIBED = re.compile(
    rf"^\s*(?:(?P<group>\S+)\s+)?(?P<coordinator>\S*:-?\d+)\s+\(-?\d+\)\s+(?:\S+\s+)?{_STATE}"
    r"(?:\s+(?:-|\d+)){0,2}\s+(?P<members>\d+)\s*$",
    re.ASCII,
)
_LISTED = re.compile(
    rf"^\s*(?P<group>\S+)\s+(?:(?:Classic|Consumer|Share|Streams)\s+)?(?:\S+\s+)?{_STATE}\s*$", re.ASCII
)


def recognise(head: Head) -> bool:
    """True for a table of states, or for errors in a file named after it."""
    if any(_HEADER.search(line) for line in console.plain_lines(head)):
        return True
    return "state" in head.name and console.only_errors(head, r"\A\Z", r"group.*state")


def parse(lines: Iterable[Line], about: About) -> Iterator[Item]:
    """One event a group; headers are noise."""
    for one in console.shown(lines, about):
        tidy = console.GLUED.sub("", one.plain)
        if row := _DESCRIBED.search(tidy) or _LISTED.search(tidy):
            yield Data(one.line, (_state(one, row.groupdict()),))
        elif _HEADER.search(one.plain):
            yield Noise(one.line)
        else:
            yield console.remark(one)


def _state(one: console.Shown, cells: dict[str, str | None]) -> Row:
    """Reason is the group's state, value the number of its members, peer its coordinator."""
    return EVENTS.row(
        at=one.at,
        system="kafka",
        kind="group-state",
        group=cells["group"] or one.named,
        peer=cells.get("coordinator"),
        reason=cells["state"],
        value=real(cells.get("members")),
    )
