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

from mqlab.delivery import durability
from mqlab.delivery.risk_rates import (
    Rate,
    Risk,
    listed,
    of_consumer,
    of_producer,
    of_topics,
    retention_risks,
    shown,
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
from mqlab.shared.queues import lag
from mqlab.units import brief, digits, number


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
    if waiting:
        most = round(waiting[0].value_max or 0)
        return Risk(
            "enable.auto.commit", f"consumer {owner}", _said(auto),
            "commits what was polled while other threads still work on it",
            "records waiting in the process are lost when it stops, most of all when it shuts down cleanly",
            "commit-before-process-loss", round(median(e.value_max or 0.0 for e in waiting)), 0, most,
            f"its own lines show up to {number(most)} records waiting; the likely number is their median",
            (*_places(auto), waiting[0].first),
        )  # fmt: skip
    interval = _of(facts, owner, "auto.commit.interval.ms")
    seconds = (interval.number if interval is not None and interval.number is not None else 5000) / 1000
    poll, rate = _of(facts, owner, "max.poll.records"), of_consumer(facts, owner, group)
    more = poll.number if poll is not None and poll.number else 500
    return Risk(
        "enable.auto.commit", f"consumer {owner}", _said(auto), f"commits every {brief(seconds)}, within poll()",
        "records since the last commit are handled again after a crash; those handed to other threads are lost",
        "reprocess-duplicates", rate.within(seconds / 2) if rate else None, 0,
        rate.within(seconds) + more if rate else None,
        f"{rate.told} × {brief(seconds)}, and a poll of {number(more)}; half an interval on average"
        if rate else "no rate is known",
        _places(auto, interval),
    )  # fmt: skip


def _reset(facts: Facts, owner: str, group: str | None) -> Iterator[Risk]:
    value = _of(facts, owner, "auto.offset.reset")
    if value is None or value.value != "latest":
        return
    by_topic = groups.topics(facts).items()
    partitions = [points for (name, _), queues in by_topic if name == group for points in queues.values()]
    if partitions:
        behind = sum(lag(points[-1]) for points in partitions)
        yield Risk(
            "auto.offset.reset", f"consumer {owner}", _said(value),
            "the group has offsets: it takes effect once they are gone",
            "waiting records are skipped if the offsets expire or fall out of the log", "offset-reset-loss",
            None, 0, behind, f"lag of {group} as last seen, plus what comes in until it reads again", _places(value),
        )  # fmt: skip
        return
    held = {a.topic for a in facts.assignments if a.group == group}
    held |= {p.topic for p in facts.positions if p.group == group}
    rate = of_topics(facts, sorted(held)) if group else None
    yield Risk(
        "auto.offset.reset", f"consumer {owner}", _said(value),
        "partitions without a committed offset start at their end",
        "records from before its first position are skipped", "offset-reset-loss", None, 0, None,
        f"{rate.told} until its first position" if rate else "no rate is known", _places(value),
    )  # fmt: skip


def _of(facts: Facts, owner: str, key: str) -> Value | None:
    return configured.consumer_value(facts, owner, key, float("inf"))


def _said(value: Value) -> str:
    return value.value if value.setting is not None else f"{value.value} (default)"


def _places(*values: Value | None) -> tuple[Evidence, ...]:
    return tuple(dict.fromkeys(v.setting.evidence for v in values if v is not None and v.setting is not None))


SHRINK = 1.5
"""Times of replica.lag.time.max.ms after which a replica that does not follow is out of sync, at the latest:
ReplicaManager looks each half of that time (isr-expiration)."""
_NO_EFFECT = (Version(3, 0), Version(3, 1))
"""Releases that print enable.idempotence = true without having it (KAFKA-13598)."""
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
    if value.value in ("0", "1"):
        yield _leader_only(facts, owner, value, rate)
    elif alone := [t for t in topics if durability.min_in_sync(facts, t) == 1 and durability.replicas(facts, t) != 1]:
        settings = [durability.in_force(facts, topic, "min.insync.replicas") for topic in alone]
        how = f"{rate.told}, for as long as the leader is alone in sync" if rate else "no rate is known"
        yield Risk(
            "min.insync.replicas", f"topic {listed(alone)}", "1", f"acks=all of {owner or 'a producer'} waits for "
            "the replicas in sync, which may be the leader alone",
            "acknowledged records are lost when the leader fails while it is alone in sync", "acks1-failover-loss",
            None, 0, None, how, (*_places(value), *shown(t.evidence for t in settings if t)),
        )  # fmt: skip


def _leader_only(facts: Facts, owner: str | None, value: Value, rate: Rate | None) -> Risk:
    key = "replica.lag.time.max.ms"
    setting = durability.in_force(facts, "", key)
    default = kafka_defaults.default(key, "broker", configured.broker_version(facts)) or "30000"
    lag = SHRINK * int(setting.value if setting is not None and setting.value.isdigit() else default) / 1000
    word = "only the leader acknowledges" if value.value == "1" else "nobody acknowledges, errors go unseen"
    return Risk(
        "acks", f"producer {owner or ''}".strip(), _said(value), word,
        "acknowledged records that no follower has are lost when the leader fails", "acks1-failover-loss",
        None, 0, rate.within(lag) if rate else None,
        f"{rate.told} × {brief(lag)}, the longest an in-sync follower may lag "
        f"({digits(SHRINK)} × replica.lag.time.max.ms); one that keeps up lags by milliseconds"
        if rate else "no rate is known",
        _places(value),
    )  # fmt: skip


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
    high, how = _in_flight(facts, owner, values)
    yield Risk(
        "enable.idempotence", f"producer {owner or ''}".strip(), _said(declared) if declared else "not set",
        f"off{f' in client {version}' if version else ''}: {_why_off(said)}",
        "records are stored twice when a response is lost and the request is sent again", "producer-duplicates",
        None, 0, high, how, _places(*values.values()),
    )  # fmt: skip


def _why_off(said: Mapping[str, str]) -> str:
    if said.get("acks", "all") not in ("all", "-1"):
        return f"acks={said['acks']} rules it out"
    flight = said.get("max.in.flight.requests.per.connection", "5")
    if flight.isdigit() and int(flight) > 5:
        return f"{flight} requests in flight rule it out"
    return "batches are not numbered"


def _in_flight(facts: Facts, owner: str | None, values: Mapping[str, Value]) -> tuple[int | None, str]:
    """Records whose answers one cut of the connection can take: those of the requests that are on their way."""
    flight = values.get("max.in.flight.requests.per.connection")
    sizes = [
        v for s in facts.named("producer.records_per_request_avg") if s.labels.get("client_id") == owner
        for _, v in s.points if v > 0
    ]  # fmt: skip
    if flight is not None and flight.number and sizes:
        most = max(sizes)
        how = f"{number(flight.number)} requests in flight × {digits(most)} records a request, for each connection cut"
        return round(flight.number * most), how
    rate, wait = of_producer(facts, owner), _of_producer(facts, owner, "request.timeout.ms")
    seconds = (wait.number if wait is not None and wait.number else 30_000) / 1000
    if rate is None:
        return None, "no rate is known"
    return rate.within(seconds), f"{rate.told} × request.timeout.ms, {brief(seconds)}, for each connection cut"


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
        yield Risk(
            _UNCLEAN, f"topic {listed(topics)}", "true (default)" if by_default else "true",
            "a replica that is out of sync may become the leader",
            "everything acknowledged since it fell out of sync is lost", "unclean-election-loss", None, 0, None,
            f"{rate.told} for as long as that replica has not followed" if rate else "no rate is known",
            shown(setting.evidence for _, setting in rows),
        )  # fmt: skip


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
    yield Risk(
        "replication.factor", f"topic {listed(topics)}", "1", "one broker has the only copy",
        "nothing can be written or read while that broker is down; everything is lost with its disk", None,
        stored, 0, stored, "records between start and end of the logs, as last seen",
        shown([first[topic] for topic in topics]),
    )  # fmt: skip


@per_facts
def risks(facts: Facts) -> tuple[Risk, ...]:
    """Rows along the path, producers first; what is the same for several owners is one row with all their names."""
    path = (_producer_risks, _unclean, _single, _consumer_risks, retention_risks)
    alike: dict[Risk, list[Risk]] = defaultdict(list)
    for row in (row for rule in path for row in rule(facts)):
        alike[replace(row, owner=row.owner.partition(" ")[0], evidence=())].append(row)
    merged = []
    for key, same in alike.items():
        names = [name for row in same if (name := row.owner.partition(" ")[2])]
        places = shown(place for row in same for place in row.evidence)
        merged.append(replace(key, owner=f"{key.owner} {listed(names)}".strip(), evidence=places))
    return tuple(merged)
