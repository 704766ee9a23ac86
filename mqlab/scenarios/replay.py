"""What would have been: a recorded group is simulated as it was, then with other settings.

The replay of what was is held against the record; its error is that of the answer, too. Bounds are those of equally
likely courses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import median_low

from mqlab.facts import Facts
from mqlab.kafka import groups
from mqlab.kafka.rebalances import history
from mqlab.models import polling
from mqlab.models.draining import Interval
from mqlab.models.group_loop import equally_likely, simulate, with_pace, with_settings
from mqlab.models.group_terms import Course, GroupProtocol, Member, Outcome, Settings
from mqlab.scenarios.replay_inputs import (
    SERVER_HEARTBEAT,
    SERVER_SESSION,
    Inputs,
    NoReplayError,
    batches,
    first_late,
    inputs,
    lags,
)
from mqlab.scenarios.replay_paces import Paces, steady
from mqlab.scenarios.replay_request import (
    ASSIGNOR,
    DELAY,
    HEARTBEAT,
    INTERVAL,
    MEMBERS,
    RECORD,
    RECORDS,
    SESSION,
    THREADS,
    BadChangeError,
    Changes,
    Fit,
    Recorded,
    ReplayAnswer,
    Told,
)
from mqlab.units import counted, digits, duration, number

_MOST = 4
"""Sentences about single members that fit on a screen."""


def _assumed(known: Inputs, asked: Changes) -> Iterator[str]:
    """One sentence each, those about single members in the middle."""
    paces = known.paces
    yield "what came in is as recorded, and who calls or is called notices nothing of the change"
    if paces.polls:
        polls = f"{counted(paces.polls, 'poll')} with {counted(paces.records, 'record')}"
        bounds = "other orders of polls, other moments of records, the quarters of what polls took"
        yield f"{digits(paces.mean * 1000)} ms per record, from {polls}; bounds: {bounds}"
    elif RECORD not in asked.numbers:
        yield f"{digits(paces.mean * 1000)} ms per record, from what ledgers note in ten seconds while records wait"
    own = list(_of_members(known.course, paces))
    yield from own[:_MOST]
    if len(own) > _MOST:
        yield f"{number(len(own) - _MOST)} more of that kind"
    if known.course.members[0].settings.commit_every == 0:
        yield "each poll is committed when it is done"
    if THREADS in asked.numbers:
        yield "threads share a poll evenly, where one works it off now"
    yield "no poll is cut short by sizes of fetches, no broker fails, joins themselves take no time"


def _of_members(course: Course, paces: Paces) -> Iterator[str]:
    came = sum(log.end.at(course.until) - log.end.at(course.since) for log in course.logs)
    share = came / (course.until - course.since) / len({each.name for each in course.members})
    for client, seconds in sorted(paces.means.items()):
        pace = f"{digits(seconds * 1000)} ms per record, {digits(1 / seconds)}/s"
        yield f"{client}: slower than the others as recorded: {pace}, where an even share is {digits(share)}/s"
    for client, stalls in sorted(paces.stalls.items()):
        longest = duration(max(seconds for _, seconds in stalls))
        yield f"{client}: stood still for {longest} in a poll of few records; it would have with any max.poll.records"
    for each in course.members:
        if each.silences:
            longest = duration(max(until - since for since, until in each.silences))
            often = counted(len(each.silences), "time")
            yield f"{each.name}: without heartbeats for up to {longest} as recorded, {often}"


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
    interval, near = min(each.settings.interval for each in course.members), _NEAR * (until - since)
    late = sum(b.longest_seconds >= interval for b in polls)
    listed = any(until - near <= at <= until + near for at, _ in waiting)
    final = _between(waiting, until) if listed else None
    inside = [lag for at, lag in waiting if since <= at <= until]
    return Recorded(
        rebalances=len(begun) if known else None,
        longest_poll_seconds=max((b.longest_seconds for b in polls), default=None),
        late_share=late / sum(b.polls for b in polls) if polls else None,
        final_lag=final,
        peak_lag=max([final or 0.0, *inside]),
        repeated=sum(again) if again else None,
    )


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


NOTHING = Changes()
_SERVED = {"heartbeat": SERVER_HEARTBEAT, "session": SERVER_SESSION}
_OWN = {"heartbeat": Settings().heartbeat, "session": Settings().session}
"""Heartbeats of a group that is moved to the other protocol: the broker's defaults, those of the client."""


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
    real, before = recorded(facts, name, course), told(course, paces)
    off = error(before, real, course)
    other, other_paces = changed(course, changes), paced or paces
    _sound(other, changes)
    after = widened(told(other, other_paces), before, real) if changes.told and off <= REFUSED else None
    return ReplayAnswer(
        group=name,
        changes=changes.told,
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
        raise NoReplayError("No listing of a group's offsets is among the material: a replay needs two at least.")
    return max(sorted(points), key=lambda name: (first_late(facts, name) is not None, points[name]))


def changed(course: Course, asked: Changes) -> Course:
    """*course* as it would have been with what is asked for."""
    numbers = asked.numbers
    wholes = {RECORDS: "records", THREADS: "threads"}
    times = {INTERVAL: "interval", SESSION: "session", HEARTBEAT: "heartbeat"}
    settings: dict[str, float] = {name: int(numbers[key]) for key, name in wholes.items() if key in numbers}
    settings |= {name: numbers[key] / 1000 for key, name in times.items() if key in numbers}
    if SESSION in numbers and all(each.settings.heartbeat == 0 for each in course.members):
        settings["interval"] = settings["session"]
    found = with_settings(course, settings)
    if MEMBERS in numbers:
        found = replace(found, members=_so_many(found.members, int(numbers[MEMBERS])))
    if RECORD in numbers:
        pace = steady(numbers[RECORD] / 1000).common
        found = replace(found, pace=pace, members=tuple(replace(each, pace=None) for each in found.members))
    protocol = asked.protocol() or found.protocol
    assignor = asked.words.get(ASSIGNOR, found.assignor)
    if protocol is not GroupProtocol.CONSUMER and assignor == "uniform":
        assignor = "range"
    if (protocol is GroupProtocol.CONSUMER) != (found.protocol is GroupProtocol.CONSUMER):
        usual = _SERVED if protocol is GroupProtocol.CONSUMER else _OWN
        found = with_settings(found, {name: value for name, value in usual.items() if name not in settings})
    return replace(
        found,
        protocol=protocol,
        assignor=assignor,
        delay=numbers[DELAY] / 1000 if DELAY in numbers else found.delay,
    )


def _sound(asked: Course, changes: Changes) -> None:
    """Clients refuse to start with a heartbeat that is due after the end of the session (Heartbeat's constructor).

    Raises:
        BadChangeError: such settings are asked for.
    """
    times = {SESSION, HEARTBEAT} & set(changes.numbers)
    if times and any(each.settings.heartbeat >= each.settings.session for each in asked.members):
        raise BadChangeError(
            "heartbeat.interval.ms must be below session.timeout.ms: clients do not start otherwise. Set both."
        )


def _so_many(known: tuple[Member, ...], count: int) -> tuple[Member, ...]:
    """The lives of the first *count* names; where there are fewer, copies of the last name's, each with its own id.

    Two static members with one group.instance.id would take the place of each other without end.
    """
    names = sorted({each.name for each in known})
    kept = tuple(each for each in known if each.name in names[:count])
    copied = [each for each in known if each.name == names[-1]]
    added = range(1, count - len(names) + 1)
    copies = (replace(each, name=f"{each.name}~{number:04d}", instance=None) for number in added for each in copied)
    return (*kept, *copies)
