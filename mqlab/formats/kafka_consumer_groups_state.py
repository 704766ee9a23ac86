"""``kafka-consumer-groups.sh --describe --state`` and ``--list --state`` → EVENTS of kind ``group-state``.

Sample lines::

    GROUP                     COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE           #MEMBERS
    warehouse-loader          kafka-1:9092  (1)         range                Stable          1

The header's columns do not line up with the rows, and the strategy of an empty group is blank. 3.8 and 3.9 end without
a line break: what is printed next sticks to the last row.
"""

from __future__ import annotations

from mqlab.formats import console
from mqlab.formats.base import About, Head, Items, Lines, Spec, regex
from mqlab.formats.values import real
from mqlab.sources import Role
from mqlab.tables import EVENTS, Row

FORMAT = Spec("kafka-consumer-groups-state", Role.COMMAND, (EVENTS,), "kafka")

_STATE = (
    r"(?P<state>PreparingRebalance|AwaitingSync|CompletingRebalance|Stable|Empty|Dead|Assigning|Reconciling|NotReady"
    r"|Unknown)"
)
_HEADER = regex(r"^\s*(?:GROUP\s+)?COORDINATOR \(ID\)\s+.*STATE|^\s*GROUP\s+(?:TYPE\s+)?(?:PROTOCOL\s+)?STATE\s*$")
_DESCRIBED = regex(
    rf"^\s*(?:(?P<group>\S+)\s+)?(?P<coordinator>\S*:-?\d+)\s+\(-?\d+\)\s+(?:\S+\s+)?{_STATE}"
    r"(?:\s+(?:-|\d+)){0,2}\s+(?P<members>\d+)\s*$"
)
_LISTED = regex(rf"^\s*(?P<group>\S+)\s+(?:(?:Classic|Consumer|Share|Streams)\s+)?(?:\S+\s+)?{_STATE}\s*$")


def recognise(head: Head) -> bool:
    """True for a table of states, or for errors in a file named after it."""
    if any(_HEADER.search(line) for line in console.plain_lines(head)):
        return True
    return "state" in head.name and console.only_errors(head, r"\A\Z", r"group.*state")


def parse(lines: Lines, about: About) -> Items:
    """One event a group; headers are noise."""
    return console.table(lines, about, _states, _HEADER.search)


def _states(one: console.Shown) -> tuple[Row, ...]:
    """Reason is the group's state, value the number of its members, peer its coordinator."""
    tidy = console.GLUED.sub("", one.plain)
    row = _DESCRIBED.search(tidy) or _LISTED.search(tidy)
    if row is None:
        return ()
    cells = row.groupdict()
    group, coordinator = cells["group"] or one.named, cells.get("coordinator")
    members = real(cells.get("members"))
    event = EVENTS.row(
        at=one.at, system="kafka", kind="group-state", group=group, peer=coordinator, reason=cells["state"],
        value=members,
    )  # fmt: skip
    return (event,)
