"""Consumer groups of any system: what they read, who was there, and times in which the members stayed the same.

RocketMQ: a source saw the same ids all along, and what members can handle is threads ÷ time per message. Kafka:
besides, nobody rebalanced; a member that joins again under another id is another member, and whatever any source says
of a change counts. There it is one thread a consumer, records of its polls ÷ the time that they took.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from statistics import median

from mqlab import words
from mqlab.facts import Facts, Position, Series
from mqlab.findings import Evidence
from mqlab.kafka import groups as kafka_groups
from mqlab.kafka.groups import groups
from mqlab.kafka.log_lines import homes
from mqlab.kafka.rebalances import history
from mqlab.kafka.rows import Behind, Rebalance
from mqlab.memo import per_facts
from mqlab.rocketmq import members as rocketmq_members
from mqlab.rocketmq.members import NOT_ONLINE
from mqlab.rocketmq.slots import REBALANCED, SETTLING
from mqlab.rows import Batch
from mqlab.shared.lag import Stretch, stretch_between
from mqlab.shared.queues import TOGETHER, Points, Stream, spread
from mqlab.shared.wording import sample
from mqlab.words import Text

say = words.room("membership")


@per_facts
def topics(facts: Facts) -> Mapping[tuple[str, str], Mapping[str, Points]]:
    """Queues of every (group, topic), without RocketMQ's retry topics; Kafka's partitions are plain numbers."""
    numbered = {key: q for key, q in kafka_groups.topics(facts).items() if all(name.isdigit() for name in q)}
    return dict(sorted({**rocketmq_members.topics(facts), **numbered}.items()))


@per_facts
def streams(facts: Facts, group: str) -> tuple[Stream, ...]:
    """Every source's view of *group*, the most direct one first."""
    return kafka_groups.streams(facts, group) if is_kafka(facts, group) else rocketmq_members.streams(facts, group)


def is_kafka(facts: Facts, group: str) -> bool:
    """True for a group of Kafka; a name that both systems use is RocketMQ's."""
    return group not in rocketmq_members.groups(facts) and group in kafka_groups.groups(facts)


def places(topic: str, queues: Iterable[str]) -> Text:
    """``broker-a 0-3 of ORDERS``, or of Kafka ``partitions 0-3 of orders``."""
    names = list(queues)
    if any(not name.isdigit() for name in names):
        return say("queues", queues=spread(names), topic=topic)
    return say("partitions", partitions=len(names), queues=spread(names).split(", "), topic=topic)


def present(facts: Facts, group: str) -> Sequence[float]:
    """When any source listed or counted members, sorted."""
    views = streams(facts, group)
    listed = {s.at for view in views for s in view.snapshots if s.members}
    if is_kafka(facts, group):
        ends = {
            later.at for view in views if view.lasting for one, later in pairwise(view.snapshots)
            if one.members and not later.members
        }  # fmt: skip
        told = [e for e in facts.of_kind("group-state") if e.group == group and (e.value_max or 0.0) > 0]
        return sorted(listed | ends | {e.first_at for e in told if e.first_at is not None})
    counted = {at for s in _counts(facts, group) for at, value in s.points if value > 0}
    return sorted(listed | counted)


def absent(facts: Facts, group: str, begin: float, end: float) -> Sequence[tuple[float, Evidence]]:
    """Lines between *begin* and *end* that say that the group has no members, with their moments."""
    if is_kafka(facts, group):
        said = [e for e in kafka_groups.empty(facts, group) if begin <= (e.first_at or 0.0) < end]
        return (*((e.first_at or 0.0, e.first) for e in said), *_ownerless(facts, group, begin, end))
    offline = [e for e in facts.of_kind("group-offline") if e.group == group]
    errors = [e for e in facts.of_kind("tool-error") if e.group == group and NOT_ONLINE in (e.reason or "")]
    said = [e for e in (*offline, *errors) if begin <= (e.first_at or 0.0) < end]
    return (*((e.first_at or 0.0, e.first) for e in said), *_counted(facts, group, begin, end))


def known_empty_seconds(facts: Facts, group: str, said: Sequence[tuple[float, Evidence]], end: float) -> float:
    """How long the group was empty at least, by what *said* so; the coordinator's word holds until *end*."""
    moments = [at for at, _ in said]
    emptied = [e for e in facts.of_kind("group-emptied") if e.group == group and (e.first_at or 0.0) in moments]
    return max(moments, default=0.0) - min(moments, default=0.0) if not emptied else end - min(moments)


