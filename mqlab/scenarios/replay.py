"""What would have been: a recorded group is simulated as it was, then with other settings.

The replay of what was is held against the record; its error is that of the answer, too. Bounds are those of equally
likely courses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf
from statistics import median_low

import numpy as np

from mqlab.facts import Facts
from mqlab.kafka import groups
from mqlab.kafka.rebalances import history
from mqlab.models import polling
from mqlab.models.group_course import Course, Outcome, equally_likely, with_pace
from mqlab.models.group_simulation import simulate
from mqlab.scenarios.replay_changes import RECORD, THREADS, Changes, changed
from mqlab.scenarios.replay_inputs import Inputs, NoReplayError, batches, first_late, inputs, lags
from mqlab.scenarios.replay_paces import Paces, steady
from mqlab.units import Interval
from mqlab.words import Text, room

say = room("replay")


@dataclass(frozen=True, slots=True)
class Simulated:
    """What simulations of one setting say, with bounds."""

    rebalances: Interval
    longest_poll_seconds: Interval
    late_share: Interval
    """Of the polls that took the poll interval or longer."""
    final_lag: Interval
    repeated: Interval
    """Records that were handed out more than once."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What really happened; None where the material does not tell."""

    rebalances: int | None
    longest_poll_seconds: float | None
    late_share: float | None
    """Of the polls that applications tell of."""
    final_lag: float | None
    """None where offsets were not listed near the end."""
    peak_lag: float
    repeated: int | None
    """Records that were handled before a rebalance and handed out again after it."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a poll fits into the interval, and whether the group is as fast as what comes in."""

    records: int
    threads: int
    record_seconds: float
    poll_seconds: float
    interval_seconds: float
    largest_safe_records: int | None
    """That an average poll works off in time; None where not even one record fits."""
    advised_records: int | None
    """The same with half of the time kept free, for polls that take longer than the average."""
    capacity_per_second: float
    """Of all members while they were there, each with its own time per record."""
    arriving_per_second: float

    @property
    def feasible(self) -> bool:
        """An average poll comes in time."""
        return self.poll_seconds < self.interval_seconds


@dataclass(frozen=True, slots=True)
class ReplayAnswer:
    """What the replay says; moments as epoch seconds."""

    group: str
    changes: str
    """``max.poll.records=50``; empty for a replay of what was."""
    since: float
    until: float
    incident: bool
    """The time was cut to an incident: from the first late poll to the first change."""
    recorded: Recorded
    before: Simulated
    """The replay of what was."""
    error_share: float
    """By which it is off, of the record."""
    agrees: bool
    after: Simulated | None
    """None without changes, and where the replay of what was has nothing in common with the record."""
    fit_before: Fit
    fit_after: Fit
    assumed: tuple[Text, ...]


_MOST = 4
"""Sentences about single members that fit on a screen."""


def _assumed(known: Inputs, asked: Changes) -> Iterator[Text]:
    """One sentence each, those about single members in the middle."""
    paces = known.paces
    yield say("came-in")
    if paces.polls:
        yield say("by-polls", pace=paces.mean * 1000, polls=paces.polls, records=paces.records)
    elif RECORD not in asked.numbers:
        yield say("by-ledgers", pace=paces.mean * 1000)
    own = list(_of_members(known.course, paces))
    yield from own[:_MOST]
    if len(own) > _MOST:
        yield say("more", more=len(own) - _MOST)
    if known.course.members[0].settings.commit_every == 0:
        yield say("committed")
    if THREADS in asked.numbers:
        yield say("threads")
    yield say("left-out")


def _of_members(course: Course, paces: Paces) -> Iterator[Text]:
    share = arriving_per_second(course) / len({member.name for member in course.members})
    for client, seconds in sorted(paces.means.items()):
        yield say("slower", client=client, pace=seconds * 1000, rate=1 / seconds, share=share)
    for client, stalls in sorted(paces.stalls.items()):
        yield say("stood", client=client, longest=max(seconds for _, seconds in stalls))
    for each in course.members:
        if each.silences:
            longest = max(until - since for since, until in each.silences)
            yield say("silent", client=each.name, longest=longest, times=len(each.silences))


