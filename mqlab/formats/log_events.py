"""A line that a signature selects → EVENTS, and what such a line says beside: assignments, counters, polls.

Sample lines of the latter::

    … [Consumer clientId=c-1, groupId=g] Finished assignment for group at generation 5:
    {c-1-…=Assignment(partitions=[orders-0, orders-1]), c-2-…=Assignment(partitions=[orders-2])}
    … rebalanced result changed. allocateMessageQueueStrategyName=AVG, group=billing, topic=ORDERS,
    clientId=10.0.4.17@9, mqAllSize=8, cidAllSize=2, rebalanceResultSize=4, rebalanceResultSet=[MessageQueue
    [topic=ORDERS, brokerName=broker-a, queueId=3], MessageQueue [topic=ORDERS, brokerName=broker-a, queueId=1], …]
    … stats received=300 receivedBytes=1812937 delivered=300 failed=0

Only the leader of a Kafka group writes the first (2.5 on); a member that got nothing gives no row, its client is not
named. RocketMQ's clients write the second when their set of queues has changed, so it holds until the next one for
this topic; a set that is empty, and the mere count that 3.x prints, give no row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mqlab.formats.application_log import BATCH, COUNTER, COUNTERS, poll
from mqlab.formats.base import regex
from mqlab.formats.printed_settings import in_one_line
from mqlab.formats.signatures import ORIGINS, SIGNATURES, Found, compiled
from mqlab.formats.values import real
from mqlab.tables import ASSIGNMENTS, EVENTS, METRICS, Row

_NEAR = 2000
"""Characters of a line in which it names who and what it is about."""
_COUNTER = regex(COUNTER)
_MEMBER = regex(r"(?<![^\s{=])([^\s{=]+)=Assignment\(partitions=\[([^\]]*)\]")
_PARTITION = regex(r"^(.+)-(\d+)$")
_CONVERTED = ("value", "entries", "broker", "dotted")
"""Groups that are no columns as they stand."""
_DOTS = str.maketrans("./*", "/.+")
"""A topic as AMQP writes it, and as MQTT does."""
_QUEUE = regex(r"MessageQueue \[topic=[^,]*, brokerName=([^,\]]+), queueId=(\d+)\]")


def rows(line: str, found: Found) -> list[Row]:
    """What the *line*, without its envelope, says: an event and what follows from it; none where it makes no sense."""
    signature, told = SIGNATURES[found.number], _told(line, found)
    if signature.kind == BATCH:
        batch = poll(line[found.start :], told)
        return [batch] if batch else []
    system = signature.system or ORIGINS[found.number].system
    beside = _BESIDE.get(signature.kind)
    return [EVENTS.row(system=system, kind=signature.kind, **told), *(beside(line, told) if beside else ())]


def _told(line: str, found: Found) -> dict[str, Any]:
    """What a line says by column of EVENTS."""
    signature, said = SIGNATURES[found.number], _said(line, found)
    told: dict[str, Any] = {column: text or None for column, text in said.items() if column not in _CONVERTED}
    if signature.told and not told.get("reason"):
        told["reason"] = signature.told
    if broker := said.get("broker"):
        told["queue"] = f"{broker}/{said['queue']}"
    if dotted := said.get("dotted"):
        told["topic"] = dotted.translate(_DOTS)
    if "entries" in said:
        told["value"] = float(sum(1 for entry in said["entries"].split(",") if entry.strip(" ")))
    elif (number := real(said.get("value"))) is not None:
        told["value"] = number * signature.scale + signature.base
    return told


def _said(line: str, found: Found) -> dict[str, str]:
    """What the groups hold: the signature's, or else those of its format's layout."""
    said: dict[str, str] = {}
    for match in _finds(line, found):
        for name, text in match.groupdict().items():
            column = name.rstrip("0123456789")
            if text is not None and not said.get(column):
                said[column] = text.strip(" ")
    return said


def _finds(line: str, found: Found) -> Iterator[re.Match[str]]:
    """All that counts, in the order in which it does."""
    signature, layout = SIGNATURES[found.number], ORIGINS[found.number].layout
    if selecting := compiled(signature.begins or signature.contains).match(line, found.start):
        yield selecting
    if signature.also:
        yield from compiled(signature.also).finditer(line)
    if layout:
        yield from compiled(layout).finditer(line[: found.start if signature.begins else _NEAR])


def _assigned(line: str, told: Mapping[str, Any]) -> Iterator[Row]:
    """One row for each partition of each member."""
    for member, held in _MEMBER.findall(line):
        for place in held.split(", "):
            if found := _PARTITION.search(place):
                yield ASSIGNMENTS.row(group=told.get("group"), member_id=member, topic=found[1], queue=found[2])


def _allocated(line: str, told: Mapping[str, Any]) -> Iterator[Row]:
    """One row for each queue, which reads ``broker/number``."""
    for broker, number in _QUEUE.findall(line):
        yield ASSIGNMENTS.row(
            **{column: told.get(column) for column in ("group", "topic", "client_id")}, queue=f"{broker}/{number}"
        )


def _counted(line: str, _: Mapping[str, Any]) -> Iterator[Row]:
    """One row for each ``name=number`` that an application counts up, named ``app.received`` and the like."""
    for name, number in _COUNTER.findall(line):
        yield METRICS.row(name=f"app.{name}", labels={}, value=real(number))


def _set(line: str, _: Mapping[str, Any]) -> Iterator[Row]:
    """One row for each setting that an application prints as it starts."""
    return in_one_line(line)


_BESIDE = {
    "assignment-made": _assigned,
    "queues-allocated": _allocated,
    COUNTERS: _counted,
    "app-started": _set,
    "app-stopping": _counted,
}
