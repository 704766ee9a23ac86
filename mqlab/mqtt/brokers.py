"""MQTT brokers: which sources tell of which, their software and its settings, and what they publish about themselves.

The parts of a rotated log are one broker's, and so are the files that HiveMQ writes beside its log. Two brokers tell
themselves apart by their folders or names: ``logs/mosquitto-east.log`` and ``metrics/sys-topics-east.log``.

Logs may be gathered twice, or as parts that overlap: whoever copies a log that is rotated meanwhile has its last lines
twice, and they would be twice as many takeovers. Two brokers may write the same line in the same second, but not all of
their lines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from math import inf

from mqlab.facts import Episode, Facts, Series, Setting
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models import mqtt as models_mqtt
from mqlab.models.kafka_defaults import Version
from mqlab.models.mqtt import Queue, Strategy, strategy
from mqlab.shared.actors import base_name
from mqlab.sources import Role
from mqlab.words import room

say = room("mqtt")

LEAST = 10
"""Messages below which nothing is told from what is on its way: the smallest default of an in-flight window (HiveMQ's
receive maximum; mosquitto has 20, EMQX 32)."""
EDGE = 2.0
"""Seconds by which lines of two logs about one moment may differ: a log may print whole seconds, and hosts whose clocks
differ by a second are not told apart (``clocks.offsets.ERROR``)."""
WHOLE_SECONDS = 1.0
"""Brokers print whole seconds: a wait may be that much longer, or shorter, than its lines say."""
SKEW = 5.0
"""Seconds by which clocks of two hosts may differ unnoticed where nothing in the material settles it. Judgement, no
default behind it."""
NEAR = 0.05
"""How far two counts of one thing may differ: mosquitto publishes its values every ten seconds (sys_interval), which is
this part of some three minutes."""
SHORTEST = 20.0
"""Seconds of growth that a rate is taken from: two publications of the broker's values, every 10 s by default."""
LASTING = 60.0
"""Seconds that a client must be away: one that is started again is back sooner (Kubernetes gives a pod 30 s to stop,
terminationGracePeriodSeconds), and at the end all may be stopped."""

BROKER_KINDS = (
    "client-connected", "client-disconnected", "session-takeover", "session-expired", "session-queue-dropping",
    "broker-starting", "broker-stopping", "bridge-connecting", "publish-received", "publish-sent", "publish-denied",
    "subscribe-denied", "flapping-detected", "session-killed", "rate-limited",
)  # fmt: skip
"""Events of which only a broker's own log tells."""
_BESIDE = re.compile(r"[-_.]?(event|dropped|denied)$")
"""What HiveMQ appends for logs of single subjects (logback.xml: event.log)."""
_WORD = re.compile(r"[A-Za-z]+\d*|\d+")


@dataclass(frozen=True, slots=True)
class Broker:
    """One MQTT broker as the material shows it."""

    name: str
    sources: tuple[str, ...]
    """Its logs, sorted; without any, what tells its statistics."""


@per_facts
def brokers(facts: Facts) -> tuple[Broker, ...]:
    """The MQTT brokers of which there are logs, else those of which there are statistics, by name."""
    logs = {e.source for e in facts.of_kind(*BROKER_KINDS) if e.system == "mqtt"}
    by_log: dict[tuple[str, str], list[str]] = defaultdict(list)
    products = {c.source: c.software for c in facts.coverage if c.source.startswith("-")}  # standard input has no name
    for source in sorted(logs or {s.source for s in facts.series if s.name.startswith("mqtt.")}):
        name = products.get(source) or base_name(source)
        by_log[source.rpartition("/")[0], _BESIDE.sub("", name)].append(source)
    for folder, name in [key for key in by_log if not key[1]]:
        own = by_log.pop((folder, name))
        beside = [key for key in by_log if key[0] == folder]
        by_log[beside[0] if len(beside) == 1 else (folder, "broker")].extend(own)
    same = Counter(name for _, name in by_log)
    return tuple(
        Broker(f"{folder}/{name}".lstrip("/") if same[name] > 1 else name, tuple(sorted(own)))
        for (folder, name), own in sorted(by_log.items())
    )