AGREES, REFUSED = 0.2, 0.5
"""Share by which the replay of what was may be off the record; from the second on there is no answer. Judgement, no
default behind them: a prediction is no better than the replay, and at half it says nothing."""
_PHASES, _LARGE = 5, 20_000.0
"""Orders of short and long polls that are tried; one only where members times seconds are more: each costs seconds."""
_NEAR = 0.25
"""Share of the time within which offsets must have been listed before or after its end for the lag there. Judgement, no
default behind it."""
_GENERATIONS = ("rebalance-started", "group-epoch-bumped", "join-completed", "rebalance-stabilized", "group-emptied")


def simulated(course: Course, paces: Paces) -> Simulated:
    """Simulations with several orders of polls, and with records that take less and more time.

    Where there are rebalances one more or less is within the bounds: two that nearly meet are one or two. So is half a
    poll of each member, which is what they have in hand on average and have not committed when the time ends.
    """
    members = len({member.name for member in course.members})
    even = not any(pace.deviation for pace in (course.pace, *paces.own.values()))
    large = len(course.members) * (course.until - course.since) > _LARGE
    usual = [simulate(each) for each in equally_likely(course, 1 if even or large else _PHASES)]
    every = [*usual, *(simulate(with_pace(course, factor)) for factor in (paces.low, paces.high) if factor != 1)]

    def bounds(of: Callable[[Outcome], float], apart: float = 0) -> Interval:
        values = [of(outcome) for outcome in every]
        likely = median_low([of(outcome) for outcome in usual])
        return Interval(max(min(values) - apart, 0), likely, max(values) + apart)

    held = members * median_low([each.handled / each.polls if each.polls else 0.0 for each in usual]) / 2
    return Simulated(
        bounds(lambda outcome: len(outcome.rebalances), 1 if any(each.rebalances for each in every) else 0),
        bounds(lambda outcome: outcome.longest_seconds),
        bounds(lambda outcome: outcome.late_polls / outcome.polls if outcome.polls else 0.0),
        bounds(lambda outcome: outcome.final_lag, held),
        bounds(lambda outcome: outcome.repeated),
    )


def recorded(facts: Facts, group: str, course: Course) -> Recorded:
    """What the material says of the same time; the lag at its end lies between two listings."""
    since, until = course.since, course.until
    rebalances = [rebalance for rebalance in history(facts, group) if since < rebalance.started <= until]
    polls = [batch for batch in batches(facts, group) if since < batch.at <= until]
    again = [rebalance.repeated for rebalance in rebalances if rebalance.repeated is not None]
    interval = min(member.settings.interval for member in course.members)
    late = sum(batch.longest_seconds >= interval for batch in polls)
    waiting, near = lags(facts, group), _NEAR * (until - since)
    listed = any(until - near <= at <= until + near for at, _ in waiting)
    final = float(np.interp(until, [at for at, _ in waiting], [lag for _, lag in waiting])) if listed else None
    return Recorded(
        rebalances=len(rebalances) if any(e.group == group for e in facts.of_kind(*_GENERATIONS)) else None,
        longest_poll_seconds=max((batch.longest_seconds for batch in polls), default=None),
        late_share=late / sum(batch.polls for batch in polls) if polls else None,
        final_lag=final,
        peak_lag=max([final or 0.0, *(lag for at, lag in waiting if since <= at <= until)]),
        repeated=sum(again) if again else None,
    )


def error(before: Simulated, real: Recorded, course: Course) -> float:
    """Share by which the replay of what was is off: of the rebalances, or of the most lag, whichever is worse.

    One rebalance more or less is none. What members hold uncommitted, a poll each, is no lag that could be told. Where
    neither was recorded nothing speaks for the replay: it counts as wholly off.
    """
    errors = []
    if real.final_lag is not None:
        in_hand = sum(member.settings.records for member in course.members)
        errors.append(abs(before.final_lag.likely - real.final_lag) / max(real.peak_lag, in_hand))
    if real.rebalances is not None:
        off = abs(before.rebalances.likely - real.rebalances)
        errors.append(off / max(1, real.rebalances) if off > 1 else 0.0)
    return max(errors, default=1.0)


