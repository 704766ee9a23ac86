"""A consumer of a simulated Kafka group, which polls, works, commits and polls again, as the Java client does it.

``Fetcher.collectFetch``: a poll returns what was fetched before it, partition after partition, at most
max.poll.records; then partitions without records are fetched again while the application works. A fetch that finds
nothing waits fetch.max.wait.ms (0.5 s) for the first record. Partitions that the member had first are read first: the
fetch session of the broker lists new ones behind those that it knows (KIP-227).
A poll of n records takes n times the time per record, over its threads; it deviates from that by the
deviation of one record times the root of n. The deviations come from a golden-ratio sequence, which spreads evenly
over the normal distribution: the same course has the same polls again.
The heartbeat thread says that it leaves when the next poll does not come within max.poll.interval.ms (KIP-62); it
hears of that at its next commit, which fails, and joins again with its next poll. A static member says nothing: the
coordinator waits for its session, and one that comes earlier gets its old place without a rebalance (KIP-345).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from math import ceil, floor, inf, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from mqlab.models.group_course import (
    GOLDEN,
    ROUNDING,
    Cause,
    Course,
    GroupProtocol,
    Member,
    Outcome,
    Partition,
    Rising,
    Taken,
    workable,
)

if TYPE_CHECKING:
    from mqlab.models.group_simulation import Coordinator, Reconciler

_WAIT = 0.5
"""fetch.max.wait.ms of the client, by default, in seconds."""

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


class Feed:
    """Partitions of one member."""

    def __init__(self, ends: Mapping[Partition, Rising]) -> None:
        self._ends = ends
        self.positions: dict[Partition, int] = {}
        self._fetched: dict[Partition, int] = {}
        self._ranks: dict[Partition, int] = {}

    def keep(self, partitions: Iterable[Partition]) -> None:
        """Give up all but *partitions*."""
        kept = set(partitions)
        for partition in [p for p in self.positions if p not in kept]:
            del self.positions[partition]
            self._fetched.pop(partition, None)

    def add(self, partition: Partition, committed: int) -> None:
        """Read *partition* from its committed offset."""
        self.positions[partition] = committed
        self._ranks.setdefault(partition, len(self._ranks))
        self._fetched.pop(partition, None)

    def take(self, now: float, most: int) -> Taken:
        """Records that a poll returns now, at most so many; nothing where none is there."""
        if not self._fetched:
            self._fetch(now)
        taken: Taken = []
        for partition, fetched in list(self._fetched.items()):
            position = self.positions[partition]
            count = min(most, fetched - position)
            if count > 0:
                taken.append((partition, position, position + count))
                self.positions[partition] = position + count
                most -= count
            if position + count >= fetched:
                del self._fetched[partition]
            if most <= 0:
                break
        if taken:
            self._fetch(now)
        return taken

    def next_record(self, now: float) -> float:
        """When the next record comes in; infinite where none does."""
        return max(now, self._first(self.positions))

    def _fetch(self, now: float) -> None:
        empty = sorted((p for p in self.positions if p not in self._fetched), key=self._ranks.__getitem__)
        ready = self._filled(empty, now)
        first = inf if ready else self._first(empty)
        if first <= now + _WAIT:
            ready = self._filled(empty, first + ROUNDING)
        self._fetched.update(ready)

    def _filled(self, partitions: Iterable[Partition], at: float) -> dict[Partition, int]:
        ends = {p: floor(self._ends[p].at(at) + ROUNDING) for p in partitions}
        return {p: end for p, end in ends.items() if end > self.positions[p]}

    def _first(self, partitions: Iterable[Partition]) -> float:
        return min((self._ends[p].reached(self.positions[p] + 1) for p in partitions), default=inf)


_PLASTIC = 0.7548776662466927
"""Like the golden ratio, which steps from poll to poll: together they spread members and polls evenly over a square."""
_LEAST = 0.2
"""Share of the mean below which no poll falls: a normal distribution has no lower end, work has one."""
_TAIL = 0.005
"""Share of the normal distribution that is cut off at either end: beyond 2.6 standard deviations."""
_SHORTEST = 1e-6
"""Seconds of a poll: less is lost beside seconds since 1970, which have so many digits."""
_USUAL = NormalDist()


class Speed:
    """Of one member; polls that together take less than *grain* seconds are worked off as one."""

    def __init__(self, member: Member, number: int, course: Course, grain: float) -> None:
        self.grain = grain
        self._settings = member.settings
        pace = member.pace or course.pace
        (first, seconds), *later = pace.steps
        self._work = workable([(min(first, course.since), seconds), *later])
        self._deviation = pace.deviation
        self._luck = 0.5 + course.phase + number * _PLASTIC
        self._count = 0
        began = member.busy.began if member.busy else -inf
        self._stalls = [stall for stall in member.stalls if stall[0] > began]

    def most(self, now: float) -> int:
        """Records of as many polls as fit into the grain, one at least."""
        one = self._mean(now, self._settings.records)
        return self._settings.records * max(1, int(self.grain / max(one, _SHORTEST)))

    def polls(self, now: float, records: int) -> tuple[int, float]:
        """Polls that *records* make, and seconds that they take in all."""
        polls = ceil(records / self._settings.records)
        self._count += 1
        mean = self._mean(now, records)
        luck = min(max((self._luck + self._count * GOLDEN) % 1, _TAIL), 1 - _TAIL)
        away = _USUAL.inv_cdf(luck) * self._deviation * sqrt(records) / self._settings.threads if self._deviation else 0
        work = max(_LEAST * mean, mean + away)
        stalls = [seconds for at, seconds in self._stalls if at <= now]
        self._stalls = self._stalls[len(stalls) :]
        return (1 if stalls else polls), work + sum(stalls)

    def _mean(self, now: float, records: int) -> float:
        return self._work.reached(self._work.at(now) + records / self._settings.threads) - now


class _State(Enum):
    AWAY = 0
    JOINING = 1
    IDLE = 2
    WORKING = 3


class Consumer:
    """One member in its life; *grain* is the time below which polls are worked off together."""

    def __init__(
        self, member: Member, number: int, course: Course, clock: Clock, outcome: Outcome, grain: float
    ) -> None:
        self.name, self.settings, self.static = member.name, member.settings, member.static
        self.instance = member.instance or member.name
        self.key = f"{member.name}-{number:06d}"
        self.beats_from = course.since
        self.held: tuple[Partition, ...] = ()
        self.coordinator: Coordinator | Reconciler
        self.feed = Feed({log.partition: log.end for log in course.logs})
        self._protocol, self._clock, self._outcome = course.protocol, clock, outcome
        self._speed = Speed(member, number, course, grain)
        self._given: tuple[Partition, ...] | None = None
        self._pending: dict[Partition, int] = {}
        self._state, self._turn, self._out = _State.JOINING, 0, False
        self._polled_at = self._committed_at = self._silent_until = -inf
        self._full, self._busy, self._until = False, member.busy, course.until

    def start(self, now: float) -> None:
        """Join, as a new member or after it has lost its place."""
        self._pending, self._given, self._out, self.beats_from = {}, None, False, now
        self.feed.keep(())
        self._state = _State.JOINING
        self._turn += 1
        self.coordinator.join(self, now)

    def stop(self, now: float, crashed: bool = False) -> None:
        """Its process ends; what it works on is not committed."""
        self._turn += 1
        self._state = _State.AWAY
        if crashed or self.static:
            self._clock.at(now + self.settings.session, self._expire)
            return
        self._commit(now)
        self.coordinator.leave(self, now, Cause.LEAVE)

    def silence(self, now: float, until: float) -> None:
        """Neither heartbeats nor polls until then: the coordinator expels it when its session ends before."""
        self._silent_until = until
        if until - now >= self.settings.session:
            self._clock.at(now + self.settings.session, self._expire)
        self._clock.at(until, self.hear)

    def assign(self, now: float, partitions: tuple[Partition, ...]) -> None:
        """The coordinator gives it *partitions*; it takes them over when it polls."""
        self._given = partitions
        if self._state is _State.JOINING:
            self._state = _State.IDLE
        if self._state is _State.IDLE:
            self._later(now, self._poll)

    def hear(self, now: float) -> None:
        """A heartbeat tells it of a change; while it works it can do nothing about it."""
        if self._state is _State.IDLE and now >= self._silent_until:
            self._poll(now)

    def next_heartbeat(self, at: float) -> float:
        """When it next talks to its coordinator; at once where only polls send heartbeats."""
        every = self.settings.heartbeat
        return self.beats_from + ceil((at - self.beats_from) / every) * every if every > 0 else at

    def adopt(self) -> bool:
        """Take over what was given; true where it gives something up for that."""
        if self._given is None:
            return False
        return self.hold(self._given)

    def hold(self, partitions: tuple[Partition, ...]) -> bool:
        """Hold these *partitions* from now on, new ones from their committed offsets; true where others go."""
        lost = set(self.feed.positions) - set(partitions)
        self.feed.keep(partitions)
        for partition in partitions:
            if partition not in self.feed.positions:
                self.feed.add(partition, self._outcome.offsets[partition])
        self.held, self._given = partitions, None
        return bool(lost)

    def _later(self, at: float, action: Action, rank: int = 1) -> None:
        self._turn += 1
        self._unless_turned(at, action, rank)

    def _unless_turned(self, at: float, action: Action, rank: int) -> None:
        turn = self._turn

        def happen(now: float) -> None:
            if turn == self._turn and now < self._silent_until:
                self._clock.at(self._silent_until, happen, rank)
            elif turn == self._turn:
                action(now)

        self._clock.at(at, happen, rank)

    def _poll(self, now: float) -> None:
        if self._out or not self.coordinator.knows(self):
            self._commit(now)
            self.start(now)
            return
        if self._given is not None or now - self._committed_at >= self.settings.commit_every:
            self._commit(now)
        self.coordinator.settle(self, now)
        if self.coordinator.awaits(self, now):
            self._commit(now)
            if self._protocol is GroupProtocol.EAGER:
                self.feed.keep(())
                self._state = _State.JOINING
            self.coordinator.join(self, now)
            if self._state is _State.JOINING or self._given is not None:
                return
        self._work(now)

    def _work(self, now: float) -> None:
        busy, self._busy = self._busy, None
        earliest, most = self._polled_at + self._speed.grain, busy.records if busy else self._speed.most(now)
        taken = self.feed.take(now, most) if self._full or now >= earliest else []
        if not taken:
            self._state = _State.IDLE
            self._later(max(self.feed.next_record(now), earliest), self._poll)
            return
        self._outcome.hand_out(taken)
        count = sum(after - first for _, first, after in taken)
        self._full = count >= most
        began = busy.began if busy else now
        polls, seconds = (1, busy.until - began) if busy else self._speed.polls(now, count)
        self._outcome.polls += polls
        longest = min(seconds / polls, self._until - began)
        self._outcome.longest_seconds = max(self._outcome.longest_seconds, longest)
        self._state, self._polled_at = _State.WORKING, now
        self._later(began + seconds, lambda at: self._done(at, {p: after for p, _, after in taken}, count))
        if seconds / polls >= self.settings.interval:
            late = began + self.settings.interval
            told = self.next_heartbeat(late) if self._protocol is GroupProtocol.CONSUMER else late
            self._unless_turned(told, self._too_late, 0)

    def _done(self, now: float, offsets: dict[Partition, int], count: int) -> None:
        self._state = _State.IDLE
        self._outcome.handled += count
        if self._out or not (self.coordinator.knows(self) or self.coordinator.commits(self)):
            self._outcome.failed_commits += 1
        self._pending.update(offsets)
        self._poll(now)

    def _commit(self, now: float) -> None:
        if self._pending and not self._out and self.coordinator.commits(self):
            self._outcome.commits += 1
            self._outcome.offsets.update(self._pending)
            self._pending, self._committed_at = {}, now

    def _too_late(self, now: float) -> None:
        self._outcome.late_polls += 1
        if self.static:
            self._out = True
            self._unless_turned(now + self.settings.session, self._expire, 0)
        else:
            self.coordinator.leave(self, now, Cause.POLL_TIMEOUT)

    def _expire(self, now: float) -> None:
        self.coordinator.leave(self, now, Cause.EXPIRY)
