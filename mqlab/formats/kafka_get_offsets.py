"""``kafka-get-offsets.sh`` and GetOffsetShell → POSITIONS without a group.

Sample lines::

    plant-telemetry:0:371
    Error: partition 0 does not have a leader. Skip getting offsets

Nothing in a line says which moment was asked for: ``--time`` in a command line above does, else the file's name;
without either the offset is the end (the high watermark).
"""

from __future__ import annotations

import re

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Spec, regex
from mqlab.formats.values import whole
from mqlab.sources import Role
from mqlab.tables import POSITIONS

FORMAT = Spec("kafka-get-offsets", Role.COMMAND, (POSITIONS,), "kafka")

_ROW = regex(r"^(?=[^:]*[A-Za-z_])(?P<topic>[A-Za-z0-9._-]+):(?P<queue>\d+):(?P<offsets>(?:\d+(?:,\d+)*|-1)?)\s*$")
_TIME = regex(r"(?:GetOffsetShell|get-offsets\S*)\s.*--time[ =](?P<asked>\S+)")
_EARLIEST = re.compile(r"(?i)earliest|oldest|log-?start|beginning")
_SAID = r"Skip getting offsets|GetOffsetShell|partitions? \S+ does not have a leader"


def recognise(head: Head) -> bool:
    """True when every line that is no remark is ``topic:partition:offset``."""
    lines = console.plain_lines(head)
    rows = sum(1 for line in lines if _ROW.search(line))
    if not rows:
        return console.only_errors(head, _SAID, r"get-?offset")
    others = sum(1 for line in lines if not _ROW.search(line) and not console.is_remark(line))
    return rows >= 9 * others


def parse(lines: Lines, about: About) -> Items:
    """One position a line; of ``100,50,0`` (``--offsets 3``) the first is the latest."""
    asked = "earliest" if _EARLIEST.search(about.name) else "latest"
    for one in console.shown(lines, about):
        if command := _TIME.search(one.plain):
            asked = command["asked"]
        row = _ROW.search(one.plain)
        if not row:
            yield console.remark(one)
            continue
        offset = whole(row["offsets"].split(",")[0])
        offset = None if offset == -1 else offset
        end = offset if asked in ("-1", "latest") else None
        start = offset if asked in ("-2", "earliest") else None
        yield Data(one.line, (POSITIONS.row(at=one.at, topic=row["topic"], queue=row["queue"], end=end, start=start),))