@per_facts
def broker_of(facts: Facts, source: str) -> str | None:
    """The name of the broker that *source* tells of: its log, or statistics, settings or a dump beside its log.

    None where several brokers are known and nothing in the name of *source* tells them apart.
    """
    known = brokers(facts)
    own = [b.name for b in known if source in b.sources or len(known) == 1]
    return own[0] if own else named({b.name: words(" ".join(b.sources)) for b in known}, source)


def words(text: str) -> frozenset[str]:
    """The words and numbers of a name."""
    return frozenset(word.lower() for word in _WORD.findall(text))


def named(known: Mapping[str, Collection[str]], text: str) -> str | None:
    """Which of *known*, by words of theirs that no other one has, *text* is named after most; None where two are."""
    count = Counter(word for own in known.values() for word in own)
    alone = {name: sum(count[word] == 1 for word in words(text) & set(own)) for name, own in known.items()}
    best = [name for name, many in alone.items() if many and many == max(alone.values())]
    return best[0] if len(best) == 1 else None


KNOWN = ("mosquitto", "emqx", "hivemq", "rabbitmq", "vernemq", "aws")
"""Products, as their formats begin."""
_STRATEGIES = ("broker.shared_subscription_strategy", "mqtt.shared_subscription_strategy")
_EXPIRIES = (
    "persistent_client_expiration", "mqtt.session_expiry_interval", "zone.external.session_expiry_interval",
)  # fmt: skip
_UNITS = {"s": 1.0, "h": 3600.0, "d": 86_400.0, "w": 7 * 86_400.0, "m": 30 * 86_400.0, "y": 365 * 86_400.0}
_LIMITS = frozenset({"max_queued_messages", "max_queued_bytes", "max_queue_size", "max-queue-size"})


def _about(facts: Facts, source: str, broker: str | None) -> bool:
    return broker is None or broker_of(facts, source) in (broker, None)


@per_facts
def software(facts: Facts, broker: str | None) -> str | None:
    """The product that *broker* is: by its logs, settings or lists; None where nothing tells."""
    logs = {s for b in brokers(facts) if broker in (None, b.name) for s in b.sources}
    products = {c.source: c.software for c in facts.coverage if c.software in KNOWN}
    near = sorted(name for source, name in products.items() if source in logs)
    beside = [name for source, name in sorted(products.items()) if _about(facts, source, broker)]
    return next(iter([*near, *beside]), None)


@per_facts
def version(facts: Facts, broker: str | None) -> str | None:
    """What it printed at its last start."""
    lines = [e for e in facts.of_kind("broker-starting") if e.system == "mqtt" and _about(facts, e.source, broker)]
    return lines[-1].reason if lines else None


@per_facts
def settings(facts: Facts, broker: str | None) -> Mapping[str, str]:
    """Its settings outside of bridges, by key; of a key that stands several times the last one."""
    return {s.key: s.value for s in _own(facts, broker)}


def _own(facts: Facts, broker: str | None) -> list[Setting]:
    return [s for s in facts.settings if s.scope == "broker" and s.owner is None and _about(facts, s.source, broker)]


@per_facts
def queue(facts: Facts, broker: str | None) -> Queue | None:
    """The queue of each of its sessions; None where its software is not known, or where bytes limit it."""
    configured = settings(facts, broker)
    if configured.get("max_queued_bytes", "0") not in ("0", ""):
        return None
    return models_mqtt.queue(software(facts, broker) or "", Version.parse(version(facts, broker)), configured)


def limit_told(facts: Facts, broker: str | None) -> tuple[Evidence, ...]:
    """The line that sets the limit of its queues, else one that says that there is none."""
    every = [s for s in _own(facts, broker) if s.key in _LIMITS or s.key.endswith("max_mqueue_len")]
    own = [s for s in every if s.value != "0"] or every
    return tuple(s.evidence.because(say("limit-line", unlimited=s.value == "0")) for s in own[-1:])


def tells_of_drops(facts: Facts) -> bool:
    """Brokers' logs or counters tell when a queue drops."""
    logs = any(facts.logs_of(name, Role.BROKER_LOG) for name in KNOWN)
    return logs or bool(facts.named("mqtt.publish_dropped", "mqtt.queue_full_dropped"))