def commits_alone(facts: Facts, group: str, queues: Mapping[str, Points]) -> bool:
    """A Kafka group whose offsets move while it has no members: ``assign()``, Flink and Spark are none by design."""
    if not is_kafka(facts, group):
        return False
    moments = [e.first_at or 0.0 for e in kafka_groups.empty(facts, group)]
    moments += [p.at or 0.0 for p in _unowned(facts, group)]
    here = present(facts, group)
    alone = [
        (first, last) for first, last in pairwise(sorted(moments))
        if last > first and not any(first - TOGETHER <= at <= last + TOGETHER for at in here)
    ]  # fmt: skip
    committed = [[(p.at or 0.0, p.committed or 0) for p in points] for points in queues.values()]
    return any(
        any(after > before for before, after in pairwise([offset for at, offset in points if first <= at <= last]))
        for first, last in alone
        for points in committed
    )


def _unowned(facts: Facts, group: str) -> list[Position]:
    """Rows without an owner, of snapshots that name none and were not taken in the middle of a rebalance."""
    rows = [p for p in facts.positions if p.group == group and p.at is not None and p.committed is not None]
    rows = [p for p in rows if p.end is not None]
    owned = {p.source for p in rows if p.client_id or p.member_id}
    named = {p.source for p in facts.positions if p.group == group and (p.client_id or p.member_id)}
    moving = kafka_groups.unsettled(facts, group)
    return [
        p for p in rows
        if named and p.source not in owned and not any(abs(at - (p.at or 0.0)) <= TOGETHER for at in moving)
    ]  # fmt: skip


def _ownerless(facts: Facts, group: str, begin: float, end: float) -> list[tuple[float, Evidence]]:
    """One row of each describe that names no owner, where others name some."""
    rows = {p.source: p for p in reversed(_unowned(facts, group)) if begin <= (p.at or 0.0) < end}
    ordered = sorted(rows.values(), key=lambda p: (p.at or 0.0, p.source))
    return [(p.at or 0.0, p.evidence) for p in ordered]


def _counts(facts: Facts, group: str) -> list[Series]:
    return [s for s in facts.named("rocketmq.group.members") if s.labels.get("group") == group]


def _counted(facts: Facts, group: str, begin: float, end: float) -> list[tuple[float, Evidence]]:
    """Samples that count no members."""
    return [
        (at, sample(facts, s, at, say("nobody")))
        for s in _counts(facts, group)
        for at, value in s.points
        if value == 0 and begin <= at < end
    ]


Part = tuple[float, float]
"""Begin and end."""

_TROUBLE = (Behind.POLL_TIMEOUT, Behind.EXPIRY, Behind.CRASH)
"""Rebalances that no one asked for, and that stop the work of the whole group."""
_LOOP = 2
"""Such rebalances that are a loop: one may be an accident beside a rise."""


def steady(facts: Facts, group: str, queues: Mapping[str, Points], rise: Stretch) -> Sequence[Stretch]:
    """Parts of the rise in which the members are known to have stayed the same, the longest one first.

    They do not overlap where only one source tells of members.
    """
    ordered = sorted(_calm(facts, group, rise), key=lambda part: (part[0] - part[1], part[0]))
    return [stretch_between(queues, since, until) for since, until in ordered if until > since]


def changed(facts: Facts, group: str, rise: Stretch) -> bool:
    """Members came or went in the rise."""
    moments = [part for view in streams(facts, group) for part in _changes(view)]
    moments += [(r.started, r.started + SETTLING) for r in history(facts, group)] if is_kafka(facts, group) else []
    return any(since <= rise.until and until - SETTLING > rise.since for since, until in moments)


def left_at(facts: Facts, group: str, calm: Stretch, rise: Stretch, fell: float) -> float | None:
    """When the members of the *calm* part left, where no others settled in the rest of the rise; else None.

    Until others have settled, lag rises since nobody consumes. Between the last reading of the rise and the next, at
    which it *fell*, it may have gone on until they left.
    """
    if any(until > since >= calm.until for since, until in _calm(facts, group, rise)):
        return None
    changes = [
        (not view.lasting, max(at, calm.until))
        for view in streams(facts, group)
        for at, after in _changes(view)
        if calm.until <= after - SETTLING <= min(rise.until + SETTLING, max(fell, rise.until))
    ]
    return min(changes, default=(True, None))[1]


def _calm(facts: Facts, group: str, rise: Stretch) -> Sequence[Part]:
    if is_kafka(facts, group):
        return _undisturbed(facts, group, rise)
    return [part for view in streams(facts, group) for part in _same(view, rise)]


def disturbed(facts: Facts, group: str, rise: Stretch) -> bool:
    """Something kept a Kafka group from its work while its lag rose, as history tells."""
    if not is_kafka(facts, group):
        return False
    if len(interrupted(facts, group, rise.since - SETTLING, rise.until)) >= _LOOP:
        return True
    failed = [e for e in facts.of_kind("commit-failed") if e.first_at and rise.since <= e.first_at <= rise.until]
    others = {source for name in groups(facts) if name != group for source in homes(facts, name)}
    return sum(e.group == group or (e.group is None and e.source not in others) for e in failed) >= _LOOP


