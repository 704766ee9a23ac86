"""Who holds a group's queues and how fast its processes work, from Facts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from mqlab.facts import Facts, Position, Setting
from mqlab.kafka.groups import groups
from mqlab.rows.groups import Assignment

Key = tuple[str, str]
"""(topic, queue)"""

_THREADS = ("PROP_THREADPOOL_CORE_SIZE", "consumeThreadMin")
_RETRY = "%RETRY%"


@dataclass(frozen=True, slots=True)
class Speed:
    """What the material says of a group's processes; None where it says nothing."""

    threads: int | None
    response_seconds: float | None
    """What the listener took for one message, by the clients' own statistics."""
    orderly: bool
    batch_messages: int | None


def owners(facts: Facts, group: str, until: float) -> Mapping[Key, str]:
    """The client id that holds each queue then: by what each source and each client said last, the latest first.

    Positions of a Kafka group tell it too, for ``kafka-consumer-groups --describe`` names the owner.
    """
    described = facts.positions if group in groups(facts) else ()
    rows: tuple[Assignment | Position, ...] = (*facts.assignments, *described)
    told = [a for a in rows if a.group == group and a.client_id and (a.at or 0.0) <= until]
    by_source: dict[tuple[str, str], float] = defaultdict(float)
    by_client: dict[tuple[str, str], float] = defaultdict(float)
    for one in told:
        at = one.at or 0.0
        by_source[one.source, one.topic] = max(at, by_source[one.source, one.topic])
        by_client[one.client_id or "", one.topic] = max(at, by_client[one.client_id or "", one.topic])

    def holds(one: Assignment | Position) -> bool:
        last = (by_source[one.source, one.topic], by_client[one.client_id or "", one.topic])
        return (one.at or 0.0) >= max(last)

    current = sorted((a for a in told if holds(a)), key=lambda a: (a.at or 0.0, a.client_id or ""))
    return {(one.topic, one.queue): one.client_id or "" for one in current}


def dealt(keys: Sequence[Key], instances: int) -> Mapping[Key, str]:
    """Queues in blocks, as AllocateMessageQueueAveragely deals those of a topic among ids without duplicates."""
    by_topic: dict[str, list[Key]] = defaultdict(list)
    for key in sorted(keys, key=_order):
        by_topic[key[0]].append(key)
    held: dict[Key, str] = {}
    for queues in by_topic.values():
        each, rest = divmod(len(queues), instances)
        start = 0
        for number in range(instances):
            size = each + (number < rest)
            held |= dict.fromkeys(queues[start : start + size], f"instance {number + 1}")
            start += size
    return held


def members(facts: Facts, group: str) -> int:
    """Processes of the group in its last listing; 0 where there is none."""
    listed = [c for c in facts.clients if c.group == group and c.at is not None and c.peer]
    last = max((c.at or 0.0 for c in listed), default=0.0)
    return len({(c.client_id, c.peer) for c in listed if c.at == last})


def speed(facts: Facts, group: str, clients: Sequence[str]) -> Speed:
    """What is told of these client ids, else of any consumer of the group; a Kafka consumer has one thread."""
    if group in groups(facts):
        return Speed(1, _seconds_of_a_record(facts, group), False, None)
    told = _settings(facts, group, clients)
    threads = next((n for key in _THREADS if (n := _number(told.get(key)))), None)
    times = {
        (series.labels.get("client_id", ""), series.labels.get("topic", "")): series.points[-1][1]
        for series in facts.named("rocketmq.consumer.consume_rt_ms", "rocketmq.client.consume_rt_ms")
        if series.labels.get("group") == group and not series.labels.get("topic", "").startswith(_RETRY)
        if series.points and series.points[-1][1] > 0
    }
    own = [value for (client, _), value in times.items() if client in clients] or list(times.values())
    orderly = told.get("PROP_CONSUMEORDERLY", "false") == "true"
    return Speed(threads, median(own) / 1000 if own else None, orderly, _number(told.get("pullBatchSize")))


def _seconds_of_a_record(facts: Facts, group: str) -> float | None:
    """By the polls that the members worked off."""
    polls = [b for b in facts.batches if b.group == group and b.records > 0]
    records = sum(b.records for b in polls)
    return sum(b.seconds for b in polls) / records if records and any(b.seconds > 0 for b in polls) else None


def message_bytes(facts: Facts | None) -> float | None:
    """Mean size of a message, by the brokers' statistics."""
    told = facts.named("rocketmq.broker.message_size_avg") if facts else ()
    sizes = [series.points[-1][1] for series in told if series.points]
    return median(sizes) if sizes and median(sizes) > 0 else None


def reserved_seconds(facts: Facts | None) -> float | None:
    """The shortest time for which a broker keeps messages (fileReservedTime, in hours)."""
    told = [s.value for s in facts.settings if s.key == "fileReservedTime"] if facts else []
    return min((int(hours) * 3600.0 for hours in told if hours.isdigit()), default=None)


def _settings(facts: Facts, group: str, clients: Sequence[str]) -> Mapping[str, str]:
    """The last value of each key that a client of the group printed."""
    of_group = {s.source for s in facts.settings if s.key == "consumerGroup" and s.value == group}
    printed = [s for s in facts.settings if s.scope == "consumer" and s.source in of_group]
    own = [s for s in printed if s.owner in clients] or printed
    return {s.key: s.value for s in sorted(own, key=_when)}


def _when(setting: Setting) -> tuple[float, str, int]:
    return (setting.at or 0.0, setting.source, setting.line or 0)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() and int(text) > 0 else None


def _order(key: Key) -> tuple[str, str, int]:
    broker, _, number = key[1].rpartition("/")
    return (key[0], broker, int(number) if re.fullmatch(r"\d+", number) else 0)
