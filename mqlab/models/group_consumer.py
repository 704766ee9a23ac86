"""One consumer that polls, works, commits and polls again, as the Java client does it.

Its heartbeat thread says that it leaves when the next poll does not come within max.poll.interval.ms (KIP-62); it
hears of that at its next commit, which fails, and joins again with its next poll. A static member says nothing: the
coordinator waits for its session, and one that comes earlier gets its old place without a rebalance (KIP-345).
"""

from __future__ import annotations

from enum import Enum
from math import ceil, inf

from mqlab.models.group_clock import Action, Clock
from mqlab.models.group_feed import Feed
from mqlab.models.group_ledger import Ledger
from mqlab.models.group_pace import Speed
from mqlab.models.group_seats import Seats
from mqlab.models.group_terms import Cause, Course, Member, Partition, Protocol


class _State(Enum):
    AWAY = 0
    JOINING = 1
    IDLE = 2
    WORKING = 3


class Consumer:
    """One member in its life; *grain* is the time below which polls are worked off together."""

    def __init__(self, member: Member, number: int, course: Course, clock: Clock, ledger: Ledger, grain: float) -> None:
        self.name, self.settings, self.static = member.name, member.settings, member.static
        self.instance = member.instance or member.name
        self.key = f"{member.name}-{number:06d}"
        self.beats_from = course.since
        self.held: tuple[Partition, ...] = ()
        self.feed = Feed({log.partition: log.end for log in course.logs})
        self._protocol, self._clock, self._ledger = course.protocol, clock, ledger
        self._speed = Speed(member, number, course, grain)
        self._given: tuple[Partition, ...] | None = None
        self._pending: dict[Partition, int] = {}
        self._state, self._turn, self._out = _State.JOINING, 0, False
        self._polled_at = self._committed_at = self._silent_until = -inf
        self._full, self._busy = False, member.busy

    def bind(self, coordinator: Seats) -> None:
        """Tell it its coordinator."""
        self._coordinator = coordinator

    def start(self, now: float) -> None:
        """Join, as a new member or after it has lost its place."""
        self._pending, self._given, self._out, self.beats_from = {}, None, False, now
        self.feed.keep(())
        self._state = _State.JOINING
        self._turn += 1
        self._coordinator.join(self, now)

    def stop(self, now: float, crashed: bool = False) -> None:
        """Its process ends; what it works on is not committed."""
        self._turn += 1
        self._state = _State.AWAY
        if crashed or self.static:
            self._clock.at(now + self.settings.session, self._expire)
            return
        self._commit(now)
        self._coordinator.leave(self, now, Cause.LEAVE)

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
                self.feed.add(partition, self._ledger.committed[partition])
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
        if self._out or not self._coordinator.knows(self):
            self._commit(now)
            self.start(now)
            return
        if self._given is not None or now - self._committed_at >= self.settings.commit_every:
            self._commit(now)
        self._coordinator.settle(self, now)
        if self._coordinator.awaits(self, now):
            self._commit(now)
            if self._protocol is Protocol.EAGER:
                self.feed.keep(())
                self._state = _State.JOINING
            self._coordinator.join(self, now)
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
        self._ledger.hand_out(taken)
        count = sum(after - first for _, first, after in taken)
        self._full = count >= most
        began = busy.began if busy else now
        polls, seconds = (1, busy.until - began) if busy else self._speed.polls(now, count)
        self._ledger.begin_poll(began, seconds, polls)
        self._state, self._polled_at = _State.WORKING, now
        self._later(began + seconds, lambda at: self._done(at, {p: after for p, _, after in taken}, count))
        if seconds / polls >= self.settings.interval:
            self._unless_turned(self._noticed(began + self.settings.interval), self._too_late, 0)

    def _done(self, now: float, offsets: dict[Partition, int], count: int) -> None:
        self._state = _State.IDLE
        self._ledger.handled += count
        if self._out or not (self._coordinator.knows(self) or self._coordinator.commits(self)):
            self._ledger.failed_commits += 1
        self._pending.update(offsets)
        self._poll(now)

    def _commit(self, now: float) -> None:
        if self._pending and not self._out and self._coordinator.commits(self):
            self._ledger.commit(self._pending)
            self._pending, self._committed_at = {}, now

    def _too_late(self, now: float) -> None:
        self._ledger.late_polls += 1
        if self.static:
            self._out = True
            self._unless_turned(now + self.settings.session, self._expire, 0)
        else:
            self._coordinator.leave(self, now, Cause.POLL_TIMEOUT)

    def _noticed(self, late: float) -> float:
        """When the client says that its poll is late: at once, or with the next heartbeat (consumer protocol)."""
        every = self.settings.heartbeat
        if self._protocol is not Protocol.CONSUMER or every <= 0:
            return late
        return self.beats_from + ceil((late - self.beats_from) / every) * every

    def _expire(self, now: float) -> None:
        self._coordinator.leave(self, now, Cause.EXPIRY)
