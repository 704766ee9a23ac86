"""What a replay is worth: bounds over equally likely courses, the record that it is held against, feasibility."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median_low

from mqlab.facts import Facts
from mqlab.models import polling
from mqlab.models.courses import Interval
from mqlab.models.group_loop import equally_likely, simulate, with_pace
from mqlab.models.group_terms import Course, Member, Outcome
from mqlab.rebalances.history import history
from mqlab.replay.answer import Fit, Recorded, Told
from mqlab.replay.pace import Paces
from mqlab.replay.window import batches, lags
from mqlab.rows.groups import Batch

AGREES, REFUSED = 0.2, 0.5
"""Share by which the replay of what was may be off the record; from the second on there is no answer."""
_PHASES, _LARGE = 5, 20_000.0
"""Orders of short and long polls that are tried; one only where members times seconds are more than that."""
_NEAR = 0.25
"""Share of the time within which offsets must have been listed before or after its end for the lag there."""
_GENERATIONS = ("rebalance-started", "group-epoch-bumped", "join-completed", "rebalance-stabilized", "group-emptied")


def told(course: Course, paces: Paces) -> Told:
    """Simulations with several orders of polls, and with records that take less and more time.

    Where there are rebalances one more or less is within the bounds: two that nearly meet are one or two. So is half a
    poll of each member, which is what they have in hand on average and have not committed when the time ends.
    """
    span = course.until - course.since
    even = not any(pace.deviation for pace in (course.pace, *paces.own.values()))
    phases = 1 if even or len(course.members) * span > _LARGE else _PHASES
    usual = [simulate(one) for one in equally_likely(course, phases)]
    every = [*usual, *(simulate(with_pace(course, factor)) for factor in (paces.low, paces.high) if factor != 1)]

    def bounds(of: Callable[[Outcome], float]) -> Interval:
        values = [of(one) for one in every]
        return Interval(min(values), median_low([of(one) for one in usual]), max(values))

    members = len({each.name for each in course.members})
    held = members * median_low([one.handled / one.polls if one.polls else 0.0 for one in usual]) / 2
    rebalances = bounds(lambda one: len(one.rebalances))
    return Told(
        _apart(rebalances, 1 if rebalances.high > 0 else 0),
        bounds(lambda one: one.longest_seconds),
        bounds(lambda one: one.late_polls / one.polls if one.polls else 0.0),
        _apart(bounds(lambda one: one.final_lag), held),
        bounds(lambda one: one.repeated),
    )


def _apart(known: Interval, by: float) -> Interval:
    return Interval(max(0, known.low - by), known.likely, known.high + by)


def recorded(facts: Facts, group: str, course: Course) -> Recorded:
    """What the material says of the same time; the lag at its end lies between two listings."""
    since, until = course.since, course.until
    known = any(e.group == group for e in facts.of_kind(*_GENERATIONS))
    begun = [one for one in history(facts, group) if since < one.started <= until]
    polls = [b for b in batches(facts, group) if since < b.at <= until]
    again = [one.repeated for one in begun if one.repeated is not None]
    waiting = lags(facts, group)
    final = _between(waiting, until) if _listed_near(waiting, since, until) else None
    inside = [lag for at, lag in waiting if since <= at <= until]
    return Recorded(
        rebalances=len(begun) if known else None,
        longest_poll_seconds=max((b.longest_seconds for b in polls), default=None),
        late_share=_late(polls, min(each.settings.interval for each in course.members)),
        final_lag=final,
        peak_lag=max([final or 0.0, *inside]),
        repeated=sum(again) if again else None,
    )


def _late(polls: Sequence[Batch], interval: float) -> float | None:
    """Share of *polls* that took the interval or longer; long ones have a row of their own."""
    late = sum(b.longest_seconds >= interval for b in polls)
    return late / sum(b.polls for b in polls) if polls else None


def _listed_near(points: Sequence[tuple[float, float]], since: float, until: float) -> bool:
    near = _NEAR * (until - since)
    return any(until - near <= at <= until + near for at, _ in points)


def _between(points: Sequence[tuple[float, float]], at: float) -> float:
    before = [point for point in points if point[0] <= at] or [points[0]]
    after = [point for point in points if point[0] > at] or [before[-1]]
    (begin, low), (end, high) = before[-1], after[0]
    return low + (high - low) * (at - begin) / (end - begin) if end > begin else low


def error(before: Told, real: Recorded, course: Course) -> float:
    """Share by which the replay of what was is off: of the rebalances, or of the most lag, whichever is worse.

    One rebalance more or less is none. What members hold uncommitted, a poll each, is no lag that could be told. Where
    neither was recorded nothing speaks for the replay: it counts as wholly off.
    """
    found = []
    if real.final_lag is not None:
        lag = abs(before.final_lag.likely - real.final_lag)
        found.append(lag / max(real.peak_lag, sum(each.settings.records for each in course.members)))
    if real.rebalances is not None:
        off = abs(before.rebalances.likely - real.rebalances)
        found.append(off / max(1, real.rebalances) if off > 1 else 0.0)
    return max(found, default=1.0)


def widened(after: Told, before: Told, real: Recorded) -> Told:
    """*after* with bounds that are as much further apart as the replay of what was is off the record."""
    lag = abs(before.final_lag.likely - real.final_lag) if real.final_lag is not None else 0.0
    off = 0.0
    if real.rebalances and before.rebalances.likely:
        off = abs(before.rebalances.likely / real.rebalances - 1)
    known, waiting = after.rebalances, after.final_lag
    return Told(
        Interval(int(known.low * (1 - min(1.0, off))), known.likely, round(known.high * (1 + off))),
        after.longest_poll_seconds,
        after.late_share,
        Interval(max(0.0, waiting.low - lag), waiting.likely, waiting.high + lag),
        after.repeated,
    )


def fit(course: Course, paces: Paces) -> Fit:
    """The arithmetic behind it: a poll of the slowest member, and the speed of all."""
    settings = course.members[0].settings
    each, threads, other = paces.slowest, settings.threads, settings.commit_seconds
    span = course.until - course.since
    handled = sum(_there(one, course) / paces.means.get(one.name, paces.mean) for one in course.members)
    came = sum(log.end.at(course.until) - log.end.at(course.since) for log in course.logs)
    return Fit(
        settings.records,
        threads,
        each,
        polling.poll_seconds(settings.records, each, threads, other),
        settings.interval,
        polling.largest_safe_records(settings.interval, each, threads, other),
        polling.largest_safe_records(settings.interval, each, threads, other, polling.ADVISED_MARGIN),
        handled / span * threads,
        came / span,
    )


def _there(member: Member, course: Course) -> float:
    """Seconds of the course in which it was there."""
    begin, end = max(member.started or course.since, course.since), min(member.stopped or course.until, course.until)
    return max(0.0, end - begin)
