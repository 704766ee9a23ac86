"""Rows of the settings audit, how many records a second there were, and what retention is about to delete unread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mqlab.delivery import durability
from mqlab.delivery.durability import topics
from mqlab.facts import Facts, Series, span
from mqlab.findings import Evidence
from mqlab.kafka import groups
from mqlab.memo import per_facts
from mqlab.models.lag import DAY, Overtaken, overtaken, time_lag
from mqlab.shared.configured import Value
from mqlab.shared.counters import increase, summed
from mqlab.shared.queues import Pace, Points, lag, next_read, of_groups, paces
from mqlab.words import room
from mqlab.words.filling import Value as Shown

say = room("risks")

_MOST = 5
"""Names that a row lists, and places that it shows: what fits on a line of the screen."""


@dataclass(frozen=True, slots=True)
class Risk:
    """One setting of one owner, and what it may lose or double each time it comes to that; nothing says that it did."""

    setting: str
    scope: str
    """``producer``, ``topic``, ``consumer`` or ``group``."""
    who: str | None
    """Its name, or several; None where it has none."""
    value: str
    effective: str
    """What it means with that version, that cluster and the other settings."""
    may: str
    """What may happen, in a few words."""
    incident: str | None
    """Slug of the class; None where none is of it."""
    records: int | None
    """Most likely number; None where only its bounds are known."""
    low: int
    high: int | None
    """None where nothing bounds it."""
    how: str
    """How the numbers come about: rate, time, assumption."""
    evidence: tuple[Evidence, ...] = ()
    due_seconds: float | None = None
    """Seconds from the last snapshot until it happens if all goes on as it did; None where that is not known."""

    @property
    def owner(self) -> str:
        """``producer orders-app``, ``topic orders``, ``consumer sink-1`` or ``group billing on orders``."""
        return say("owner", scope=self.scope, who=self.who)


def risk(
    case: str,
    whose: tuple[str, str, str | None, str | Value],
    incident: str | None,
    records: tuple[int | None, int | None],
    evidence: tuple[Evidence, ...],
    **values: Shown,
) -> Risk:
    """The row of a *case*, whose words show *values*.

    Args:
        case: names the words of the room.
        whose: setting, scope, name and value.
        incident: slug of the class.
        records: most likely number and most.
        evidence: places that show it.
        values: what the words show.
    """
    setting, scope, who, value = whose
    if isinstance(value, Value):
        value = value.value if value.setting is not None else say("default", value=value.value)
    effective, may, how = (say(key, case=case, **values) for key in ("effective", "risk", "reckoning"))
    return Risk(setting, scope, who, value, effective, may, incident, records[0], 0, records[1], how, evidence)


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    return say("names", names=tuple(names)) if names else ""


def shown(places: Iterable[Evidence | None]) -> tuple[Evidence, ...]:
    """The first of the places that are known, each once."""
    return tuple(dict.fromkeys(place for place in places if place is not None))[:_MOST]


@dataclass(frozen=True, slots=True)
class Rate:
    """Records a second while there were any."""

    per_second: float
    source: str
    """What counted them: a key of the room's ``[sources]``."""

    def within(self, seconds: float) -> int:
        """Records of that time, rounded."""
        return round(self.per_second * seconds)


def told(rate: Rate | None) -> str | None:
    """``320 records a second (counters of the producer)``."""
    return None if rate is None else say("rate", per_second=rate.per_second, source=rate.source)


@per_facts
def of_producer(facts: Facts, owner: str | None) -> Rate | None:
    """What *owner* sent: by its counters, its ledgers, else what came into the topics that it alone writes."""
    own = [s for s in facts.named("producer.record_sends") if owner and s.labels.get("client_id") == owner]
    alone = [topic for topic in written(facts, owner) if durability.producers(facts, topic) == (owner,)]
    return _counted(own, "producer") or of_topics(facts, alone)


@per_facts
def of_consumer(facts: Facts, owner: str | None, group: str | None) -> Rate | None:
    """What *owner* read: by its counters, else by the commits of its whole group."""
    own = [s for s in facts.named("consumer.records_consumed") if owner and s.labels.get("client_id") == owner]
    plain = [s for s in own if "topic" not in s.labels] or own
    return _counted(plain, "consumer") or of_group(facts, group)


@per_facts
def of_group(facts: Facts, group: str | None) -> Rate | None:
    """By how much the committed offsets of *group* moved, all its topics together."""
    read = [queues for (name, _), queues in of_groups(facts).items() if name == group]
    moved = sum(max(0, pace.consumed) / pace.seconds for queues in read for pace in _paces(queues))
    return Rate(moved, "commits") if moved > 0 else None


def _paces(queues: Mapping[str, Points]) -> list[Pace]:
    return [pace for pace in paces(queues, float("-inf"), float("inf")).values() if pace.seconds > 0]


@per_facts
def of_topic(facts: Facts, topic: str) -> Rate | None:
    """What came into *topic*: by ledgers of acknowledged ids, brokers' counters, else ends of the log in snapshots."""
    parts = [p for p in facts.parts if p.topic == topic and p.role == "acked"]
    since, until = span(at for p in parts for at in (p.first_at, p.last_at))
    messages = sum(p.messages for p in parts)
    if since is not None and until is not None and until > since and messages:
        return Rate(messages / (until - since), "ledgers")
    counters = [s for s in facts.named("broker.messages_in") if s.labels.get("topic") == topic]
    if counted := _counted(counters, "brokers"):
        return counted
    # The group whose snapshots show most tells it; others see the same ends.
    groups = [queues for (_, name), queues in of_groups(facts).items() if name == topic]
    most = max((sum(max(0, p.produced) / p.seconds for p in _paces(queues)) for queues in groups), default=0.0)
    return Rate(most, "snapshots") if most > 0 else None