def expiry(facts: Facts, broker: str | None) -> float | None:
    """Seconds after which it gives up a session whose client is away; None where it never does.

    mosquitto writes ``persistent_client_expiration 14d`` (h, d, w, m, y), EMQX ``session_expiry_interval = 2h``.
    """
    configured = settings(facts, broker)
    value = next((configured[key].strip() for key in _EXPIRIES if key in configured), "")
    number, unit = (value, "s") if value.isdigit() else (value[:-1], value[-1:])
    return float(number) * _UNITS[unit] if number.isdigit() and unit in _UNITS else None


@per_facts
def dispatch(facts: Facts, broker: str | None) -> Strategy | None:
    """How it deals the messages of a share group; None where that is not known.

    EMQX deals at random in 4.x and in turn in 5.x, unless it is told otherwise.
    """
    configured = settings(facts, broker)
    by_setting = next((strategy(configured[key]) for key in _STRATEGIES if key in configured), None)
    product, release = software(facts, broker), Version.parse(version(facts, broker))
    if by_setting is None and product == "emqx" and release is not None:
        return Strategy.RANDOM if release < Version(5, 0) else Strategy.ROUND_ROBIN
    usual = {"mosquitto": Strategy.TURNS, "hivemq": Strategy.QUEUE}.get(product or "")
    return usual if by_setting is None else by_setting


def agree(one: float, other: float) -> bool:
    """Two counts of messages are the same, but for those on their way."""
    return abs(one - other) <= max(2.0, NEAR * max(one, other))


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
    own = [s for s in facts.named(name) if s.points and _about(facts, s.source, broker)]
    return own[0] if len(own) == 1 else None


def value(series: Series | None, at: float) -> float | None:
    """What it was at that moment, by its last sample: a broker publishes a value only when it changes."""
    points = series.points if series is not None else ()
    place = bisect_right(points, at, key=lambda point: point[0])
    return points[place - 1][1] if place else None


def rise(series: Series | None, since: float, until: float) -> Rise | None:
    """From its first sample in that time to its last one; None where there are no two."""
    inside = [p for p in series.points if since <= p[0] <= until] if series is not None else []
    if series is None or len(inside) < 2 or inside[-1][0] <= inside[0][0]:
        return None
    return Rise(inside[0][0], inside[-1][0], inside[-1][1] - inside[0][1], series)


def last_rise(facts: Facts, rise: Rise) -> float | None:
    """When its series rose for the last time; None where that goes on to the end of the source that tells it.

    It has ended where the source goes on for longer than the longest time between two rises, give or take half of the
    time between two samples.
    """
    rose = [b for a, b in pairwise(rise.series.points) if b[0] > rise.since and b[1] > a[1]]
    if not rose:
        return rise.since
    waits = [b - a for a, b in pairwise([rise.since, *(at for at, _ in rose)])]
    step = min((b - a for (a, _), (b, _) in pairwise(rise.series.points) if b > a), default=0.0)
    told_until = max(s.points[-1][0] for s in facts.series if s.source == rise.series.source and s.points)
    return rose[-1][0] if told_until - rose[-1][0] + step / 2 > max(waits) else None


def increase(series: Series | None, since: float, until: float) -> float | None:
    """How much a counter rose in that time; None where it has no sample before the end of it.

    A broker publishes a value at an interval, and only where it changed: what a sample tells rose evenly within the
    interval before it, which is the shortest time between two samples. A fall is a restart, which begins at zero.
    """
    points = series.points if series is not None else ()
    if not points or points[0][0] > until:
        return None
    interval = min((b - a for (a, _), (b, _) in pairwise(points)), default=0.0)
    rose = 0.0
    for (before, low), (at, high) in pairwise(points):
        begin = max(before, at - interval)
        share = (min(until, at) - max(since, begin)) / (at - begin) if at > begin else float(since < at <= until)
        rose += (high - low if high >= low else high) * max(0.0, share)
    return rose


