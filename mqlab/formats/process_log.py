"""What watches a process: supervisors, systemd, container runtimes, and the last words on standard output.

Sample lines::

    2026-11-21T12:21:28Z bridge exited with status 3, restarting in 5 s
    2026-11-21 23:48:08,387 INFO exited: thumbs-3 (exit status 1; not expected)
    Nov 22 00:24:29 app-7 systemd[1]: dedup-1.service: Main process exited, code=exited, status=1/FAILURE
    Terminating due to java.lang.OutOfMemoryError: Java heap space
          Reason:       OOMKilled
    4e32e66984dc   apache/kafka:3.7.0   "/etc/kafka/run"   23 seconds ago   Exited (137) 8 seconds ago   kafka

A process that a signal ended has the signal's number and 128 for a status, as shells tell it.
"""

from __future__ import annotations

import re

from mqlab.formats.base import Head, Signature, Spec
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, VOLUME

FORMAT = Spec("process-log", Role.LOG, (EVENTS, VOLUME), "", Reading.LOG, "os")

_UNIT = r"(?P<reason>[\w.@-]+?)(?:\.service)?"
_ENDED = r"exited(?: with|,)|\(exit status|\(terminated|Main process exited"
_NAME = rf"(?<![\w.@-])(?:(?:exited|stopped): )?(?:[\w.-]+:)?{_UNIT}:? (?:{_ENDED})"
_STATUS = r"(?:status[= ]|code )(?P<value>\d+)"
_BY_SIGNAL = 128.0
"""What shells add to the number of the signal that ended a process."""

SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "process-exit",
        contains=r"Main process exited, code=(?:killed|dumped), status=(?P<value>\d+)",
        also=_NAME,
        base=_BY_SIGNAL,
    ),
    Signature(
        "process-exit",
        begins=r"(?:exited|stopped): (?:[\w.-]+:)?(?P<reason>[\w.@-]+) "
        r"\((?:exit status (?P<value>\d+)|terminated by )",
    ),
    Signature(
        "process-exit",
        contains=r"exited(?: with|,) (?:status|code) \d+|\(exit status \d+|Main process exited|OOMKilled"
        r"|Killed process \d+",
        also=rf"{_NAME}|{_STATUS}",
    ),
    Signature("process-started", begins=r"spawned: '(?:[\w.-]+:)?(?P<reason>[\w.@-]+)"),
    Signature(
        "process-started",
        contains=r"\bstarted (?P<reason>[\w.@-]+) \(|\bspawned: '(?P<reason2>[\w.@-]+)"
        r"|\bStarted (?P<reason3>[\w.@-]+)\.service\b|systemd\[\d+\]: Started (?P<reason4>[\w.@-]+)",
    ),
    Signature("process-given-up", begins=r"gave up: (?:[\w.-]+:)?(?P<reason>[\w.@-]+) entered FATAL state"),
)

_ANY = re.compile("|".join(s.unnamed for s in SIGNATURES) + r"|java\.lang\.OutOfMemoryError")


_OURS = re.compile(
    r"^CONTAINER ID +IMAGE|^ *Name +Command +State|^(?:NAMESPACE +)?NAME +(?:IMAGE +COMMAND|READY +STATUS)\b"
    r"|^\s+(?:Last )?State:\s+(?:Running|Waiting|Terminated)\s*$|^\[[ \d]+\.\d{6}\] .*(?:oom-kill|Out of memory: Kill)",
    re.MULTILINE,
)
"""What Docker and Kubernetes list and describe of containers, and what ``dmesg`` says of a process that was killed."""


def recognise(head: Head) -> bool:
    """True when at least half of the lines tell of a process that started or ended, or a pod is described."""
    if _OURS.search(head.text):
        return True
    lines = [line for line in head.lines if line.strip()]
    return bool(lines) and sum(bool(_ANY.search(line)) for line in lines) * 2 >= len(lines)
