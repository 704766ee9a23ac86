"""A course: a Kafka group, its settings, what comes in and how long records take, and what becomes of the group.

Times in seconds, offsets in records.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from math import inf


@dataclass(frozen=True, slots=True)
class Rising:
    """A quantity that never falls; flat before its first point, with a slope of its own after its last."""

    times: tuple[float, ...]
    values: tuple[float, ...]
    slope_after: float = 0.0

    def at(self, time: float) -> float:
        """Its value then."""
        place = bisect_right(self.times, time)
        if place == 0:
            return self.values[0]
        since, value = self.times[place - 1], self.values[place - 1]
        if place == len(self.times):
            return value + self.slope_after * (time - since)
        return value + (self.values[place] - value) * (time - since) / (self.times[place] - since)

    def reached(self, value: float) -> float:
        """First moment at which it is *value*; infinite where it never is."""
        place = bisect_left(self.values, value)
        if place == 0:
            return self.times[0]
        since, below = self.times[place - 1], self.values[place - 1]
        if place == len(self.times):
            return since + (value - below) / self.slope_after if self.slope_after > 0 else inf
        return since + (self.times[place] - since) * (value - below) / (self.values[place] - below)


def rising(points: Sequence[tuple[float, float]], slope_after: float = 0.0) -> Rising:
    """A line through *points*, at least one, by time; one that is lower than an earlier one is lifted to it."""
    times: list[float] = []
    values: list[float] = []
    for time, value in points:
        known = max(value, values[-1]) if values else value
        if times and time <= times[-1]:
            values[-1] = known
        else:
            times.append(time)
            values.append(known)
    return Rising(tuple(times), tuple(values), slope_after)


def workable(steps: Sequence[tuple[float, float]]) -> Rising:
    """Records that one thread can work off since the first of *steps*: (since, seconds per record), by time."""
    points, done = [(steps[0][0], 0.0)], 0.0
    for (since, seconds), (until, _) in pairwise(steps):
        done += (until - since) / seconds
        points.append((until, done))
    return rising(points, 1 / steps[-1][1])


Partition = tuple[str, int]
"""Topic and number."""


class GroupProtocol(StrEnum):
    """How a group gives its partitions to other members."""

    EAGER = "eager"
    """All members give up everything and wait for each other (KIP-62 and before)."""
    COOPERATIVE = "cooperative"
    """Members keep what stays theirs; what moves is given up first and dealt in a follow-up (KIP-429)."""
    CONSUMER = "consumer"
    """The coordinator deals, and nobody waits for anybody (KIP-848)."""


def classic(assignor: str) -> GroupProtocol:
    """How a group without the consumer protocol rebalances, by the name that its members send for their assignor."""
    return GroupProtocol.COOPERATIVE if assignor == "cooperative-sticky" else GroupProtocol.EAGER


class Cause(StrEnum):
    """What made the coordinator begin a generation."""

    JOIN = "join"
    LEAVE = "leave"
    POLL_TIMEOUT = "poll timeout"
    EXPIRY = "heartbeat expiry"
    FOLLOW_UP = "cooperative follow-up"


@dataclass(frozen=True, slots=True)
class Pace:
    """How long one record takes one thread."""

    steps: tuple[tuple[float, float], ...]
    """(since, seconds per record), by time; the first also holds before."""
    deviation: float = 0.0
    """Standard deviation of the seconds of one record: a poll of n records deviates by this times the root of n."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a consumer; times in seconds."""

    records: int = 500
    """max.poll.records."""
    interval: float = 300.0
    """max.poll.interval.ms; for clients before 0.10.1 the session timeout, which did its work then."""
    session: float = 45.0
    """session.timeout.ms."""
    heartbeat: float = 3.0
    """heartbeat.interval.ms: how late a member hears of a rebalance; 0 where only polls send heartbeats."""
    threads: int = 1
    """Threads that share the records of a poll."""
    commit_every: float = 0.0
    """auto.commit.interval.ms in seconds; 0 where each poll is committed when it is done."""


@dataclass(frozen=True, slots=True)
class Busy:
    """A poll that a member is working off when the course begins."""

    began: float
    until: float
    records: int


