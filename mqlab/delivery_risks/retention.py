"""Whether retention is about to delete what a group has not read: its lag in time against retention.ms and .bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mqlab.delivery_log import durability
from mqlab.delivery_log.durability import Told
from mqlab.delivery_risks.rows import Risk
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.groups.queues import Pace, Points, lag, paces
from mqlab.kafka import groups
from mqlab.models.overtaking import DAY, Overtaken, overtaken
from mqlab.models.time_lag import time_lag
from mqlab.questions.traffic import increase
from mqlab.units import digits, duration, number

_LEAST = 60.0
"""Seconds of snapshots below which no pace is told."""
_TIMES = (("retention.ms", 0.001), ("log.retention.minutes", 60.0), ("log.retention.hours", 3600.0))
"""Settings of the time, the one that wins first, with their unit in seconds (KafkaConfig)."""
_USUAL = 168 * 3600.0
"""log.retention.hours, where nobody says otherwise."""


def retention_risks(facts: Facts) -> Iterator[Risk]:
    """One row for each group and topic of which records would be deleted unread within a day, if all goes on so."""
    for (group, topic), queues in groups.topics(facts).items():
        if topic.startswith("__") or durability.compacted(facts, topic):
            continue
        seconds, told = kept(facts, topic, len(queues))
        found = [one for points in queues.values() if (one := _overtaken(points, seconds)) is not None]
        if found:
            yield _risk((group, topic), queues, found, (seconds, told))


def kept(facts: Facts, topic: str, partitions: int) -> tuple[float, Told]:
    """Seconds for which a record of *topic* stays at least, by time or by size, and the setting that says so."""
    by_time, told = _by_time(facts, topic)
    by_size = _by_size(facts, topic, partitions)
    return by_size if by_size is not None and by_size[0] < by_time else (by_time, told)


def _by_time(facts: Facts, topic: str) -> tuple[float, Told]:
    for key, unit in _TIMES:
        told = durability.in_force(facts, topic, key)
        if told is not None and told.value.lstrip("-").isdigit():
            seconds = int(told.value) * unit if int(told.value) >= 0 else float("inf")
            return seconds, Told(f"{key} = {told.value}", told.evidence)
    return _USUAL, Told("log.retention.hours = 168 (default)", None)


def _by_size(facts: Facts, topic: str, partitions: int) -> tuple[float, Told] | None:
    """How long it takes to fill the size that a partition may have, at the bytes that came in."""
    told = durability.in_force(facts, topic, "retention.bytes")
    series = [s for s in facts.named("broker.bytes_in") if s.labels.get("topic") == topic]
    came = increase(series, float("-inf"), float("inf")) if series else None
    if told is None or not told.value.isdigit() or came is None or came.value <= 0 or came.until <= came.since:
        return None
    a_second = came.value / (came.until - came.since) / max(1, partitions)
    return int(told.value) / a_second, Told(f"retention.bytes = {told.value}", told.evidence)


def _overtaken(points: Points, seconds: float) -> tuple[Pace, Overtaken] | None:
    """What is to come in one partition, where the snapshots are long enough to say."""
    pace = paces({"": points}, float("-inf"), float("inf")).get("")
    last = points[-1]
    if pace is None or pace.seconds < _LEAST or not _falls_behind(points, pace):
        return None
    waited = time_lag([(p.at or 0.0, p.end or 0) for p in points], last.committed or 0, last.at or 0.0)
    if waited is None:
        return None
    age = waited.likely if waited.likely is not None else waited.low
    found = overtaken(age, seconds, pace.produced / pace.seconds, max(0, pace.consumed) / pace.seconds)
    return (pace, found) if found is not None and found.seconds < DAY else None


def _falls_behind(points: Points, pace: Pace) -> bool:
    """Lag grew by more than comes in between two snapshots, which is what it may vary by anyway."""
    return lag(points[-1]) - lag(points[0]) > pace.produced / (len(points) - 1)


def _risk(
    key: tuple[str, str], queues: Mapping[str, Points], found: list[tuple[Pace, Overtaken]], rule: tuple[float, Told]
) -> Risk:
    due, waiting = min(one.seconds for _, one in found), sum(lag(points[-1]) for points in queues.values())
    came = sum(pace.produced / pace.seconds for pace, _ in found)
    read = sum(pace.consumed / pace.seconds for pace, _ in found)
    setting, _, value = rule[1].value.partition(" = ")
    last = max((points[-1] for points in queues.values()), key=lambda p: (p.at or 0.0, p.source, p.line or 0))
    place = Evidence(last.source, last.line, last.text, "where the group stood")
    return Risk(
        setting, f"group {key[0]} on {key[1]}", value, f"a record stays for {duration(rule[0])}",
        "records are deleted before the group reads them", "retention-loss",
        sum(one.records for _, one in found), 0, sum(one.most for _, one in found),
        f"{number(waiting)} wait, {digits(came)} a second come in and {digits(read)} are read: the oldest goes in "
        f"{duration(due)} at the earliest; records of a day if it goes on so, and if reading stops",
        (*((rule[1].evidence,) if rule[1].evidence else ()), place), due,
    )  # fmt: skip
