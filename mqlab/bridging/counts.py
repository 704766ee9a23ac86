"""A chain without ids: counters and offsets of its stages, compared over the time that all of them cover.

The bridge is a ledger that says that it forwards, or a process that is a client of MQTT and a producer of the log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from mqlab.bridging import courses as chain_courses
from mqlab.bridging.courses import Course
from mqlab.bridging.rows import Chain, Gap, Share, Stage, Step, Whereabouts
from mqlab.bridging.sessions import away
from mqlab.facts import Facts
from mqlab.mqtt.subscriptions import Subscription

WHOLE = "counters do not tell topics apart: what was published elsewhere counts as missing"

_LEAST = 2
"""Stages that there must be to compare."""


def chains(facts: Facts) -> tuple[Chain, ...]:
    """One for each topic of a log into which the only known bridge writes; empty where none is known."""
    taken = tuple(chain_courses.taken(facts))
    topics = sorted({p.topic for p in facts.positions if p.end is not None and not p.topic.startswith(("__", "%"))})
    published = chain_courses.published(facts)
    if not (taken and published and len(topics) == 1):
        return ()
    handled = {(Step.HANDLED, group): own for group, own in chain_courses.committed(facts, topics[0]).items()}
    told = {(Step.PUBLISHED, ""): published, (Step.TAKEN, ", ".join(_names(taken))): taken,
            (Step.STORED, topics[0]): tuple(chain_courses.ends(facts, topics[0])), **handled}  # fmt: skip
    measured = {stage: own for stage, own in told.items() if _lasts(own)}
    window = _window(measured.values())
    if window is None or (Step.PUBLISHED, "") not in measured or len(measured) < _LEAST:
        return ()
    stages = tuple(_stage(step, who, own, window) for (step, who), own in measured.items())
    gaps = tuple(_gaps(facts, stages, taken))
    return (Chain("kafka", topics[0], _names(taken), "counts", stages, gaps, (WHOLE,)),)


def _names(taken: Iterable[Course]) -> tuple[str, ...]:
    return tuple(sorted({course.who for course in taken}))


def _lasts(courses: Sequence[Course]) -> bool:
    """It was counted at two moments."""
    return bool(courses) and min(c.points[0][0] for c in courses) < max(c.points[-1][0] for c in courses)


def _window(every: Collection[Sequence[Course]]) -> tuple[float, float] | None:
    """The time that each stage covers."""
    since = max((min(course.points[0][0] for course in own) for own in every), default=0.0)
    until = min((max(course.points[-1][0] for course in own) for own in every), default=0.0)
    return (since, until) if since < until else None


def _stage(step: Step, who: str, courses: Sequence[Course], window: tuple[float, float]) -> Stage:
    bounds = [chain_courses.growth(course, *window) for course in courses]
    low, high = (round(sum(b[n] for b in bounds)) for n in (0, 2))
    many = round(sum(b[1] for b in bounds))
    own = [Share(c.who, round(b[1]), c.place.source) for c, b in zip(courses, bounds, strict=True)]
    shares = tuple(own) if len(own) > 1 and step is not Step.STORED else ()
    how = "by counters, between the samples around" if low != high else "by counters"
    how += "; snapshots may be read later than their moment says" if any(course.late for course in courses) else ""
    places = tuple(course.place for course in courses[:3])
    return Stage(step, who, many, low, high, how, *window, shares=shares, evidence=places)


def _gaps(facts: Facts, stages: Sequence[Stage], taken: Iterable[Course]) -> Iterator[Gap]:
    """Differences of stages that follow one another, where they are larger than the samples' error."""
    waiting = away(facts, {course.who for course in taken})
    before = None
    for stage in stages:
        if before is not None and (before.low or 0) > (stage.high or 0):
            yield _gap(before, stage, waiting)
        before = stage if stage.step is not Step.HANDLED else before


def _gap(here: Stage, there: Stage, waiting: Sequence[Subscription]) -> Gap:
    where, who, since = Whereabouts.UNKNOWN, there.who, None
    if there.step is Step.HANDLED and here.step is Step.STORED:
        where = Whereabouts.PENDING
    elif there.step is Step.TAKEN and waiting:
        where, who = Whereabouts.QUEUED, ", ".join(sorted({one.client_id for one in waiting}))
        since = min(one.away[-1][0] for one in waiting)
    many = ((here.messages or 0) - (there.messages or 0), (here.low or 0) - (there.high or 0))
    most = (here.high or 0) - (there.low or 0)
    places = (*here.evidence[:1], *there.evidence[:1])
    return Gap(here.step, there.step, where, who, *many, most, "difference of the counters", here.since, here.until,
               since, places)  # fmt: skip