@dataclass(frozen=True, slots=True)
class Member:
    """One life of a member: a process from its first join to its stop."""

    name: str
    """Its client id, which decides its place in the assignment."""
    settings: Settings
    started: float | None = None
    """When it first joins; None where it is part of the group from the start."""
    stopped: float | None = None
    crashed: bool = False
    """It stops without a word, so that the coordinator waits for its session."""
    static: bool = False
    """It has a group.instance.id: it never says that it leaves."""
    instance: str | None = None
    """That id, where it is not the client id."""
    pace: Pace | None = None
    """Its own; None where the group's holds."""
    stalls: tuple[tuple[float, float], ...] = ()
    """(at, seconds): its first poll from then on takes so much longer, whatever its records."""
    silences: tuple[tuple[float, float], ...] = ()
    """(since, until): its process stands still or is cut off, without heartbeats and polls."""
    busy: Busy | None = None
    """Only of one that is part of the group from the start."""


@dataclass(frozen=True, slots=True)
class Log:
    """One partition: where the group stands in it, and how it grows."""

    partition: Partition
    committed: int
    end: Rising


@dataclass(frozen=True, slots=True)
class Course:
    """A group and what comes at it."""

    since: float
    until: float
    logs: tuple[Log, ...]
    members: tuple[Member, ...]
    pace: Pace
    protocol: GroupProtocol = GroupProtocol.EAGER
    assignor: str = "range"
    delay: float = 3.0
    """group.initial.rebalance.delay.ms in seconds, for a group that was empty."""
    phase: float = 0.0
    """Moves all deviations along; courses that differ in it only are equally likely."""


@dataclass(frozen=True, slots=True)
class Begun:
    """One generation that the coordinator began."""

    at: float
    cause: Cause
    member: str


ROUNDING = 1e-6
"""Records that floating point may leave of a whole one."""

Taken = list[tuple[Partition, int, int]]
"""What a poll returns: partition, first offset, offset after the last."""


@dataclass(slots=True)
class Outcome:
    """What becomes of the group, counted as time goes by."""

    logs: tuple[Log, ...]
    offsets: dict[Partition, int] = field(init=False)
    """Committed ones."""
    handed: dict[Partition, int] = field(init=False)
    """Offset after the last record that anybody was handed."""
    again: dict[Partition, int] = field(init=False)
    """Offset up to which records that were handed out again are counted."""
    rebalances: list[Begun] = field(default_factory=list)
    polls: int = 0
    late_polls: int = 0
    """Polls that took the poll interval or longer."""
    longest_seconds: float = 0.0
    """Of the longest poll; what was not done at the end counts until then."""
    commits: int = 0
    failed_commits: int = 0
    handled: int = 0
    """Records of the polls that were done."""
    repeated: int = 0
    """Records that were handed out more than once."""
    final_lag: int = 0
    """Records that wait at the end, from the committed offset."""

    def __post_init__(self) -> None:
        self.offsets = {log.partition: log.committed for log in self.logs}
        self.handed, self.again = dict(self.offsets), dict(self.offsets)

    def hand_out(self, taken: Taken) -> None:
        """Count records that somebody had before, each once."""
        for partition, first, after in taken:
            handed, again = self.handed[partition], self.again[partition]
            if first < handed:
                self.repeated += max(0, min(handed, after) - max(first, again))
                self.again[partition] = max(again, min(handed, after))
            self.handed[partition] = max(handed, after)


GOLDEN = 0.6180339887498949
"""The golden ratio: multiples of it, less their whole part, spread evenly over 0 to 1."""


def with_settings(course: Course, changed: Mapping[str, float]) -> Course:
    """*course* with these settings of its members, named as in ``Settings``, from the start.

    A poll that a member works off then takes as long as it did, unless it would have had other records or threads.
    """
    members = []
    for member in course.members:
        settings = replace(member.settings, **changed)  # type: ignore[arg-type]
        same = (settings.records, settings.threads) == (member.settings.records, member.settings.threads)
        members.append(replace(member, settings=settings, busy=member.busy if same else None))
    return replace(course, members=tuple(members))


def with_pace(course: Course, factor: float) -> Course:
    """*course*, each record taking *factor* times as long."""

    def slower(pace: Pace) -> Pace:
        return Pace(tuple((since, seconds * factor) for since, seconds in pace.steps), pace.deviation * factor)

    members = tuple(replace(member, pace=member.pace and slower(member.pace)) for member in course.members)
    return replace(course, members=members, pace=slower(course.pace))


def equally_likely(course: Course, count: int) -> Iterator[Course]:
    """*count* courses that differ in the order of short and long polls and in when exactly records came in.

    Records of a partition come earlier by the same part of the time between two of them.
    """
    for phase in (number / count for number in range(count)):
        logs = []
        for number, log in enumerate(course.logs):
            earlier = (phase + number * GOLDEN * (phase > 0)) % 1
            logs.append(replace(log, end=replace(log.end, values=tuple(value + earlier for value in log.end.values))))
        yield replace(course, phase=course.phase + phase, logs=tuple(logs))
