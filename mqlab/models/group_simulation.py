"""The simulation of a Kafka group: its coordinator, and all that happens as time goes by. Deterministic.

What it leaves out: sizes of fetches, brokers that fail, time for joins and assignments themselves (milliseconds).

Classic groups, eager or cooperative: ``GroupCoordinator`` of 0.11 to 3.x and the classic groups of 4.x. A rebalance
waits until every member has joined again, has left, or the rebalance timeout has passed, which is the longest
max.poll.interval.ms of the members (KIP-62). A group that was empty waits for group.initial.rebalance.delay.ms, and a
group that never had a generation again as long as somebody new comes (KIP-134). A member hears of a rebalance with its
next heartbeat.
Groups of the consumer protocol (KIP-848): whoever comes or goes bumps the epoch, the coordinator deals at once, and
nobody waits for anybody. A member takes its new partitions with its next poll, as far as their owners have let go of
them; it lets go of its own with its next poll too.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from functools import partial
from math import floor, inf

from mqlab.models.assignment import ASSIGNORS
from mqlab.models.group_consumer import Clock, Consumer
from mqlab.models.group_course import ROUNDING, Begun, Cause, Course, GroupProtocol, Member, Outcome, Partition
from mqlab.models.sticky_assignment import Group


class _State(Enum):
    EMPTY = 0
    PREPARING = 1
    STABLE = 2


class Coordinator:
    """State of one group."""

    def __init__(self, course: Course, clock: Clock, outcome: Outcome) -> None:
        self._course, self._clock, self._outcome = course, clock, outcome
        self._members: dict[str, Consumer] = {}
        self._joined: set[str] = set()
        self._state = _State.EMPTY
        self._generation = 0
        self._began = -inf
        self._delayed = self._more = False

    def seat(self, consumers: list[Consumer]) -> None:
        """Begin with a stable group of *consumers*."""
        if consumers:
            self._members = {each.key: each for each in consumers}
            self._generation, self._state = 1, _State.STABLE
            self._deal(self._course.since)

    def knows(self, consumer: Consumer) -> bool:
        """Whether it is a member."""
        return consumer.key in self._members

    def awaits(self, consumer: Consumer, now: float) -> bool:
        """Whether a rebalance runs of which *consumer* has heard, and that it has not joined."""
        waits = self._state is _State.PREPARING and consumer.key not in self._joined
        return waits and now >= consumer.next_heartbeat(self._began)

    def commits(self, consumer: Consumer) -> bool:
        """Whether it can commit: not between its join and the end of the rebalance (RebalanceInProgressException)."""
        return self.knows(consumer) and not (self._state is _State.PREPARING and consumer.key in self._joined)

    def join(self, consumer: Consumer, now: float, cause: Cause = Cause.JOIN) -> None:
        """*consumer* joins, or joins again."""
        if self._replaces(consumer, now):
            return
        new = consumer.key not in self._members
        self._members[consumer.key] = consumer
        if self._state is _State.PREPARING:
            self._joined.add(consumer.key)
            self._more = self._more or (new and self._generation == 0)
            self._try(now)
        elif new or cause is Cause.FOLLOW_UP:
            self._begin(now, cause, consumer, {consumer.key})
        else:
            consumer.assign(now, consumer.held)

    def _replaces(self, consumer: Consumer, now: float) -> bool:
        """A new process of a static member has the place of the old one, without a rebalance (KIP-345)."""
        old = [each for each in self._members.values() if each.static and each.instance == consumer.instance]
        if not consumer.static or self._state is not _State.STABLE or not old or old[0] is consumer:
            return False
        del self._members[old[0].key]
        self._members[consumer.key] = consumer
        consumer.assign(now, old[0].held)
        return True

    def leave(self, consumer: Consumer, now: float, cause: Cause) -> None:
        """*consumer* is no member any more."""
        if self._members.pop(consumer.key, None) is None:
            return
        self._joined.discard(consumer.key)
        if self._state is _State.PREPARING:
            self._try(now)
        else:
            self._begin(now, cause, consumer, set())

    def settle(self, consumer: Consumer, now: float) -> None:
        """*consumer* takes over what it was given; in a cooperative group it says so where it gave something up."""
        if consumer.adopt() and self._course.protocol is GroupProtocol.COOPERATIVE:
            self.join(consumer, now, Cause.FOLLOW_UP)

    def _begin(self, now: float, cause: Cause, consumer: Consumer, joined: set[str]) -> None:
        self._outcome.rebalances.append(Begun(now, cause, consumer.name))
        self._delayed = self._state is _State.EMPTY and self._course.delay > 0
        self._state, self._joined, self._began, self._more = _State.PREPARING, joined, now, False
        timeout = max((each.settings.interval for each in self._members.values()), default=0.0)
        for each in self._members.values():
            if each.key not in joined:
                self._clock.at(max(now, each.next_heartbeat(now)), each.hear)
        generation = self._generation
        if self._delayed:
            delay = min(self._course.delay, timeout)
            self._clock.at(now + delay, lambda at: self._after_delay(at, generation, now + timeout))
        else:
            self._clock.at(now + timeout, lambda at: self._give_up(at, generation))
            self._try(now)

    def _after_delay(self, now: float, generation: int, latest: float) -> None:
        if generation != self._generation:
            return
        if self._more and now < latest:
            self._more = False
            delay = min(self._course.delay, latest - now)
            self._clock.at(now + delay, lambda at: self._after_delay(at, generation, latest))
        else:
            self._complete(now)

    def _give_up(self, now: float, generation: int) -> None:
        if generation == self._generation and self._state is _State.PREPARING:
            self._complete(now)

    def _try(self, now: float) -> None:
        if not self._delayed and self._joined.issuperset(self._members):
            self._complete(now)

    def _complete(self, now: float) -> None:
        kept = {key: each for key, each in self._members.items() if key in self._joined or each.static}
        self._members, self._delayed = kept, False
        self._generation += 1
        self._state = _State.STABLE if kept else _State.EMPTY
        if kept:
            self._deal(now)

    def _deal(self, now: float) -> None:
        for key, partitions in dealt(self._course, self._course.assignor, self._members).items():
            self._members[key].assign(now, partitions)


def dealt(course: Course, assignor: str, members: dict[str, Consumer]) -> dict[str, tuple[tuple[str, int], ...]]:
    """What *assignor* gives each of *members*, by key."""
    counts: dict[str, int] = {}
    for log in course.logs:
        topic, number = log.partition
        counts[topic] = max(counts.get(topic, 0), number + 1)
    known = {log.partition for log in course.logs}
    owned = {key: tuple(each.held) for key, each in members.items()}
    generations = {key: 1 for key, held in owned.items() if held}
    group = Group(counts, {key: sorted(counts) for key in members}, owned, generations)
    found = ASSIGNORS[assignor](group)
    return {key: tuple(p for p in found[key] if p in known) for key in sorted(found)}


class Reconciler:
    """State of one group."""

    def __init__(self, course: Course, clock: Clock, outcome: Outcome) -> None:
        self._course, self._clock, self._outcome = course, clock, outcome
        self._members: dict[str, Consumer] = {}
        self._targets: dict[str, tuple[Partition, ...]] = {}
        self._owners: dict[Partition, str] = {}

    def seat(self, consumers: list[Consumer]) -> None:
        """Begin with a group of *consumers*."""
        self._members = {each.key: each for each in consumers}
        self._deal()
        for each in consumers:
            each.assign(self._course.since, each.held)

    def knows(self, consumer: Consumer) -> bool:
        """Whether it is a member."""
        return consumer.key in self._members

    def awaits(self, _consumer: Consumer, _now: float) -> bool:
        """Never: no member has to join again."""
        return False

    def commits(self, consumer: Consumer) -> bool:
        """Whether it can commit: who has left does so without an epoch, which an empty group takes."""
        return self.knows(consumer) or not self._members

    def join(self, consumer: Consumer, now: float, cause: Cause = Cause.JOIN) -> None:
        """*consumer* joins, or comes back."""
        if consumer.key not in self._members:
            self._members[consumer.key] = consumer
            self._bump(now, cause, consumer)
        consumer.assign(now, consumer.held)

    def leave(self, consumer: Consumer, now: float, cause: Cause) -> None:
        """*consumer* is no member any more."""
        if self._members.pop(consumer.key, None) is not None:
            self._owners = {p: key for p, key in self._owners.items() if key != consumer.key}
            consumer.held = ()
            self._bump(now, cause, consumer)

    def settle(self, consumer: Consumer, now: float) -> None:
        """*consumer* lets go of what goes to others, and takes what they have let go of."""
        key, wanted = consumer.key, self._targets[consumer.key]
        free = tuple(p for p in wanted if self._owners.get(p, key) == key)
        self._owners = {p: owner for p, owner in self._owners.items() if owner != key} | dict.fromkeys(free, key)
        known = set(consumer.held)
        if consumer.hold(free):
            self._tell(now)
        if set(free) != known:
            consumer.beats_from = now

    def _bump(self, now: float, cause: Cause, consumer: Consumer) -> None:
        self._outcome.rebalances.append(Begun(now, cause, consumer.name))
        self._deal()
        self._tell(now)

    def _deal(self) -> None:
        # The first of group.consumer.assignors, uniform: as even as possible, and keeps what it can.
        self._targets = dealt(self._course, "sticky", self._members) if self._members else {}

    def _tell(self, now: float) -> None:
        for each in self._members.values():
            self._clock.at(max(now, each.next_heartbeat(now)), each.hear)


_EVENTS = 60_000
"""Polls of all members that are simulated one by one; where there are more, short ones are taken together."""
_FINEST = 0.1
"""Seconds of polls that may always be taken together: finer than the clock of a log."""
_SHARE = 0.05
"""Polls that take less than this share of the poll interval may be taken together: they cannot be late."""


def simulate(course: Course) -> Outcome:
    """What becomes of the group of *course*; it has one partition, one member and a time above zero at least."""
    clock, outcome = Clock(), Outcome(course.logs)
    coordinator = (Reconciler if course.protocol is GroupProtocol.CONSUMER else Coordinator)(course, clock, outcome)
    grain = _grain(course)
    seated = []
    for number, member in enumerate(_out(each, course) for each in course.members):
        consumer = Consumer(member, number, course, clock, outcome, grain)
        consumer.coordinator = coordinator
        if member.started is None or member.started <= course.since:
            seated.append(consumer)
        else:
            clock.at(member.started, consumer.start)
        if member.stopped is not None and course.since < member.stopped < course.until:
            clock.at(member.stopped, partial(consumer.stop, crashed=member.crashed))
        for begin, end in member.silences:
            if end > course.since:
                clock.at(max(begin, course.since), partial(consumer.silence, until=end))
    coordinator.seat(seated)
    clock.run(course.until)
    ends = {log.partition: floor(log.end.at(course.until) + ROUNDING) for log in course.logs}
    outcome.final_lag = sum(max(0, end - outcome.offsets[partition]) for partition, end in ends.items())
    return outcome


def _grain(course: Course) -> float:
    polls = len(course.members) * (course.until - course.since) / _EVENTS
    return min([max(_FINEST, polls), *(_SHARE * each.settings.interval for each in course.members)])


def _out(member: Member, course: Course) -> Member:
    """*member*; one that is late with its poll when the course begins is in no group until the poll is done."""
    busy = member.busy
    if busy is None or busy.began + member.settings.interval > course.since:
        return member
    return replace(member, started=busy.until, busy=None)
