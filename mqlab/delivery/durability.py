"""What decides whether an acknowledged record survives: acks of who writes a topic, replicas, elections, compaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mqlab.facts import Facts, Setting
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models import kafka_defaults
from mqlab.shared import actors, configured
from mqlab.shared.configured import Value

_ALL = ("all", "-1")


@dataclass(frozen=True, slots=True)
class Acks:
    """How many replicas must have a record before its producer is told so."""

    value: str
    """0, 1 or all."""
    client: str
    evidence: Evidence | None
    """None for the default of the client's version."""

    @property
    def leader_only(self) -> bool:
        """The leader's word suffices, or nobody's."""
        return self.value != "all"


@per_facts
def topics(facts: Facts) -> tuple[str, ...]:
    """Topics of users that the material tells of, by name."""
    named = {s.owner for s in facts.settings if s.scope == "topic"} | {p.topic for p in facts.positions}
    named |= {f.topic for f in facts.fates} | {p.topic for p in facts.parts if p.role != "committed"}
    named |= {e.topic for e in facts.of_kind("leader-started")}
    named |= {s.labels.get("topic") for s in facts.named("broker.log_end_offset")}
    return tuple(sorted(name for name in named if name and not name.startswith("__")))


@per_facts
def producers(facts: Facts, topic: str) -> tuple[str | None, ...]:
    """Clients that write *topic*: those whose ledger or counters say so, else every producer of the material."""
    owners = {s.owner for s in facts.settings if s.scope == "producer"}
    owners = {owner for owner in owners if owner} or owners
    parties = {p.party for p in facts.parts if p.role in ("sent", "acked", "failed") and p.topic == topic and p.party}
    writing = {s.labels.get("client_id") for s in facts.series
               if s.name.startswith("producer.topic_") and s.labels.get("topic") == topic}  # fmt: skip
    named = {o for o in owners if o and (o in writing or parties & _names(facts, o))}
    return tuple(sorted(named or owners, key=lambda owner: owner or ""))


@per_facts
def _names(facts: Facts, owner: str) -> set[str]:
    """What files of a client are called: its id, its logs, the folder of its configuration."""
    places = [s.source for s in facts.settings if s.scope == "producer" and s.owner == owner]
    folders = {place.rpartition("/")[0].rpartition("/")[2] for place in places}
    return {owner, *folders, *(actors.base_name(place) for place in places)}


@per_facts
def acks(facts: Facts, topic: str, at: float | None = None) -> Acks | None:
    """What the producers of *topic* asked for; None where nothing says so or they differ."""
    asked = [_of_producer(facts, owner, at) for owner in producers(facts, topic)]
    values = {wanted.value for wanted in asked if wanted is not None}
    return asked[0] if asked and None not in asked and len(values) == 1 else None


def _of_producer(facts: Facts, owner: str | None, at: float | None) -> Acks | None:
    setting = configured.producer_value(facts, owner, "acks", at)
    if setting is None or setting.value not in (*_ALL, "0", "1"):
        return None
    value = "all" if setting.value in _ALL else setting.value
    return Acks(value, owner or "a producer", setting.evidence)


@per_facts
def in_force(facts: Facts, topic: str, key: str, at: float | None = None) -> Value | None:
    """What *key* is for *topic*: its own value, else that of the brokers, else the default of their version."""
    own = _latest([s for s in facts.settings if (s.scope, s.owner, s.key) == ("topic", topic, key)], at)
    brokers = [s for s in facts.settings if s.scope == "broker" and s.key in (key, f"log.{key}")]
    if own is None and (len({s.value for s in brokers}) == 1 or at is not None):
        own = _latest(brokers, at)
    if own is not None:
        return Value(key, own.value, own)
    default = kafka_defaults.default(key, "topic", configured.broker_version(facts))
    return Value(key, default, None) if default is not None else None


_RANK = {"describe": 0, "printed": 1, "file": 2, "default": 3}
"""Kinds of sources that tell of the same moment, or of none: a description has dynamic settings, which none prints."""


def _latest(settings: Sequence[Setting], at: float | None) -> Setting | None:
    """The last that was seen at *at* or before, of whatever kind, else the first after it, else an undated one."""
    rows = sorted(settings, key=lambda s: (_RANK.get(s.origin, 9), s.source, s.line or 0))
    dated = [(s.at, s) for s in rows if s.at is not None]
    before = [pair for pair in dated if at is None or pair[0] <= at]
    if before:
        return max(before, key=lambda pair: pair[0])[1]
    return min(dated, key=lambda pair: pair[0])[1] if dated else next(iter(rows), None)


def compacted(facts: Facts, topic: str) -> bool:
    """Old values of a key are removed, so that gaps say nothing."""
    policy = in_force(facts, topic, "cleanup.policy")
    return policy is not None and "compact" in policy.value


@per_facts
def replicas(facts: Facts, topic: str) -> int | None:
    """How many copies *topic* has; None where nothing describes it."""
    described = [s for s in configured.replication_factors(facts) if s.owner == topic]
    return max((int(s.value) for s in described), default=None)


def min_in_sync(facts: Facts, topic: str, at: float | None = None) -> int | None:
    """Replicas that must be in sync for acks=all; None where it is not known."""
    setting = in_force(facts, topic, "min.insync.replicas", at)
    return int(setting.value) if setting is not None and setting.value.isdigit() else None
