"""What watches a process: supervisors, systemd, container runtimes, and the last words on standard output.

Sample lines::

    2026-11-21T12:21:28Z bridge exited with status 3, restarting in 5 s
    Terminating due to java.lang.OutOfMemoryError: Java heap space
"""

from __future__ import annotations

import re

from mqlab.loaders.base import Head, Signature
from mqlab.sources import Reading
from mqlab.tables import EVENTS, VOLUME, Table

FORMAT = "process-log"
SYSTEM = "os"
TABLES: tuple[Table, ...] = (EVENTS, VOLUME)
READING = Reading.LOG

_NAME = r"(?:INFO )?(?:exited: )?([\w.@-]+)(?:\.service)?:? (?:exited with|\(exit status|Main process exited)"

SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "process-exit",
        contains=r"exited with (?:status|code) \d+|\(exit status \d+|Main process exited|OOMKilled|Killed process \d+",
        words=("exited with ", "exit status ", "Main process exited", "OOMKilled", "Killed process "),
        value=r"(?:status[= ]|code |exit status )(\d+)",
        reason=_NAME,
    ),
    Signature(
        "process-started",
        contains=r"\bstarted [\w.@-]+ \(|\bspawned: '|systemd\[\d+\]: Started ",
        words=("started ", "spawned: '", "Started "),
        reason=r"(?:started |spawned: '|Started )([\w.@-]+)",
    ),
)

_ANY = re.compile("|".join(s.contains for s in SIGNATURES) + r"|java\.lang\.OutOfMemoryError")


def recognise(head: Head) -> bool:
    """True when at least half of the lines tell of a process that started or ended."""
    lines = [line for line in head.lines if line.strip()]
    return bool(lines) and sum(bool(_ANY.search(line)) for line in lines) * 2 >= len(lines)