def of_topics(facts: Facts, names: Iterable[str]) -> Rate | None:
    """What came into all of *names*; None where it is not known of any."""
    rates = [rate for topic in names if (rate := of_topic(facts, topic)) is not None]
    return Rate(sum(r.per_second for r in rates), rates[0].source) if rates else None


@per_facts
def written(facts: Facts, owner: str | None) -> tuple[str, ...]:
    """Topics that *owner* may write: those that its ledgers and counters name, else all of unknown writers."""
    return tuple(topic for topic in topics(facts) if owner in durability.producers(facts, topic))


def _counted(series: Sequence[Series], source: str) -> Rate | None:
    """Increase over the time in which there was any, whichever of *series* showed it."""
    steps = [(since, until, more) for since, until, more in summed(series) if more > 0 and until > since]
    seconds, reached = 0.0, float("-inf")
    for since, until, _ in steps:
        seconds += max(0.0, until - max(since, reached))
        reached = max(reached, until)
    return Rate(sum(more for _, _, more in steps) / seconds, source) if seconds else None


_LEAST = 60.0
"""Seconds of snapshots below which no pace is told: scrape_interval of Prometheus by default."""
_TIMES = (("retention.ms", 0.001), ("log.retention.minutes", 60.0), ("log.retention.hours", 3600.0))
"""Settings of the time, the one that wins first, with their unit in seconds (KafkaConfig)."""
_USUAL_HOURS = 168
"""log.retention.hours, where nobody says otherwise."""


def retention_risks(facts: Facts) -> Iterator[Risk]:
    """One row for each group and topic of which records would be deleted unread within a day, if all goes on so."""
    for (group, topic), queues in groups.topics(facts).items():
        if topic.startswith("__") or durability.compacted(facts, topic):
            continue
        seconds, setting = _kept(facts, topic, len(queues))
        due = [loss for points in queues.values() if (loss := _overtaken(points, seconds)) is not None]
        if due:
            yield _risk((group, topic), queues, due, (seconds, setting))


def _kept(facts: Facts, topic: str, partitions: int) -> tuple[float, Value]:
    """Seconds for which a record of *topic* stays at least, by time or by size, and the setting that says so."""
    by_time = (_USUAL_HOURS * 3600.0, Value("log.retention.hours", str(_USUAL_HOURS), None))
    for key, unit in reversed(_TIMES):
        setting = durability.in_force(facts, topic, key)
        if setting is not None and setting.value.lstrip("-").isdigit():
            seconds = int(setting.value) * unit if int(setting.value) >= 0 else float("inf")
            by_time = (seconds, setting)
    setting = durability.in_force(facts, topic, "retention.bytes")
    series = [s for s in facts.named("broker.bytes_in") if s.labels.get("topic") == topic]
    came = increase(series, float("-inf"), float("inf")) if series else None
    if setting is None or not setting.value.isdigit() or came is None or came.value <= 0 or came.until <= came.since:
        return by_time
    fills = int(setting.value) * (came.until - came.since) * max(1, partitions) / came.value
    return (fills, setting) if fills < by_time[0] else by_time


def _overtaken(points: Points, seconds: float) -> tuple[Pace, Overtaken] | None:
    """What is to come in one partition, where the snapshots are long enough to say."""
    pace = paces({"": points}, float("-inf"), float("inf")).get("")
    last = points[-1]
    if pace is None or pace.seconds < _LEAST:
        return None
    # Lag varies by what comes in between two snapshots anyway.
    if lag(last) - lag(points[0]) <= pace.produced / (len(points) - 1):
        return None
    waited = time_lag([(p.at or 0.0, p.end or 0) for p in points], next_read(last), last.at or 0.0)
    if waited is None:
        return None
    age = waited.likely if waited.likely is not None else waited.low
    found = overtaken(age, seconds, pace.produced / pace.seconds, max(0, pace.consumed) / pace.seconds)
    return (pace, found) if found is not None and found.seconds < DAY else None


def _risk(
    key: tuple[str, str],
    queues: Mapping[str, Points],
    partitions: list[tuple[Pace, Overtaken]],
    rule: tuple[float, Value],
) -> Risk:
    due, waiting = min(loss.seconds for _, loss in partitions), sum(lag(points[-1]) for points in queues.values())
    came = sum(pace.produced / pace.seconds for pace, _ in partitions)
    read = sum(pace.consumed / pace.seconds for pace, _ in partitions)
    last = max((points[-1] for points in queues.values()), key=lambda p: (p.at or 0.0, p.source, p.line or 0))
    place = Evidence(last.source, last.line, last.text, say("stood"))
    row = risk(
        "retention",
        (rule[1].key, "group", say("group", group=key[0], topic=key[1]), rule[1]),
        "retention-loss",
        (sum(loss.records for _, loss in partitions), sum(loss.most for _, loss in partitions)),
        (*((rule[1].evidence,) if rule[1].evidence else ()), place),
        kept=rule[0],
        waiting=waiting,
        came=came,
        read=read,
        until=due,
    )
    return replace(row, due_seconds=due)
