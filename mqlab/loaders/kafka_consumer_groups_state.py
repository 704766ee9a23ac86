"""``kafka-consumer-groups.sh --describe --state`` and ``--list --state`` → EVENTS of kind ``group-state``.

Sample lines::

    GROUP                     COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE           #MEMBERS
    warehouse-loader          kafka-1:9092  (1)         range                Stable          1

The header's columns do not line up with the rows, and the strategy of an empty group is blank. 3.8 and 3.9 end without
a line break: what is printed next sticks to the last row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches, replaced
from mqlab.tables import EVENTS, Table

FORMAT = "kafka-consumer-groups-state"
TABLES: tuple[Table, ...] = (EVENTS,)
READING = Reading.TABLE

_STATE = (
    r"(PreparingRebalance|AwaitingSync|CompletingRebalance|Stable|Empty|Dead|Assigning|Reconciling|NotReady|Unknown)"
)
_DESCRIBED = r"^\s*(?:GROUP\s+)?COORDINATOR \(ID\)\s+.*STATE"
_LISTED = r"^\s*GROUP\s+(?:TYPE\s+)?(?:PROTOCOL\s+)?STATE\s*$"
_MEMBERS = rf"^\s*(?:(\S+)\s+)?(\S*:-?\d+)\s+\((-?\d+)\)\s+(?:\S+\s+)?{_STATE}(?:\s+(?:-|\d+)){{0,2}}\s+(\d+)\s*$"
_LIST_ROW = rf"^\s*(\S+)\s+(?:(?:Classic|Consumer|Share|Streams)\s+)?(?:\S+\s+)?{_STATE}\s*$"


def recognise(head: Head) -> bool:
    """True for a table of states, or for errors in a file named after it."""
    if any(re.search(f"{_DESCRIBED}|{_LISTED}", line) for line in console.plain_lines(head)):
        return True
    return "state" in head.name and console.only_errors(head, r"\A\Z", r"group.*state")


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One event a group: reason is its state, value the number of members, peer the coordinator."""
    tidy = rows.selectExpr("* EXCEPT (plain)", f"{_tidy('plain')} AS plain")
    described = matches("plain", _MEMBERS)
    owner = f"CASE WHEN {described} THEN {_cell(_MEMBERS, 1)} ELSE {_cell(_LIST_ROW, 1)} END"
    columns = {
        "at": "at",
        "system": "'kafka'",
        "kind": "'group-state'",
        "group": f"coalesce({owner}, named)",
        "peer": _cell(_MEMBERS, 2),
        "reason": f"coalesce({_cell(_MEMBERS, 4)}, {_cell(_LIST_ROW, 2)})",
        "value": f"try_cast({_cell(_MEMBERS, 5)} AS DOUBLE)",
    }
    return {EVENTS: EVENTS.rows(tidy.where(matches("plain", f"{_MEMBERS}|{_LIST_ROW}")), columns)}


def line_class(text: str) -> str:
    """States are data, headers noise."""
    line = console.plain(text)
    return f"""CASE
        WHEN {matches(_tidy(line), f"{_MEMBERS}|{_LIST_ROW}")} THEN 'data'
        WHEN {matches(line, f"{_DESCRIBED}|{_LISTED}")} THEN 'noise'
        ELSE {console.remark_class(line)} END"""


def _tidy(line: str) -> str:
    return replaced(line, console.GLUED)


def _cell(pattern: str, part: int) -> str:
    return filled(group("plain", pattern, part))
