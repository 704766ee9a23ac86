"""What would have been: a recorded group is simulated as it was, then with other settings.

The replay of what was is held against the record; its error is that of the answer, too.
"""

from __future__ import annotations

from dataclasses import replace

from mqlab.facts import Facts
from mqlab.kafka import groups
from mqlab.models.group_loop import with_settings
from mqlab.models.group_terms import Course, Member, Protocol, Settings
from mqlab.replay.answer import Answer
from mqlab.replay.assumed import assumed
from mqlab.replay.group import SERVER_HEARTBEAT, SERVER_SESSION
from mqlab.replay.inputs import Inputs, NoReplayError, inputs
from mqlab.replay.judged import AGREES, REFUSED, error, fit, recorded, told, widened
from mqlab.replay.members import first_late
from mqlab.replay.pace import steady
from mqlab.replay.request import (
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
)

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
) -> Answer:
    """Replay *group*, by default the one whose members polled too late, as it was and with *changes*.

    Raises:
        NoReplayError: the material does not hold what it needs.
        BadChangeError: clients do not start with such settings.
    """
    name = group or chosen(facts)
    paced = steady(changes.numbers[RECORD] / 1000) if RECORD in changes.numbers else None
    known = _known(facts, name, since, until, changes)
    course, paces = known.course, known.paces
    real, before = recorded(facts, name, course), told(course, paces)
    off = error(before, real, course)
    other, other_paces = changed(course, changes), paced or paces
    _sound(other, changes)
    after = widened(told(other, other_paces), before, real) if changes.told and off <= REFUSED else None
    return Answer(
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
        assumed=assumed(known, changes),
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
    if protocol is not Protocol.CONSUMER and assignor == "uniform":
        assignor = "range"
    if (protocol is Protocol.CONSUMER) != (found.protocol is Protocol.CONSUMER):
        usual = _SERVED if protocol is Protocol.CONSUMER else _OWN
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
    """The lives of the first *count* names; where there are fewer, copies of the last name's."""
    names = sorted({each.name for each in known})
    kept = tuple(each for each in known if each.name in names[:count])
    copied = [each for each in known if each.name == names[-1]]
    added = range(1, count - len(names) + 1)
    return (*kept, *(replace(each, name=f"{each.name}~{number:04d}") for number in added for each in copied))


def _known(facts: Facts, group: str, since: float | None, until: float | None, asked: Changes) -> Inputs:
    """What is known of the group; where no line tells how long records took, what is given is taken for that."""
    try:
        return inputs(facts, group, since, until)
    except NoReplayError:
        if RECORD not in asked.numbers:
            raise
        return inputs(facts, group, since, until, steady(asked.numbers[RECORD] / 1000))
