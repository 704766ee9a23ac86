"""What the members of a group can handle, as they say themselves.

RocketMQ: threads ÷ time per message. Kafka: one thread a consumer, records of its polls ÷ the time that they took.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.groups.consumer_groups import is_kafka, streams
from mqlab.questions.wording import sample
from mqlab.rows.groups import Batch

_THREADS = "PROP_THREADPOOL_CORE_SIZE"
_TIME = "rocketmq.consumer.consume_rt_ms"


@dataclass(frozen=True, slots=True)
class Capacity:
    """Messages a second that the members can handle together."""

    messages_per_second: float
    told: str
    """How it is made up."""
    evidence: tuple[Evidence, ...]


def capacity(facts: Facts, group: str, since: float, until: float) -> Capacity | None:
    """What *group* can do, by what its members told between the two moments; None where one of them did not."""
    views = [[s for s in view.snapshots if s.at <= until and s.members] for view in streams(facts, group)]
    ids = next((view[-1].ids for view in views if view), ())
    if is_kafka(facts, group):
        return _by_polls(facts, group, ids, since, until)
    threads, times = _threads(facts), _times(facts, group, since, until)
    if not ids or any(client not in threads or client not in times for client in ids):
        return None
    rate = sum(threads[client] * 1000 / times[client][0] for client in ids)
    each = sorted({(threads[client], round(times[client][0])) for client in ids})
    shown = ", ".join(f"{units.counted(n, 'thread')} at {units.number(ms)} ms" for n, ms in each)
    places = tuple(dict.fromkeys(times[client][1] for client in ids))
    return Capacity(rate, f"{units.counted(len(ids), 'member')} of {shown} a message can do", places)


def _by_polls(facts: Facts, group: str, ids: Iterable[str], since: float, until: float) -> Capacity | None:
    """By the polls that each member worked off in this time."""
    polls: dict[str, list[Batch]] = defaultdict(list)
    for batch in facts.batches:
        if batch.client_id and batch.group in (group, None) and since <= batch.at <= until and batch.seconds > 0:
            polls[batch.client_id].append(batch)
    members = sorted(set(ids))
    if not members or any(client not in polls for client in members):
        return None
    rates = [sum(b.records for b in polls[c]) / sum(b.seconds for b in polls[c]) for c in members]
    longest = [max(polls[c], key=lambda b: (b.longest_seconds, -b.at)) for c in members]
    each = ", ".join(f"{client} {units.digits(rate)}/s" for client, rate in zip(members, rates, strict=True))
    return Capacity(sum(rates), f"While at work, {each}, together", tuple(b.evidence for b in longest))


def _threads(facts: Facts) -> dict[str, int]:
    return {s.owner: int(s.value) for s in facts.settings if s.key == _THREADS and s.owner and s.value.isdigit()}


def _times(facts: Facts, group: str, since: float, until: float) -> dict[str, tuple[float, Evidence]]:
    """Milliseconds a message by client id: that of its slowest topic, with the line."""
    found: dict[str, tuple[float, Evidence]] = {}
    for series in facts.named(_TIME):
        client = series.labels.get("client_id")
        inside = [n for n, (at, value) in enumerate(series.points) if since <= at <= until and value > 0]
        if client and series.labels.get("group") in (group, None) and inside:
            value = series.points[inside[-1]][1]
            if client not in found or value > found[client][0]:
                found[client] = (value, sample(facts, series, series.points[inside[-1]][0], "time per message, ms"))
    return found
