"""What was configured, for whom, at a moment: printed and dated values beat files, files beat defaults.

An undated file often shows the state after the repair; therefore it never beats a value that a process printed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mqlab.facts import Episode, Facts, Setting
from mqlab.models import clients
from mqlab.models.versions import Version

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
    def number(self) -> int | None:
        """The value as a whole number."""
        try:
            return int(self.value)
        except ValueError:
            return None

    @property
    def dated(self) -> bool:
        """True where the moment of the value is known."""
        return self.setting is not None and self.setting.at is not None


def version_of(facts: Facts, client_id: str | None, at: float | None = None) -> Version | None:
    """Version of the client that printed settings for *client_id* last before *at*."""
    sources = {s.source for s in facts.settings if s.owner == client_id and s.origin == "printed"}
    sources |= {e.source for e in facts.episodes if e.client_id == client_id and client_id is not None}
    seen = [e for e in facts.of_kind("client-version") if e.source in sources and e.reason]
    return _latest_version(seen, at)


def broker_version(facts: Facts) -> Version | None:
    """Version that the brokers print."""
    sources = {e.source for e in facts.of_kind("broker-started", "broker-stopping", "rebalance-started")}
    sources |= {s.source for s in facts.settings if s.scope == "broker" and s.origin == "printed"}
    return _latest_version([e for e in facts.of_kind("client-version") if e.source in sources], None)


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
    found = _best(fitting, at)
    if found:
        return Value(key, found.value, found)
    default = clients.default(key, "producer", version_of(facts, client_id, at))
    return Value(key, default, None) if default is not None else None


def _best(settings: Iterable[Setting], at: float | None) -> Setting | None:
    dated = [s for s in settings if s.at is not None]
    before = [s for s in dated if at is None or (s.at or 0) <= at]
    if before:
        return max(before, key=lambda s: (-_RANK.get(s.origin, 9), s.at or 0, s.line or 0))
    if dated:
        return min(dated, key=lambda s: (s.at or 0, s.line or 0))
    undated = sorted(settings, key=lambda s: (_RANK.get(s.origin, 9), len(s.source), s.source, s.line or 0))
    return undated[0] if undated else None


def limit(facts: Facts, topic: str | None, at: float | None) -> Value | None:
    """Largest batch that the broker takes for *topic* at *at*: the topic's own limit, else the broker's."""
    changed = _limit_changes(facts, topic)
    described = _best([s for s in facts.settings if s.key == _LIMIT["topic"] and s.owner == topic], at)
    if changed:
        before = [c for c in changed if at is None or (c.at or 0) <= at]
        if before:
            return Value(before[-1].key, before[-1].value, before[-1])
        return _broker_limit(facts, at)
    if described:
        return Value(described.key, described.value, described)
    return _broker_limit(facts, at)


def _broker_limit(facts: Facts, at: float | None) -> Value | None:
    found = _best([s for s in facts.settings if s.key == _LIMIT["broker"] and s.scope == "broker"], at)
    if found:
        return Value(found.key, found.value, found)
    default = clients.default(_LIMIT["broker"], "broker", broker_version(facts))
    return Value(_LIMIT["broker"], default, None) if default else None


def _limit_changes(facts: Facts, topic: str | None) -> list[Setting]:
    return [s for s in topic_changes(facts) if s.owner == topic and s.key == _LIMIT["topic"]]


def topic_changes(facts: Facts) -> list[Setting]:
    """Topic settings that brokers logged when they changed, by time; each moment and value once."""
    found: dict[tuple[str | None, str, str], Setting] = {}
    for episode in facts.of_kind("topic-config-changed"):
        for pair in (episode.reason or "").split(","):
            key, arrow, value = pair.partition("->")
            if arrow and episode.topic:
                setting = Setting(
                    key.strip(), value.strip(), "topic", episode.topic, "printed", episode.first_at,
                    episode.source, episode.first.line, episode.first.text,
                )  # fmt: skip
                found.setdefault((episode.topic, setting.key, setting.value), setting)
    return sorted(found.values(), key=lambda s: (s.at or 0, s.key))


def replication_factor(facts: Facts, topic: str) -> int | None:
    """Replication factor of *topic* as described last."""
    found = [s for s in facts.settings if s.key == "replication.factor" and s.owner == topic and s.value.isdigit()]
    return int(found[-1].value) if found else None
