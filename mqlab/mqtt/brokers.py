"""MQTT brokers: which sources tell of which, their software, bridges' ends, and what they publish about themselves.

Which sources tell of which MQTT broker: logs that are parts of one, and statistics and settings beside them.

The parts of a rotated log are one broker's, and so are the files that HiveMQ writes beside its log. Two brokers tell
themselves apart by their folders or names: ``logs/mosquitto-east.log`` and ``metrics/sys-topics-east.log``.

What software an MQTT broker is, by its version and settings: how large its queues are and how it deals shares.

At which broker a bridge of MQTT ends: where its client id connects, else the one that its address is named after.

Values that an MQTT broker publishes about itself, at any moment: it publishes a value only when it changes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab.facts import Episode, Facts, Series, Setting
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models import mqtt as models_mqtt
from mqlab.models.kafka_defaults import Version
from mqlab.models.mqtt import Queue, Strategy, strategy
from mqlab.shared.actors import base_name

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


KNOWN = ("mosquitto", "emqx", "hivemq", "rabbitmq", "vernemq", "aws")
_STRATEGIES = ("broker.shared_subscription_strategy", "mqtt.shared_subscription_strategy")
_EXPIRIES = (
    "persistent_client_expiration", "mqtt.session_expiry_interval", "zone.external.session_expiry_interval",
)  # fmt: skip
_UNITS = {"s": 1.0, "h": 3600.0, "d": 86_400.0, "w": 7 * 86_400.0, "m": 30 * 86_400.0, "y": 365 * 86_400.0}
_LIMITS = frozenset({"max_queued_messages", "max_queued_bytes", "max_queue_size", "max-queue-size"})


@per_facts
def software(facts: Facts, broker: str | None) -> str | None:
    """The product that *broker* is: by its logs, settings or lists; None where nothing tells."""
    own = {s for b in brokers(facts) if broker in (None, b.name) for s in b.sources}
    products = {c.source: c.software for c in facts.coverage if c.software in KNOWN}
    near = sorted(products[s] for s in own if s in products)
    every = [*near, *(name for source, name in sorted(products.items()) if broker_of(facts, source) in (broker, None))]
    return next(iter(every), None)


@per_facts
def version(facts: Facts, broker: str | None) -> str | None:
    """What it printed at its last start."""
    lines = [e for e in facts.of_kind("broker-starting") if e.system == "mqtt" and _about(facts, e.source, broker)]
    return lines[-1].reason if lines else None


def _about(facts: Facts, source: str, broker: str | None) -> bool:
    return broker is None or broker_of(facts, source) in (broker, None)


@per_facts
def settings(facts: Facts, broker: str | None) -> Mapping[str, str]:
    """Its settings outside of bridges, by key; of a key that stands several times the last one."""
    return {s.key: s.value for s in _own(facts, broker)}


def _own(facts: Facts, broker: str | None) -> list[Setting]:
    return [s for s in facts.settings if s.scope == "broker" and s.owner is None and _about(facts, s.source, broker)]


@per_facts
def queue(facts: Facts, broker: str | None) -> Queue | None:
    """The queue of each of its sessions; None where its software is not known, or where bytes limit it."""
    told = settings(facts, broker)
    if told.get("max_queued_bytes", "0") not in ("0", ""):
        return None
    return models_mqtt.queue(software(facts, broker) or "", Version.parse(version(facts, broker)), told)


def limit_told(facts: Facts, broker: str | None) -> tuple[Evidence, ...]:
    """The lines that set the limit of its queues."""
    own = [s for s in _own(facts, broker) if s.key in _LIMITS or s.key.endswith("max_mqueue_len")]
    return tuple(Evidence(s.source, s.line, s.text, "the limit of each session's queue") for s in own[-1:])


def expiry(facts: Facts, broker: str | None) -> float | None:
    """Seconds after which it gives up a session whose client is away; None where it never does.

    mosquitto writes ``persistent_client_expiration 14d`` (h, d, w, m, y), EMQX ``session_expiry_interval = 2h``.
    """
    told = settings(facts, broker)
    value = next((told[key].strip() for key in _EXPIRIES if key in told), "")
    if not value[:-1].isdigit() or value[-1:] not in _UNITS:
        return float(value) if value.isdigit() else None
    return float(value[:-1]) * _UNITS[value[-1]]


@per_facts
def dispatch(facts: Facts, broker: str | None) -> Strategy | None:
    """How it deals the messages of a share group; None where that is not known.

    EMQX deals at random in 4.x and in turn in 5.x, unless it is told otherwise.
    """
    told = settings(facts, broker)
    named = next((strategy(told[key]) for key in _STRATEGIES if key in told), None)
    if named is not None:
        return named
    product, release = software(facts, broker), Version.parse(version(facts, broker))
    if product == "emqx" and release is not None:
        return Strategy.RANDOM if release < Version(5, 0) else Strategy.ROUND_ROBIN
    return {"mosquitto": Strategy.TURNS, "hivemq": Strategy.QUEUE}.get(product or "")


_NAME_WORD = re.compile(r"[A-Za-z]+\d*|\d+")


def came(facts: Facts, ids: Collection[str], name: str, there: str) -> tuple[Episode, ...]:
    """Lines with which the other broker lets a bridge in, where that of the broker that opens it is not there."""
    if not several(facts):
        return ()
    lines = [e for e in facts.of_kind("client-connected") if _of_bridge(e.client_id or "", ids, name)]
    return tuple(e for e in lines if broker_of(facts, e.source) == there)


def entered(facts: Facts, ids: Collection[str], name: str, here: str) -> str | None:
    """The only other broker at which a bridge's client id connected, where there are logs of several.

    Without a directive the id is the host's name and that of the bridge, ``host.name`` (``bridge__new``, mosquitto).
    """
    if not several(facts):
        return None
    lines = [e for e in facts.of_kind("client-connected") if _of_bridge(e.client_id or "", ids, name)]
    names = {told for e in lines for told in (broker_of(facts, e.source),) if told and told != here}
    return names.pop() if len(names) == 1 else None


def _of_bridge(client: str, ids: Collection[str], name: str) -> bool:
    return client in ids if ids else client.endswith(f".{name}")


def end(facts: Facts, address: str, here: str) -> str:
    """The broker at an address: that which listens there, else whose sources are named after it; else the address."""
    host = address.split(" ")[0].rsplit(":", 1)[0]
    listening = {_node(facts, s.source) for s in facts.settings if s.key == "listener" and host in s.value.split()[1:]}
    if len(listening) == 1:
        return listening.pop()
    words = _places(facts)
    every = [word for own in words.values() for word in own]
    told = {
        name: sum(1 for word in own & _words_of_name(host) if every.count(word) == 1)
        for name, own in sorted(words.items())
    }
    best = [name for name, count in told.items() if count and count == max(told.values())]
    return best[0] if len(best) == 1 and best[0] != here else address


def _node(facts: Facts, source: str) -> str:
    return (broker_of(facts, source) if several(facts) else None) or source


@per_facts
def _places(facts: Facts) -> dict[str, frozenset[str]]:
    """Broker → words of the names of its sources: its logs, else the files that configure bridges."""
    if several(facts):
        return {b.name: _words_of_name(" ".join(b.sources)) for b in brokers(facts)}
    return {s.source: _words_of_name(s.source) for s in facts.settings if s.key == "bridge"}


def several(facts: Facts) -> bool:
    """Brokers are known by their logs or statistics; the only one of which there are any may be either end."""
    return len(brokers(facts)) > 1


def _words_of_name(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _NAME_WORD.findall(text))


Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Rise:
    """How much a value rose between two of its samples."""

    since: float
    until: float
    by: float
    series: Series

    @property
    def per_second(self) -> float:
        """Rise a second."""
        return self.by / (self.until - self.since)


def gauge(facts: Facts, name: str, broker: str | None) -> Series | None:
    """The series with this canonical name that is *broker*'s; None where there is none, or several nodes tell it."""
    own = [s for s in facts.named(name) if len(s.points) > 0 and _of(facts, s, broker)]
    return own[0] if len(own) == 1 else None


