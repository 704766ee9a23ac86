"""What the settings of producers may lose or double when a broker dies or an answer is lost.

Sources: ProducerConfig (acks), KIP-679 and KAFKA-13598 (idempotence), ReplicaManager.maybeShrinkIsr: a follower stays
in sync until it has not caught up for replica.lag.time.max.ms, which is looked at every half of it, so that a new
leader lacks at most what came in within one and a half of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mqlab.delivery_log import durability
from mqlab.delivery_risks.rates import Rate, of_producer, written
from mqlab.delivery_risks.rows import Risk, listed, shown
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.models import clients
from mqlab.models.versions import Version
from mqlab.questions import configured
from mqlab.questions.configured import Value
from mqlab.units import brief, digits, number

SHRINK = 1.5
"""Times of replica.lag.time.max.ms after which a replica that does not follow is out of sync, at the latest."""
_NO_EFFECT = (Version(3, 0), Version(3, 1))
"""Releases that print enable.idempotence = true without having it (KAFKA-13598)."""
_KEYS = ("acks", "retries", "max.in.flight.requests.per.connection", "enable.idempotence")


def producer_risks(facts: Facts) -> Iterator[Risk]:
    """Rows of every producer, by name; none of one whose topics have a single copy."""
    owners = {s.owner for s in facts.settings if s.scope == "producer"}
    for owner in sorted((o for o in owners if o or owners == {None}), key=lambda o: o or ""):
        yield from _acks(facts, owner)
        yield from _idempotence(facts, owner)


def copied(facts: Facts, topics: Sequence[str]) -> int | None:
    """Most replicas of one of *topics*; 1 where there is one broker only, None where nothing tells."""
    known = [n for topic in topics if (n := durability.replicas(facts, topic)) is not None]
    brokers = {s.owner for s in facts.settings if s.scope == "broker" and s.owner}
    return max(known) if known else (1 if len(brokers) == 1 else None)


def _acks(facts: Facts, owner: str | None) -> Iterator[Risk]:
    value, topics = _of(facts, owner, "acks"), written(facts, owner)
    copies = copied(facts, topics)
    if value is None or copies == 1:
        return
    rate, places = of_producer(facts, owner), _places(value)
    if value.value in ("0", "1"):
        yield _leader_only(facts, owner, value, rate)
    elif alone := [t for t in topics if durability.min_in_sync(facts, t) == 1 and durability.replicas(facts, t) != 1]:
        how = f"{rate.told}, for as long as the leader is alone in sync" if rate else "no rate is known"
        yield Risk(
            "min.insync.replicas", f"topic {listed(alone)}", "1", f"acks=all of {owner or 'a producer'} waits for "
            "the replicas in sync: where that is the leader alone, for nobody else",
            "acknowledged records are lost when the leader dies alone", "acks1-failover-loss",
            None, 0, None, how, (*places, *_min_places(facts, alone)),
        )  # fmt: skip


def _leader_only(facts: Facts, owner: str | None, value: Value, rate: Rate | None) -> Risk:
    lag = _lag_seconds(facts)
    word = "the leader's word is enough" if value.value == "1" else "nobody's word is waited for, errors go unseen"
    return Risk(
        "acks", f"producer {owner or ''}".strip(), _said(value), word,
        "acknowledged records that no follower had are lost when the leader dies", "acks1-failover-loss",
        None, 0, rate.within(lag) if rate else None,
        f"{rate.told} × {brief(lag)}, the longest that a follower in sync may be behind "
        f"({digits(SHRINK)} × replica.lag.time.max.ms); one that keeps up is behind by milliseconds"
        if rate else "no rate is known",
        _places(value),
    )  # fmt: skip


def _lag_seconds(facts: Facts) -> float:
    told = durability.in_force(facts, "", "replica.lag.time.max.ms")
    default = clients.default("replica.lag.time.max.ms", "broker", configured.broker_version(facts)) or "30000"
    value = told.value if told is not None and told.value.isdigit() else default
    return SHRINK * int(value) / 1000


def _idempotence(facts: Facts, owner: str | None) -> Iterator[Risk]:
    version = configured.version_of(facts, owner)
    values = {key: value for key in _KEYS if (value := _of(facts, owner, key)) is not None}
    said = {k: v.value for k, v in values.items() if v.setting is not None and not _void(v, version)}
    retries = values.get("retries")
    if clients.idempotence(said, version) is not False or retries is None or retries.value == "0":
        return
    high, how = _in_flight(facts, owner, values)
    declared = values.get("enable.idempotence")
    yield Risk(
        "enable.idempotence", f"producer {owner or ''}".strip(), _said(declared) if declared else "not set",
        f"off{f' in client {version}' if version else ''}: {_why_off(said)}",
        "records are stored twice when an answer is lost and the request is sent again", "producer-duplicates",
        None, 0, high, how, _places(*values.values()),
    )  # fmt: skip


def _void(value: Value, version: Version | None) -> bool:
    """A printed true that has no effect."""
    told = value.setting is not None and value.setting.origin == "printed" and value.key == "enable.idempotence"
    return told and version in _NO_EFFECT


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
        told = f"{number(flight.number)} requests in flight × {digits(most)} records a request, for each connection cut"
        return round(flight.number * most), told
    rate, wait = of_producer(facts, owner), _of(facts, owner, "request.timeout.ms")
    seconds = (wait.number if wait is not None and wait.number else 30_000) / 1000
    if rate is None:
        return None, "no rate is known"
    return rate.within(seconds), f"{rate.told} × request.timeout.ms, {brief(seconds)}, for each connection cut"


def _of(facts: Facts, owner: str | None, key: str) -> Value | None:
    return configured.producer_value(facts, owner, key, float("inf"))


def _said(value: Value) -> str:
    return value.value if value.setting is not None else f"{value.value} (default)"


def _places(*values: Value) -> tuple[Evidence, ...]:
    return tuple(dict.fromkeys(v.setting.evidence for v in values if v.setting is not None))


def _min_places(facts: Facts, topics: Sequence[str]) -> tuple[Evidence, ...]:
    told = [durability.in_force(facts, topic, "min.insync.replicas") for topic in topics]
    return shown([t.evidence for t in told if t is not None and t.evidence is not None])