def widened(after: Simulated, before: Simulated, real: Recorded) -> Simulated:
    """*after* with bounds that are as much further apart as the replay of what was is off the record."""
    lag = abs(before.final_lag.likely - real.final_lag) if real.final_lag is not None else 0.0
    off = abs(before.rebalances.likely / real.rebalances - 1) if real.rebalances and before.rebalances.likely else 0.0
    many, waiting = after.rebalances, after.final_lag
    return replace(
        after,
        rebalances=Interval(int(many.low * (1 - min(1.0, off))), many.likely, round(many.high * (1 + off))),
        final_lag=Interval(max(0.0, waiting.low - lag), waiting.likely, waiting.high + lag),
    )


def fit(course: Course, paces: Paces) -> Fit:
    """The arithmetic behind it: a poll of the slowest member, and the speed of all."""
    settings = course.members[0].settings
    slowest, threads = paces.slowest, settings.threads
    span, handled = course.until - course.since, 0.0
    for member in course.members:
        begin, end = max(member.started or 0.0, course.since), min(member.stopped or inf, course.until)
        handled += max(0.0, end - begin) / paces.means.get(member.name, paces.mean)
    return Fit(
        settings.records,
        threads,
        slowest,
        polling.poll_seconds(settings.records, slowest, threads),
        settings.interval,
        polling.largest_safe_records(settings.interval, slowest, threads),
        polling.largest_safe_records(settings.interval, slowest, threads, polling.ADVISED_MARGIN),
        handled / span * threads,
        arriving_per_second(course),
    )


def arriving_per_second(course: Course) -> float:
    """Records that come in, of all partitions."""
    came = sum(log.end.at(course.until) - log.end.at(course.since) for log in course.logs)
    return came / (course.until - course.since)


NOTHING = Changes()


def replay(
    facts: Facts,
    group: str | None = None,
    changes: Changes = NOTHING,
    since: float | None = None,
    until: float | None = None,
) -> ReplayAnswer:
    """Replay *group*, by default the one whose members polled too late, as it was and with *changes*.

    Raises:
        NoReplayError: the material does not hold what it needs.
        BadChangeError: clients do not start with such settings.
    """
    name = group or chosen(facts)
    paced = steady(changes.numbers[RECORD] / 1000) if RECORD in changes.numbers else None
    try:
        known = inputs(facts, name, since, until)
    except NoReplayError:
        if paced is None:
            raise
        known = inputs(facts, name, since, until, paced)
    course, paces = known.course, known.paces
    other, other_paces = changed(course, changes), paced or paces
    real, before = recorded(facts, name, course), simulated(course, paces)
    off, after = error(before, real, course), None
    if str(changes) and off <= REFUSED:
        after = before if paced is None and other == course else widened(simulated(other, other_paces), before, real)
    return ReplayAnswer(
        group=name,
        changes=str(changes),
        since=course.since,
        until=course.until,
        incident=known.incident,
        recorded=real,
        before=before,
        error_share=off,
        agrees=off <= AGREES,
        after=after,
        fit_before=fit(course, paces),
        fit_after=fit(other, other_paces),
        assumed=tuple(_assumed(known, changes)),
    )


def chosen(facts: Facts) -> str:
    """The group whose members polled too late, else the one that has most listings of offsets.

    Raises:
        NoReplayError: no group has offsets.
    """
    points: dict[str, int] = {}
    for (name, _), queues in groups.topics(facts).items():
        points[name] = points.get(name, 0) + sum(map(len, queues.values()))
    if not points:
        raise NoReplayError("The material has no listing of a group's offsets: a replay needs at least two.")
    return max(sorted(points), key=lambda name: (first_late(facts, name) is not None, points[name]))
