"""What the simulation of a Kafka group is told, and what it answers. Times in seconds, offsets in records.

Who sets the times after which a silent member is expelled: KIP-62 (classic); KIP-848 and ``GroupCoordinatorConfig``
(consumer, since 4.0).
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mqlab.models.group_consumer import Consumer


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


def lifted(curve: Rising, by: float) -> Rising:
    """*curve*, higher by *by* everywhere."""
    return Rising(curve.times, tuple(value + by for value in curve.values), curve.slope_after)


Action = Callable[[float], None]
"""Something that happens; it is told when."""


class Clock:
    """What is still to happen."""

    def __init__(self) -> None:
        self._planned: list[tuple[float, int, int, Action]] = []
        self._count = 0

    def at(self, time: float, action: Action, rank: int = 1) -> None:
        """Plan *action*; of those of one moment the one with the lowest rank comes first."""
        self._count += 1
        heapq.heappush(self._planned, (time, rank, self._count, action))

    def run(self, until: float) -> None:
        """Let everything happen that is planned up to *until*."""
        while self._planned and self._planned[0][0] <= until:
            time, _, _, action = heapq.heappop(self._planned)
            action(time)


@dataclass(frozen=True, slots=True)
class Rules:
    """Settings of one protocol."""

    settings_of: str
    """Where both are set: consumer or broker."""
    session_setting: str
    """What limits a silence of heartbeats."""
    heartbeat_setting: str


CLASSIC = Rules("consumer", "session.timeout.ms", "heartbeat.interval.ms")
CONSUMER = Rules("broker", "group.consumer.session.timeout.ms", "group.consumer.heartbeat.interval.ms")


def rules(protocol: str | None) -> Rules:
    """Rules of a value of group.protocol; the classic ones where nothing is set."""
    return CONSUMER if (protocol or "").lower() == "consumer" else CLASSIC


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
    commit_seconds: float = 0.0
    """What a poll takes besides its records: the commit above all."""
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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the group."""

    rebalances: tuple[Begun, ...]
    polls: int
    late_polls: int
    """Polls that took the poll interval or longer."""
    longest_seconds: float
    """Of the longest poll; what was not done at the end counts until then."""
    lag: tuple[tuple[float, int], ...]
    """(at, records that wait), from the committed offset."""
    committed: int
    failed_commits: int
    handled: int
    """Records of the polls that were done."""
    repeated: int
    """Records that were handed out more than once."""

    @property
    def final_lag(self) -> int:
        """Records that wait at the end."""
        return self.lag[-1][1]

    @property
    def peak_lag(self) -> int:
        """Most records that wait at any time."""
        return max(lag for _, lag in self.lag)


class Seats(Protocol):
    """A coordinator, as its members see it."""

    def knows(self, consumer: Consumer, /) -> bool:
        """Whether it is a member."""

    def awaits(self, consumer: Consumer, now: float, /) -> bool:
        """Whether a rebalance runs of which it has heard, and that it has not joined."""

    def commits(self, consumer: Consumer, /) -> bool:
        """Whether it can commit now."""

    def join(self, consumer: Consumer, now: float, /, cause: Cause = Cause.JOIN) -> None:
        """It joins, or joins again."""

    def leave(self, consumer: Consumer, now: float, cause: Cause, /) -> None:
        """It is no member any more."""

    def settle(self, consumer: Consumer, now: float, /) -> None:
        """It takes over what it was given, before it polls."""
