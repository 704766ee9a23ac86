"""Logs of the relay, which forwards payments from its outbox to Kafka.

Sample lines::

    2026-11-22 10:00:03,120 WARN  relay-2 Outbox holds 5120 payments, the oldest waits for 310 s
    2026-11-22 10:09:03,120 INFO  relay-2 Outbox is empty
"""

from mqlab.formats.base import Head, Signature, Spec
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, VOLUME

FORMAT = Spec(
    "relay-log", Role.APPLICATION_LOG, (EVENTS, VOLUME), "relay", Reading.LOG, "app", r" (?P<node>relay-\d+) "
)
SIGNATURES = (
    Signature(
        "outbox-holds",
        begins=r"Outbox holds (?P<value>\d+) payments, the oldest waits for (?P<reason>\d+ s)",
    ),
    Signature("outbox-empty", begins=r"Outbox is empty"),
)


def recognise(head: Head) -> bool:
    """True where a line is of the relay's outbox or of what it forwarded."""
    return any(" relay-" in line and (" Outbox " in line or " Forwarded " in line) for line in head.lines)
