"""The settings audit of the delivery path: what acks, replicas, commits, resets and retention may lose or double.

Rows, not findings: with the defaults of most releases something is always possible, and nothing of it says that it
happened. ``settings_audit`` makes notices of the few that are about to do damage.
Sources: ConsumerCoordinator (auto-commit takes the positions that polls reached, close() all of them), ConsumerConfig
(auto.offset.reset = latest by default), ProducerConfig (acks), KIP-679 and KAFKA-13598 (idempotence), KIP-106
(unclean.leader.election.enable, false since 0.11), ReplicaManager.maybeShrinkIsr: a follower stays in sync until it has
not caught up for replica.lag.time.max.ms, which is looked at every half of it, so that a new leader lacks at most what
came in within one and a half of it; one that is out of sync lacks all that came in since it stopped to follow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TypeGuard

from mqlab.delivery import durability
from mqlab.delivery.risk_rates import (
    Rate,
    Risk,
    listed,
    of_consumer,
    of_producer,
    of_topics,
    retention_risks,
    risk,
    say,
    shown,
    told,
    written,
)
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.kafka import groups
from mqlab.kafka.poll_limits import client_of
from mqlab.memo import per_facts
from mqlab.models import kafka_defaults
from mqlab.models.kafka_defaults import Version
from mqlab.shared import configured
from mqlab.shared.configured import Value
from mqlab.shared.queues import totals
from mqlab.words import Text
from mqlab.words.filling import Value as Shown


def _consumer_risks(facts: Facts) -> Iterator[Risk]:
    """Rows of every consumer of Kafka that the material names with its settings, by name."""
    for owner in sorted(o for o in _owners(facts, "consumer") if o):
        group = group_of(facts, owner)
        auto = _of(facts, owner, "enable.auto.commit")
        if auto is not None and auto.value == "true":
            yield _auto(facts, owner, group, auto)
        yield from _reset(facts, owner, group)


def _owners(facts: Facts, scope: str) -> set[str | None]:
    """Whose settings of this *scope* are there; none of RocketMQ's clients, which have no such settings as Kafka's."""
    others = {c.source for c in facts.coverage if c.software == "rocketmq"}
    return {s.owner for s in facts.settings if s.scope == scope and s.source not in others}


@per_facts
def group_of(facts: Facts, owner: str) -> str | None:
    """The group of a consumer, by its settings, else by the lines that name both."""
    named = [s.value for s in facts.settings if s.scope == "consumer" and (s.key, s.owner) == ("group.id", owner)]
    lines = (e.group for e in facts.episodes if e.client_id == owner and e.group)
    return next(iter(sorted(named)), None) or next(lines, None)


def _auto(facts: Facts, owner: str, group: str | None, auto: Value) -> Risk:
    lines = [e for e in facts.of_kind("handed-over") if e.value_max and client_of(facts, group or "", e) == owner]
    waiting = sorted(lines, key=lambda e: (-(e.value_max or 0.0), e.first_at or 0.0))
    whose = ("enable.auto.commit", "consumer", owner, _known(facts, "consumer", owner, auto))
    if waiting:
        most = round(waiting[0].value_max or 0)
        likely = round(median(e.value_max or 0.0 for e in waiting))
        places = (*_places(auto), waiting[0].first)
        return risk("handed-over", whose, "commit-before-process-loss", (likely, most), places, waiting=most)
    interval = _of(facts, owner, "auto.commit.interval.ms")
    seconds = (interval.number if interval is not None and interval.number is not None else 5000) / 1000
    poll, rate = _of(facts, owner, "max.poll.records"), of_consumer(facts, owner, group)
    more = poll.number if poll is not None and poll.number else 500
    records = (rate.within(seconds / 2), rate.within(seconds) + round(more)) if rate else (None, None)
    values = {"rate": told(rate), "seconds": seconds, "more": more}
    return risk("auto-commit", whose, "reprocess-duplicates", records, _places(auto, interval), **values)


def _reset(facts: Facts, owner: str, group: str | None) -> Iterator[Risk]:
    value = _of(facts, owner, "auto.offset.reset")
    if value is None or value.value != "latest":
        return
    read = {topic: queues for (name, topic), queues in groups.topics(facts).items() if name == group}
    whose = ("auto.offset.reset", "consumer", owner, _known(facts, "consumer", owner, value))
    incident = "offset-reset-loss"
    if read:
        seen = {topic: [behind for _, behind, _ in totals(queues)] for topic, queues in read.items()}
        waited = [say("waited", topic=topic, records=max(each)) for topic, each in seen.items() if each]
        yield risk("offsets-may-go", whose, incident, (None, None), _places(value), waited=waited or None)
        return
    held = {a.topic for a in facts.assignments if a.group == group}
    held |= {p.topic for p in facts.positions if p.group == group}
    rate = of_topics(facts, sorted(held)) if group else None
    yield risk("no-offsets", whose, incident, (None, None), _places(value), rate=told(rate))


def _known(facts: Facts, scope: str, owner: str | None, value: Value) -> Value | Text:
    """*value*; where only files tell of that client, its application may set what they do not."""
    own = [s for s in facts.settings if (s.scope, s.owner) == (scope, owner)]
    files = tuple(sorted({s.source for s in own if s.origin == "file"}))
    if value.setting is not None or not files or any(s.origin == "printed" for s in own):
        return value
    return say(_UNSET, value=value.value, files=files)


def _of(facts: Facts, owner: str, key: str) -> Value | None:
    return configured.consumer_value(facts, owner, key, float("inf"))


def _places(*values: Value | None) -> tuple[Evidence, ...]:
    return tuple(dict.fromkeys(v.setting.evidence for v in values if v is not None and v.setting is not None))


SHRINK = 1.5
"""Times of replica.lag.time.max.ms after which a replica that does not follow is out of sync, at the latest:
ReplicaManager looks each half of that time (isr-expiration)."""
_NO_EFFECT = (Version(3, 0), Version(3, 1))
"""Releases that print enable.idempotence = true without having it (KAFKA-13598)."""
_FAILOVER = "acks1-failover-loss"
_UNSET = "not-set-in"
_KEYS = ("acks", "retries", "max.in.flight.requests.per.connection", "enable.idempotence")


def _producer_risks(facts: Facts) -> Iterator[Risk]:
    """Rows of every producer, by name; none of one whose topics have a single copy."""
    owners = _owners(facts, "producer")
    for owner in sorted((o for o in owners if o or owners == {None}), key=lambda o: o or ""):
        yield from _acks(facts, owner)
        yield from _idempotence(facts, owner)


def copied(facts: Facts, topics: Sequence[str]) -> int | None:
    """Most replicas of one of *topics*; 1 where there is one broker only, None where nothing tells."""
    counts = [n for topic in topics if (n := durability.replicas(facts, topic)) is not None]
    brokers = {s.owner for s in facts.settings if s.scope == "broker" and s.owner}
    return max(counts) if counts else (1 if len(brokers) == 1 else None)


def _acks(facts: Facts, owner: str | None) -> Iterator[Risk]:
    value, topics = _of_producer(facts, owner, "acks"), written(facts, owner)
    copies = copied(facts, topics)
    if value is None or copies == 1:
        return
    rate = of_producer(facts, owner)
    if value.value == "0":
        acks = ("acks", "producer", owner, _known(facts, "producer", owner, value))
        yield risk("unacknowledged", acks, _FAILOVER, (None, None), _places(value))
    elif value.value == "1":
        yield _leader_only(facts, owner, value, rate)
    elif alone := [t for t in topics if durability.min_in_sync(facts, t) == 1 and durability.replicas(facts, t) != 1]:
        settings = [durability.in_force(facts, topic, "min.insync.replicas") for topic in alone]
        places = (*_places(value), *shown(t.evidence for t in settings if t))
        whose = ("min.insync.replicas", "topic", listed(alone), "1")
        records = (None, None)
        yield risk("alone", whose, _FAILOVER, records, places, producer=owner, rate=told(rate))


def _leader_only(facts: Facts, owner: str | None, value: Value, rate: Rate | None) -> Risk:
    key = "replica.lag.time.max.ms"
    setting = durability.in_force(facts, "", key)
    default = kafka_defaults.default(key, "broker", configured.broker_version(facts)) or "30000"
    lag = SHRINK * int(setting.value if setting is not None and setting.value.isdigit() else default) / 1000
    most = rate.within(lag) if rate else None
    whose = ("acks", "producer", owner, _known(facts, "producer", owner, value))
    return risk(
        "leader-only", whose, _FAILOVER, (None, most), _places(value), rate=told(rate), seconds=lag, shrink=SHRINK
    )


def _idempotence(facts: Facts, owner: str | None) -> Iterator[Risk]:
    version = configured.version_of(facts, owner)
    values = {key: value for key in _KEYS if (value := _of_producer(facts, owner, key)) is not None}
    said = {k: v.value for k, v in values.items() if v.setting is not None}
    declared = values.get("enable.idempotence")
    printed = declared is not None and declared.setting is not None and declared.setting.origin == "printed"
    if printed and version in _NO_EFFECT:
        del said["enable.idempotence"]
    retries = values.get("retries")
    if kafka_defaults.idempotence(said, version) is not False or retries is None or retries.value == "0":
        return
    records, how = _in_flight(facts, owner, values)
    whose = ("enable.idempotence", "producer", owner, declared or say("not-set"))
    off = {"version": str(version) if version else None, **_why_off(said)}
    yield risk("no-idempotence", whose, "producer-duplicates", records, _places(*values.values()), **off, **how)


def _why_off(said: Mapping[str, str]) -> Mapping[str, str]:
    """What rules it out; nothing where batches are just not numbered."""
    if said.get("acks", "all") not in ("all", "-1"):
        return {"acks": said["acks"]}
    flight = said.get("max.in.flight.requests.per.connection", "5")
    return {"in_flight": flight} if flight.isdigit() and int(flight) > 5 else {}


_Amount = tuple[int | None, int | None]
"""Most likely number and most."""


def _in_flight(facts: Facts, owner: str | None, values: Mapping[str, Value]) -> tuple[_Amount, Mapping[str, Shown]]:
    """Records whose answers one cut of the connection can take: those of the requests that are on their way.

    Averages of requests bound nothing, and the first half may be a start: what they usually are after it is likely.
    """
    flight = values.get("max.in.flight.requests.per.connection")
    named = (s for s in facts.named("producer.records_per_request_avg") if s.labels.get("client_id") == owner)
    sizes = [v for s in named for _, v in s.points[len(s.points) // 2 :] if v > 0]
    if flight is not None and flight.number and sizes:
        each = median(sizes)
        return (round(flight.number * each), None), {"requests": flight.number, "each": each}
    rate, wait = of_producer(facts, owner), _of_producer(facts, owner, "request.timeout.ms")
    seconds = (wait.number if wait is not None and wait.number else 30_000) / 1000
    return (None, rate.within(seconds) if rate else None), {"rate": told(rate), "seconds": seconds}


def _of_producer(facts: Facts, owner: str | None, key: str) -> Value | None:
    return configured.producer_value(facts, owner, key, float("inf"))


_UNCLEAN = "unclean.leader.election.enable"


def _unclean(facts: Facts) -> Iterator[Risk]:
    allowed: list[tuple[str, Value]] = []
    for topic in durability.topics(facts):
        setting = durability.in_force(facts, topic, _UNCLEAN)
        if setting is not None and setting.value == "true" and copied(facts, [topic]) != 1:
            allowed.append((topic, setting))
    for by_default in (False, True):
        rows = [(topic, setting) for topic, setting in allowed if (setting.evidence is None) == by_default]
        if not rows:
            continue
        topics = [topic for topic, _ in rows]
        rate = of_topics(facts, topics)
        value = say("default", value="true") if by_default else "true"
        whose, places = (_UNCLEAN, "topic", listed(topics), value), shown(setting.evidence for _, setting in rows)
        yield risk("unclean", whose, "unclean-election-loss", (None, None), places, rate=told(rate))


def _single(facts: Facts) -> Iterator[Risk]:
    """Topics with one copy in a cluster that could hold more."""
    brokers = {s.owner for s in facts.settings if s.scope == "broker" and s.owner}
    topics = [t for t in durability.topics(facts) if durability.replicas(facts, t) == 1]
    if len(brokers) < 2 or not topics:
        return
    described = [s for s in facts.settings if s.key == "replication.factor" and s.owner in topics]
    first = {s.owner: s.evidence for s in reversed(described)}
    ends = sorted((p for p in facts.positions if p.topic in topics and p.end is not None), key=lambda p: p.at or 0.0)
    last = {(p.topic, p.queue): (p.end or 0) - (p.start or 0) for p in ends}
    stored = sum(last.values()) if last else None
    whose, places = ("replication.factor", "topic", listed(topics), "1"), shown([first[topic] for topic in topics])
    yield risk("single-copy", whose, None, (stored, stored), places)


def _in_any(value: str, files: Sequence[str] = ()) -> str:
    """*value*; of one that stands in none of its files, the same of *files*."""
    return say(_UNSET, value=value.values["value"], files=tuple(files)) if _is_unset(value) else value


def _files(value: str) -> Sequence[str]:
    return value.values["files"] if _is_unset(value) else ()  # type: ignore[return-value]


def _is_unset(value: str) -> TypeGuard[Text]:
    return isinstance(value, Text) and value.key == _UNSET


@per_facts
def risks(facts: Facts) -> tuple[Risk, ...]:
    """Rows along the path, producers first; what is the same for several owners is one row with all their names."""
    path = (_producer_risks, _unclean, _single, _consumer_risks, retention_risks)
    alike: dict[Risk, list[Risk]] = defaultdict(list)
    for row in (row for rule in path for row in rule(facts)):
        alike[replace(row, who=None, evidence=(), value=_in_any(row.value))].append(row)
    merged = []
    for key, same in alike.items():
        names = [row.who for row in same if row.who]
        places = shown(place for row in same for place in row.evidence)
        files = sorted({file for row in same for file in _files(row.value)})
        value = _in_any(key.value, files)
        merged.append(replace(key, who=listed(names) or None, evidence=places, value=value))
    return tuple(merged)
