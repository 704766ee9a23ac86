"""What left its own earlier level, by time, and what did so first: the order of a cascade.

Causes come before their consequences, so the first riser that nothing earlier explains is where to look; most often it
is concentrated in few client ids or in one topic. Of a total and its part, the part is named. Where the samples or the
clocks do not tell two onsets apart, nobody can say which came first.
"""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models.onsets import Onset, onset
from mqlab.risers import courses
from mqlab.risers.rows import Course, Riser, earlier

CONCENTRATED = 0.5
"""Part of all from which one has caused the rise of the total."""


@per_facts
def risers(facts: Facts) -> tuple[Riser, ...]:
    """Everything that left its level, by the moment at which that is sure."""
    every = list(courses.courses(facts))
    found = []
    for course in every:
        change = onset(course.points, events=course.events)
        if change is not None:
            found.append(_riser(course, change, every))
    return tuple(sorted(found, key=lambda r: (r.at, r.since, r.quantity, r.who, r.source)))


def first(every: Sequence[Riser]) -> tuple[Riser, ...]:
    """Those before which nothing surely changed; more than one where nobody can say which of them came first.

    A total is left out where one of its parts is there.
    """
    open_ = [one for one in every if not any(earlier(other, one) for other in every)]
    parts = {one.quantity for one in open_ if one.who and (one.share or 0.0) >= CONCENTRATED}
    return tuple(one for one in open_ if one.who or one.quantity not in parts)


def consequences(every: Sequence[Riser]) -> tuple[Riser, ...]:
    """What surely changed after all of the first ones did, by time."""
    began = first(every)
    return tuple(one for one in every if began and all(earlier(other, one) for other in began))


def _riser(course: Course, change: Onset, every: Sequence[Course]) -> Riser:
    return Riser(
        course.quantity, course.who, course.unit, change.before, change.after, change.since, change.at,
        _share(course, change.at, every), course.source, change.lasting, _places(course, change),
    )  # fmt: skip


def _share(course: Course, at: float, every: Sequence[Course]) -> float | None:
    """Part of *course* in its total, else in all that is measured of the same quantity, after *at*."""
    same = [one for one in every if one.quantity == course.quantity and one.unit == course.unit]
    whole = [one for one in same if not one.who] or same
    if not course.who or (len(same) == 1 and not course.events):
        return None
    total = sum(_after(one, at) for one in whole)
    return min(1.0, _after(course, at) / total) if total > 0 else None


def _after(course: Course, at: float) -> float:
    return sum(value for moment, value in course.points if moment >= at)


def _places(course: Course, change: Onset) -> tuple[Evidence, ...]:
    """The first sample at the new level."""
    times = [at for at, _ in course.points]
    if len(course.places) != len(times):
        return ()
    return (course.places[times.index(change.at)],)
