"""What the simulation of a consumer group is told, and what it answers. Times in seconds, offsets in records."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mqlab.models.group_curves import Rising

Partition = tuple[str, int]
"""Topic and number."""


class Protocol(StrEnum):
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
    protocol: Protocol = Protocol.EAGER
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