def counted(facts: Facts, series: Series | None, broker: str | None) -> float | None:
    """How much a counter rose: from zero where the start of its broker is told, else from its first value.

    None where it has no sample.
    """
    if series is None or not series.points:
        return None
    first, began = series.points[0]
    own = {source for one in brokers(facts) if broker in (None, one.name) for source in one.sources}
    starts = (e for e in facts.of_kind("broker-starting") if e.source in own and e.first_at is not None)
    since_start = any((e.first_at or first) <= first for e in starts)
    return (increase(series, first, inf) or 0.0) + (began if since_start else 0.0)


def pace(series: Series, since: float, until: float) -> float | None:
    """How much a counter rose a second; None where that is no time, or none of its own."""
    rose = increase(series, since, until) if series.points and series.points[0][0] <= since < until else None
    return None if rose is None else rose / (until - since)


@per_facts
def end_of(facts: Facts) -> float:
    """The last moment that brokers' logs and values, and publishers' ledgers, tell of.

    Values are sampled, and logs may be silent at the end, while messages are still published. Receivers and clients
    are asked only where nothing else tells.
    """
    logs = {source for broker in brokers(facts) for source in broker.sources}
    moments = [(c.source, c.last_at) for c in facts.coverage if c.last_at is not None]
    ends = [at for source, at in moments if source in logs]
    ends += [s.points[-1][0] for s in facts.series if s.points and s.name.startswith("mqtt.")]
    ends += [flow.last_at for flow in facts.flows if flow.sender]
    return max(ends, default=max((at for _, at in moments), default=0.0))


_SHARED = 5
"""Different lines about clients that two logs must share: the same client may connect to two brokers in one second, but
not so many of them."""
_NEARLY_ALL = 0.9
"""Share of what both tell of the time that they have in common: an episode at its edge may be cut."""
_Key = tuple[object, ...]


def once(facts: Facts) -> Facts:
    """*facts* without the episodes of a log that another one of the same format tells as well."""
    by_log = _by_log(facts)
    gone: set[int] = set()
    for first, second in _pairs(facts, by_log):
        left = [e for e in by_log[first] if id(e) not in gone]
        shared = _shared(left, by_log[second])
        for episode in by_log[second]:
            key = _key(episode)
            if shared[key] > 0 and id(episode) not in gone:
                shared[key] -= 1
                gone.add(id(episode))
    return replace(facts, episodes=tuple(e for e in facts.episodes if id(e) not in gone)) if gone else facts


def _by_log(facts: Facts) -> Mapping[str, list[Episode]]:
    found: dict[str, list[Episode]] = defaultdict(list)
    for episode in facts.episodes:
        if episode.system == "mqtt" and episode.first_at is not None:
            found[episode.source].append(episode)
    return found


def _pairs(facts: Facts, by_log: Mapping[str, Sequence[Episode]]) -> Iterator[tuple[str, str]]:
    """Logs of one format, sorted, of which nearly all that the one tells of a time the other one tells, too."""
    formats = {c.source: c.format for c in facts.coverage if c.role.is_log}
    logs = sorted(source for source in by_log if source in formats)
    for first, second in combinations(logs, 2):
        if formats[first] == formats[second] and _is_part(by_log[first], by_log[second]):
            yield first, second


def _is_part(first: Sequence[Episode], second: Sequence[Episode]) -> bool:
    since = max(first[0].first_at or 0.0, second[0].first_at or 0.0)
    until = min(first[-1].first_at or 0.0, second[-1].first_at or 0.0)
    both = [[e for e in log if since <= (e.first_at or 0.0) <= until] for log in (first, second)]
    shared = sum((_shared(*both)).values())
    about = {key for key in set(map(_key, both[0])) & set(map(_key, both[1])) if key[-1]}
    return len(about) >= _SHARED and shared >= _NEARLY_ALL * min(len(both[0]), len(both[1]))


def _shared(first: Sequence[Episode], second: Sequence[Episode]) -> Counter[_Key]:
    return Counter(map(_key, first)) & Counter(map(_key, second))


def _key(episode: Episode) -> _Key:
    line = (episode.kind, episode.first_at, episode.last_at, episode.count, episode.first.text, episode.last.text)
    return (*line, episode.topic, episode.client_id)
