"""Which sources tell of which MQTT broker: logs that are parts of one, and statistics and settings beside them.

The parts of a rotated log are one broker's, and so are the files that HiveMQ writes beside its log. Two brokers tell
themselves apart by their folders or names: ``logs/mosquitto-east.log`` and ``metrics/sys-topics-east.log``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.questions.actors import base_name

BROKER_KINDS = (
    "client-connected", "client-disconnected", "session-takeover", "session-expired", "session-queue-dropping",
    "broker-starting", "broker-stopping", "bridge-connecting", "publish-received", "publish-sent", "publish-denied",
    "subscribe-denied", "flapping-detected", "session-killed", "rate-limited",
)  # fmt: skip
"""Events of which only a broker's own log tells."""
_BESIDE = re.compile(r"[-_.]?(event|dropped|denied)$")
"""What HiveMQ appends for logs of single subjects (logback.xml: event.log)."""
_WORD = re.compile(r"[A-Za-z]*\d*")


@dataclass(frozen=True, slots=True)
class Broker:
    """One MQTT broker as the material shows it."""

    name: str
    sources: tuple[str, ...]
    """Its logs, sorted; without any, what tells its statistics."""


@per_facts
def brokers(facts: Facts) -> tuple[Broker, ...]:
    """The MQTT brokers of which there are logs, else those of which there are statistics, by name."""
    mqtt = [e for e in facts.of_kind(*BROKER_KINDS) if e.system == "mqtt"]
    sources = sorted({e.source for e in mqtt}) or sorted({s.source for s in facts.series if s.name[:5] == "mqtt."})
    by_log: dict[tuple[str, str], list[str]] = defaultdict(list)
    for source in sources:
        folder = source.rpartition("/")[0]
        by_log[folder, _BESIDE.sub("", base_name(source))].append(source)
    for folder, name in [key for key in by_log if not key[1]]:
        own = by_log.pop((folder, name))
        beside = [key for key in by_log if key[0] == folder]
        by_log[beside[0] if len(beside) == 1 else (folder, "broker")].extend(own)
    names = _names(by_log)
    return tuple(Broker(names[key], tuple(sorted(own))) for key, own in sorted(by_log.items()))


@per_facts
def broker_of(facts: Facts, source: str) -> str | None:
    """The name of the broker that *source* tells of: its log, or statistics, settings or a dump beside its log.

    None where several brokers are known and nothing in the name of *source* tells them apart.
    """
    known = brokers(facts)
    own = [b.name for b in known if source in b.sources]
    if own or len(known) == 1:
        return own[0] if own else known[0].name
    words = {b.name: _words(" ".join(b.sources)) for b in known}
    said = _words(source)
    told = {name: len((mine - _others(words, name)) & said) for name, mine in words.items()}
    best = sorted(name for name, count in told.items() if count and count == max(told.values()))
    return best[0] if len(best) == 1 else None


def _names(logs: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], str]:
    """A short name for each log: its own, with its folder where several have the same."""
    found = {}
    for folder, name in logs:
        same = sum(1 for _, other in logs if other == name)
        found[folder, name] = f"{folder}/{name}".lstrip("/") if same > 1 else name
    return found


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text) if word}


def _others(words: Mapping[str, set[str]], name: str) -> set[str]:
    return {word for other, own in words.items() if other != name for word in own}
