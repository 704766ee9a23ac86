"""A consumer group as time goes by: polls, poll timeouts, rebalances, commits, lag. Deterministic.

What it follows: KIP-62 (a member whose next poll is late says that it leaves; a rebalance waits for the polls of all
others), KIP-134 (the delay of an empty group), KIP-345 (static members), KIP-429 (cooperative), KIP-848 (no barrier).
What it leaves out: sizes of fetches, brokers that fail, time for joins and assignments themselves (milliseconds).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mqlab.models.group_consumer import Consumer, Ledger
from mqlab.models.group_coordinator import Coordinator, Reconciler
from mqlab.models.group_terms import Action, Clock, Course, Member, Outcome, Pace, Settings, lifted
from mqlab.models.group_terms import GroupProtocol as Protocol

_SAMPLES = 240
_GOLDEN = 0.6180339887498949
"""A step from partition to partition that spreads evenly over 0 to 1."""
_EVENTS = 60_000
"""Polls of all members that are simulated one by one; where there are more, short ones are taken together."""
_FINEST = 0.1
_SHARE = 0.05
"""Polls that take less than this share of the poll interval may be taken together: they cannot be late."""


def simulate(course: Course) -> Outcome:
    """What becomes of the group of *course*; it has one partition, one member and a time above zero at least."""
    clock, ledger = Clock(), Ledger(course)
    coordinator = (Reconciler if course.protocol is Protocol.CONSUMER else Coordinator)(course, clock, ledger)
    grain = _grain(course)
    seated = []
    for number, member in enumerate(_out(each, course) for each in course.members):
        consumer = Consumer(member, number, course, clock, ledger, grain)
        consumer.bind(coordinator)
        if member.started is None or member.started <= course.since:
            seated.append(consumer)
        else:
            clock.at(member.started, consumer.start)
        if member.stopped is not None and course.since < member.stopped < course.until:
            clock.at(member.stopped, _stop(consumer, member.crashed))
        for begin, end in member.silences:
            if end > course.since:
                clock.at(max(begin, course.since), _silence(consumer, end))
    coordinator.seat(seated)
    for sample in range(_SAMPLES + 1):
        clock.at(course.since + (course.until - course.since) * sample / _SAMPLES, ledger.note_lag, 2)
    clock.run(course.until)
    return ledger.outcome()


def with_settings(course: Course, changed: Mapping[str, float]) -> Course:
    """*course*, its members set otherwise from the start; names as in ``Settings``."""
    members = tuple(replace(each, settings=_set(each.settings, changed), busy=None) for each in course.members)
    return replace(course, members=members)


def with_pace(course: Course, factor: float) -> Course:
    """*course*, each record taking *factor* times as long."""
    members = tuple(replace(each, pace=each.pace and _slower(each.pace, factor)) for each in course.members)
    return replace(course, members=members, pace=_slower(course.pace, factor))


def equally_likely(course: Course, count: int) -> Iterator[Course]:
    """*count* courses that differ in the order of short and long polls and in when exactly records came in."""
    return (_shifted(course, number / count) for number in range(count))


def _shifted(course: Course, phase: float) -> Course:
    """*course*, each record of a partition earlier by the same part of the time between two of them."""
    logs = tuple(
        replace(log, end=lifted(log.end, (phase + number * _GOLDEN * (phase > 0)) % 1))
        for number, log in enumerate(course.logs)
    )
    return replace(course, phase=course.phase + phase, logs=logs)


def _grain(course: Course) -> float:
    polls = len(course.members) * (course.until - course.since) / _EVENTS
    return min([max(_FINEST, polls), *(_SHARE * each.settings.interval for each in course.members)])


def _out(member: Member, course: Course) -> Member:
    """*member*; one that is late with its poll when the course begins is in no group until the poll is done."""
    busy = member.busy
    if busy is None or busy.began + member.settings.interval > course.since:
        return member
    return replace(member, started=busy.until, busy=None)


def _stop(consumer: Consumer, crashed: bool) -> Action:
    return lambda now: consumer.stop(now, crashed)


def _silence(consumer: Consumer, until: float) -> Action:
    return lambda now: consumer.silence(now, until)


def _set(settings: Settings, changed: Mapping[str, float]) -> Settings:
    return replace(settings, **changed)  # type: ignore[arg-type]


def _slower(pace: Pace, factor: float) -> Pace:
    steps = tuple((since, seconds * factor) for since, seconds in pace.steps)
    return Pace(steps, pace.deviation * factor)
