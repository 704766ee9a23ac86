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

from mqlab.formats import batch_lines
from mqlab.formats.application_log import COUNTER, COUNTERS
from mqlab.formats.base import Signature
from mqlab.formats.parts import one_of, parts
from mqlab.formats.signatures import FAR, SIGNATURES, SYSTEMS, Found, searched
from mqlab.formats.values import real
from mqlab.tables import ASSIGNMENTS, EVENTS, METRICS, Row

_NEAR = 2000
"""Characters of a line in which it names who and what it is about."""
_COUNTER = re.compile(COUNTER, re.ASCII)
_MEMBER = re.compile(r"(?<![^\s{=])([^\s{=]+)=Assignment\(partitions=\[([^\]]*)\]", re.ASCII)
_PARTITION = re.compile(r"^(.+)-(\d+)$", re.ASCII)
_GROUP = re.compile(r"groupId=([^,\]\s]+)", re.ASCII)
_QUEUE = re.compile(r"MessageQueue \[topic=[^,]*, brokerName=([^,\]]+), queueId=(\d+)\]", re.ASCII)


def rows(line: str, found: Found, *, own: bool) -> list[Row]:
    """What the *line*, without its envelope, says: an event and what follows from it; none where it makes no sense.

    *own* is true for a line that mosquitto wrote into its own file.
    """
    signature, system = SIGNATURES[found.number], SYSTEMS[found.number]
    if signature.kind == batch_lines.KIND:
        poll = batch_lines.poll(line, found.message)
        return [poll] if poll else []
    told = parts(line[:FAR] if own else line[:_NEAR], system, own=own)
    event = EVENTS.row(
        system=system, kind=signature.kind, **told, reason=_reason(line, signature), value=_number(line, signature)
    )
    beside = _BESIDE.get(signature.kind)
    return [event, *(beside(line, told) if beside else ())]


def _number(line: str, signature: Signature) -> float | None:
    """The number that belongs to the event, in the unit of its kind."""
    if signature.counted:
        listed = searched(signature.counted, line)
        return float(sum(1 for entry in (listed[1] or "").split(",") if entry.strip(" "))) if listed else 0.0
    if not signature.value:
        return None
    found = searched(signature.value, line)
    number = real(found[1]) if found else None
    return None if number is None else number * signature.scale + signature.base


def _reason(line: str, signature: Signature) -> str | None:
    if signature.told:
        return signature.told
    return one_of(line, signature.reason) if signature.reason else None


def _assigned(line: str, _: Mapping[str, str | None]) -> Iterator[Row]:
    """One row for each partition of each member."""
    group = _GROUP.search(line)
    for member, held in _MEMBER.findall(line):
        for place in held.split(", "):
            if found := _PARTITION.search(place):
                yield ASSIGNMENTS.row(
                    group=group[1] if group else None, member_id=member, topic=found[1], queue=found[2]
                )


def _allocated(line: str, told: Mapping[str, str | None]) -> Iterator[Row]:
    """One row for each queue, which reads ``broker/number``."""
    for broker, number in _QUEUE.findall(line):
        yield ASSIGNMENTS.row(
            group=told["group"], topic=told["topic"], client_id=told["client_id"], peer=told["peer"],
            queue=f"{broker}/{number}",
        )  # fmt: skip


def _counted(line: str, _: Mapping[str, str | None]) -> Iterator[Row]:
    """One row for each ``name=number`` that an application counts up, named ``app.received`` and the like."""
    for name, number in _COUNTER.findall(line):
        yield METRICS.row(name=f"app.{name}", labels={}, value=real(number))


_BESIDE = {"assignment-made": _assigned, "queues-allocated": _allocated, COUNTERS: _counted, "app-stopping": _counted}