def interrupted(facts: Facts, group: str, since: float, until: float) -> list[Rebalance]:
    """Rebalances of a Kafka group that began in this time and that nobody asked for."""
    return [r for r in history(facts, group) if since <= r.started <= until and r.behind in _TROUBLE]


def _same(view: Stream, rise: Stretch) -> Iterator[Part]:
    """Times within the rise in which *view* saw the same members; a list of connections only from one to the next.

    Who had rebalanced before the lag rose from its usual low has settled.
    """
    for run, _, seen in view.runs(lambda snapshot: snapshot.ids):
        fresh = run[0] is not view.snapshots[0] and run[0].at + REBALANCED > rise.since
        settled = run[0].at + (SETTLING if fresh else 0.0)
        if run[0].members:
            yield max(settled, rise.since), min(seen, rise.until)


def _undisturbed(facts: Facts, group: str, rise: Stretch) -> Sequence[Part]:
    """What is left of the rise without the times of changes, as far as some source lists members."""
    views = streams(facts, group)
    breaks = [part for view in views for part in _changes(view)]
    breaks += [(r.started, (r.stabilised or r.started) + SETTLING) for r in history(facts, group)]
    breaks += [(at, at + SETTLING) for at in kafka_groups.unsettled(facts, group)]
    known = [(s.at, view.until if view.lasting else s.at) for view in views for s in view.snapshots if s.members]
    left = []
    begin = max(rise.since, min((at for at, _ in known), default=inf))
    limit = min(rise.until, max((until for _, until in known), default=-inf))
    for since, until in [*sorted(breaks), (limit, limit)]:
        if min(since, limit) > begin:
            left.append((begin, min(since, limit)))
        begin = max(begin, until)
    return left


def _changes(view: Stream) -> Iterator[Part]:
    """From the last sight of the members before each change until those after it have settled."""
    for before, after in view.changes():
        yield after.at if view.lasting else before.at, after.at + SETTLING


_THREADS = "PROP_THREADPOOL_CORE_SIZE"
_TIME = "rocketmq.consumer.consume_rt_ms"
LONGER = 1.25
"""Times what one message took before that is longer: such times are means of one minute, which differ by less."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """Messages a second that the members can handle together."""

    messages_per_second: float
    told: Text
    """What it is and how it is made up."""
    evidence: tuple[Evidence, ...]


def capacity(facts: Facts, group: str, since: float, until: float) -> Capacity | None:
    """What *group* can do, by what its members told between the two moments; None where one of them did not."""
    views = [[s for s in view.snapshots if s.at <= until and s.members] for view in streams(facts, group)]
    ids = next((view[-1].ids for view in views if view), ())
    if is_kafka(facts, group):
        return _by_polls(facts, group, ids, since, until)
    threads = {s.owner: int(s.value) for s in facts.settings if s.key == _THREADS and s.owner and s.value.isdigit()}
    times = _times(facts, group, since, until)
    if not ids or any(client not in threads or client not in times for client in ids):
        return None
    rate = sum(threads[client] * 1000 / times[client][0] for client in ids)
    each = sorted({(threads[client], round(times[client][0])) for client in ids})
    shown = [say("threads", threads=n, milliseconds=ms) for n, ms in each]
    places = tuple(dict.fromkeys(times[client][1] for client in ids))
    return Capacity(rate, say("by-threads", members=len(ids), each=shown, rate=rate), places)


def handling(facts: Facts, group: str, begin: float, rise: Stretch) -> Mapping[str, int | bool]:
    """Milliseconds that a RocketMQ group took for one message before *begin* and in *rise*: medians of its members.

    And whether that is longer; nothing where one of them is not known.
    """
    spans = {"before": (-inf, begin), "during": (rise.since - SETTLING, rise.until + TOGETHER)}
    times = {name: [each for each, _ in _times(facts, group, *span).values()] for name, span in spans.items()}
    if not all(times.values()):
        return {}
    known = {name: round(median(each)) for name, each in times.items()}
    return {**known, "slower": known["during"] > LONGER * known["before"]}


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
    each = [say("each-rate", client=client, rate=rate) for client, rate in zip(members, rates, strict=True)]
    return Capacity(sum(rates), say("by-polls", each=each, rate=sum(rates)), tuple(b.evidence for b in longest))


def _times(facts: Facts, group: str, since: float, until: float) -> dict[str, tuple[float, Evidence]]:
    """Milliseconds a message by client id: that of its slowest topic, with the line."""
    found: dict[str, tuple[float, Evidence]] = {}
    for series in facts.named(_TIME):
        client = series.labels.get("client_id")
        inside = [n for n, (at, value) in enumerate(series.points) if since <= at <= until and value > 0]
        if client and series.labels.get("group") in (group, None) and inside:
            value = series.points[inside[-1]][1]
            if client not in found or value > found[client][0]:
                found[client] = (value, sample(facts, series, series.points[inside[-1]][0], say("time")))
    return found
