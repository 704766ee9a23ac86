"""What was configured, for whom, at a moment: printed and dated values beat files, files beat defaults.

An undated file often shows the state after the repair; therefore it never beats a value that a process printed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mqlab.facts import Episode, Facts, Setting
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models import kafka_defaults
from mqlab.models.kafka_defaults import Version
from mqlab.shared import actors
from mqlab.sources import Role

_RANK = {"printed": 0, "describe": 1, "file": 2, "default": 3}
_LIMIT = {"topic": "max.message.bytes", "broker": "message.max.bytes"}


@dataclass(frozen=True, slots=True)
class Value:
    """A configured value and how it is known."""

    key: str
    value: str
    setting: Setting | None
    """None for a client's or broker's own default."""

    @property
    def evidence(self) -> Evidence | None:
        """Where it stands; None for a default."""
        return self.setting.evidence if self.setting is not None else None

    @property
    def number(self) -> int | None:
        """The value as a whole number."""
        try:
            return int(self.value)
        except ValueError:
            return None


def version_of(facts: Facts, client_id: str | None, at: float | None = None) -> Version | None:
    """Version of the client that printed settings for *client_id* last before *at*."""
    if client_id is None:
        return None
    return _latest_version(list(_versions_told(facts, client_id)), at)


@per_facts
def _versions_told(facts: Facts, client_id: str) -> tuple[Episode, ...]:
    sources = {s.source for s in facts.settings if s.owner == client_id and s.origin == "printed"}
    sources |= {e.source for e in facts.episodes if client_id in (e.client_id, actors.base_name(e.source))}
    sources -= _broker_logs(facts)
    return tuple(e for e in facts.of_kind("client-version") if e.source in sources and e.reason)


def broker_version(facts: Facts) -> Version | None:
    """Version that the brokers print."""
    sources = _broker_logs(facts)
    return _latest_version([e for e in facts.of_kind("client-version") if e.source in sources], None)


@per_facts
def _broker_logs(facts: Facts) -> set[str]:
    sources = {e.source for e in facts.of_kind("broker-started", "broker-stopping", "rebalance-started")}
    sources |= facts.logs_of("kafka", Role.BROKER_LOG)
    return sources | {s.source for s in facts.settings if s.scope == "broker" and s.origin == "printed"}


def _latest_version(seen: list[Episode], at: float | None) -> Version | None:
    before = [e for e in seen if at is None or e.first_at is None or e.first_at <= at] or seen
    return Version.parse(before[-1].reason) if before and before[-1].reason else None


def producer_value(facts: Facts, client_id: str | None, key: str, at: float | None) -> Value | None:
    """What *key* was for the producer *client_id* at *at*."""
    fitting = [s for s in facts.settings if s.key == key and s.scope == "producer" and s.owner == client_id]
    if not fitting:
        owners = {s.owner for s in facts.settings if s.key == key and s.scope == "producer"}
        alone = len(owners) == 1 and owners == {None}
        fitting = [s for s in facts.settings if s.key == key and s.scope == "producer"] if alone else []
    return _value(fitting, at, key, "producer", version_of(facts, client_id, at))


def consumer_value(facts: Facts, client_id: str | None, key: str, at: float | None) -> Value | None:
    """What *key* was for the consumer *client_id* at *at*; the default of its version where nobody set it."""
    own = [s for s in facts.settings if s.key == key and s.scope == "consumer" and s.owner == client_id]
    return _value(own, at, key, "consumer", version_of(facts, client_id, at))


def _value(own: Sequence[Setting], at: float | None, key: str, scope: str, version: Version | None) -> Value | None:
    """The best of the *own* settings, else the default of *version*."""
    found = _best(own, at)
    if found:
        return Value(key, found.value, found)
    default = kafka_defaults.default(key, scope, version)
    return Value(key, default, None) if default is not None else None


def _best(settings: Sequence[Setting], at: float | None) -> Setting | None:
    """The last of the best kind that was seen at *at* or before, else the first after it, else an undated one."""
    dated = [s for s in settings if s.at is not None]
    before = [s for s in dated if at is None or (s.at or 0) <= at]
    if before:
        return max(before, key=lambda s: (-_RANK.get(s.origin, 9), s.at or 0, s.source, s.line or 0))
    if dated:
        return min(dated, key=lambda s: (s.at or 0, s.source, s.line or 0))
    undated = sorted(settings, key=lambda s: (_RANK.get(s.origin, 9), len(s.source), s.source, s.line or 0))
    return undated[0] if undated else None


def limit(facts: Facts, topic: str | None, at: float | None) -> Value | None:
    """Largest batch that the broker takes for *topic* at *at*: the topic's own limit, else the broker's.

    A change that the broker logged tells what was before it and after it, a description only what was when it was
    made: one from after the change says nothing about before.
    """
    changed = [s for s in topic_changes(facts) if s.owner == topic and s.key == _LIMIT["topic"]]
    before = [c for c in changed if at is None or (c.at or 0) <= at]
    if before:
        last = before[-1]
        return Value(last.key, last.value, last) if last.value else _broker_limit(facts, at)
    described = [s for s in facts.settings if s.key == _LIMIT["topic"] and s.owner == topic]
    if changed:
        described = [s for s in described if s.at is not None and at is not None and s.at <= at]
    found = _best(described, at)
    return Value(found.key, found.value, found) if found else _broker_limit(facts, at)


def certain(value: Value | None, at: float | None) -> bool:
    """True where *value* was seen at *at* or before: printed, or described then. A later one may be the repair."""
    if value is None or value.setting is None or value.setting.at is None:
        return False
    return at is None or value.setting.at <= at


def _broker_limit(facts: Facts, at: float | None) -> Value | None:
    own = [s for s in facts.settings if s.key == _LIMIT["broker"] and s.scope == "broker"]
    return _value(own, at, _LIMIT["broker"], "broker", broker_version(facts))


def topic_changes(facts: Facts) -> list[Setting]:
    """Topic settings that brokers logged when they changed, by time; each change once, though every broker logs it.

    Brokers log all overrides of a topic at once: one that is missing was taken back, and has the value ``""``.
    """
    known: dict[tuple[str, str], str] = {}
    found = []
    for episode in facts.of_kind("topic-config-changed"):
        if not episode.topic:
            continue
        pairs = _overrides(episode.reason)
        gone = {key: "" for topic, key in known if topic == episode.topic and key not in pairs}
        for key, value in sorted({**pairs, **gone}.items()):
            if known.get((episode.topic, key), "") != value:
                known[episode.topic, key] = value
                found.append(_logged(episode, key, value))
    return sorted(found, key=lambda s: (s.at or 0, s.owner or "", s.key))


_PAIR = re.compile(r"([\w.-]+)\s*(?:->|=)\s*([^,\s{}]*)")


def _overrides(reason: str | None) -> dict[str, str]:
    return {found[1]: found[2] for found in _PAIR.finditer(reason or "")}


def _logged(episode: Episode, key: str, value: str) -> Setting:
    place = episode.first
    return Setting(
        key, value, "topic", episode.topic, "printed", episode.first_at, episode.source, place.line, place.text
    )


def replication_factors(facts: Facts) -> list[Setting]:
    """Replication factors of the users' topics, as described."""
    found = [s for s in facts.settings if s.key == "replication.factor" and s.value.isdigit()]
    return [s for s in found if not str(s.owner).startswith("__")]