def _of(facts: Facts, series: Series, broker: str | None) -> bool:
    return broker is None or broker_of(facts, series.source) in (broker, None)


def value(series: Series | None, at: float) -> float | None:
    """What it was at that moment: its last sample by then."""
    if series is None:
        return None
    place = bisect_right([moment for moment, _ in series.points], at)
    return series.points[place - 1][1] if place else None


def rise(series: Series | None, since: float, until: float) -> Rise | None:
    """From its first sample in that time to its last one; None where there are no two."""
    inside = [p for p in series.points if since <= p[0] <= until] if series is not None else []
    if series is None or len(inside) < 2 or inside[-1][0] <= inside[0][0]:
        return None
    return Rise(inside[0][0], inside[-1][0], inside[-1][1] - inside[0][1], series)


def increase(series: Series | None, since: float, until: float) -> float | None:
    """How much a counter rose in that time, by what it was at both moments; None where it is not known at either.

    Before its first sample it had that sample's value; a fall is a restart of the broker, which begins at zero.
    """
    if series is None or not series.points or series.points[0][0] > until:
        return None
    begin = value(series, since)
    points = [p for p in series.points if since < p[0] <= until]
    before, rose = series.points[0][1] if begin is None else begin, 0.0
    for _, now in points:
        rose += now - before if now >= before else now
        before = now
    return rose


def counted(series: Series | None, at: float) -> float | None:
    """What a counter was at that moment, on a straight line between two samples.

    After the last one it goes on as before, for one more interval. None before the first one, or where it fell: a
    broker that starts again counts from zero.
    """
    points = series.points if series is not None else ()
    place = bisect_right([moment for moment, _ in points], at)
    if place == 0 or len(points) < 2 or any(b < a for (_, a), (_, b) in pairwise(points)):
        return None
    (begin, before), (end, after) = points[place - 1 : place + 1] if place < len(points) else points[-2:]
    return before + (after - before) * min(2.0, (at - begin) / (end - begin))


@per_facts
def end_of(facts: Facts) -> float:
    """The last moment that brokers' logs and values, and publishers' ledgers, tell of.

    Values are sampled, and logs may be silent at the end, while messages are still published. Receivers and clients
    are asked only where nothing else tells.
    """
    logs = {source for broker in brokers(facts) for source in broker.sources}
    values = [s.points[-1][0] for s in facts.series if s.points and s.name.startswith("mqtt.")]
    told = [c.last_at for c in facts.coverage if c.source in logs and c.last_at is not None]
    sent = [flow.last_at for flow in facts.flows if flow.sender]
    return max(
        [*told, *values, *sent], default=max((c.last_at for c in facts.coverage if c.last_at is not None), default=0.0)
    )
