"""Is a flood of lines an explosion? What tells a loop from load, a start, and a log that is always like this."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mqlab.facts import Facts
from mqlab.findings import Certainty
from mqlab.log_growth.floods import FAR, MUCH_A_MINUTE, NEARLY_ALL, Flood
from mqlab.questions.wording import clock
from mqlab.rows.lines import LineShape
from mqlab.units import duration, factor, size

USUAL = 0.5
"""How much of a flood's make-up the earlier log had, from which it is what this log is made of: it grew with its
load."""
_START = 90.0
"""Seconds after its start in which a process still starts."""
_START_LASTS = 300.0
"""Seconds for which the burst of a start lasts at most."""
_LONG = 600.0
"""Seconds from which a rate is the log's habit, not its start."""
_AGAIN = 3
"""Spells from which bursts are the log's habit."""
_STARTS = ("settings-printed", "broker-started", "client-version", "process-started")
_TROUBLE = frozenset({"WARN", "ERROR", "FATAL"})
_FAILING = re.compile(
    r"\b(?:fail\w*|errors?|exception|refused|denied|timed? ?out|unable|cannot|could not|lost|retry\w*)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a flood is: found with a certainty, or rejected, or lacking something, or nothing of the kind."""

    flood: Flood
    certainty: Certainty | None = None
    rejected: str | None = None
    missing: str | None = None


def judged(facts: Facts, flood: Flood) -> Judgement:
    """The judgement of one log's loudest time."""
    few = flood.share >= NEARLY_ALL
    if not few or not flood.matters:
        far = flood.far_above and (flood.matters or few)
        return Judgement(flood, rejected=_too_little(flood, few=few) if far else None)
    if complains(flood):
        return _complaint(flood)
    return _without_before(facts, flood) if flood.earlier is None else _with_before(facts, flood)


def complains(flood: Flood) -> bool:
    """True where most bytes of the flood's shapes are warnings, errors, or lines that speak of failure."""
    loud = sum(s.bytes for s in flood.shapes if _is_complaint(s))
    return 2 * loud > flood.shape_bytes


def _is_complaint(shape: LineShape) -> bool:
    return shape.level in _TROUBLE or (shape.level is None and _FAILING.search(shape.shape) is not None)


def _complaint(flood: Flood) -> Judgement:
    """Load does not explain complaints: with an earlier rate they are proven, without one only a mass of them."""
    if flood.far_above:
        return Judgement(flood, Certainty.PROVEN)
    if flood.earlier is None and flood.a_minute >= MUCH_A_MINUTE:
        return Judgement(flood, Certainty.LIKELY)
    return Judgement(flood, rejected=_steady(flood))


def _with_before(facts: Facts, flood: Flood) -> Judgement:
    """Lines that complain of nothing may be traffic: everything that traffic looks like is ruled out first."""
    earlier = flood.earlier
    if earlier is None or not flood.far_above:
        return Judgement(flood, rejected=_steady(flood))
    name = flood.log.source
    if earlier.alike >= USUAL:
        same = f"made up {earlier.alike:.0%} of it before, so it grew with its load"
        return Judgement(flood, rejected=f"{name} became {_times(flood)} as loud, but the same lines {same}")
    if _is_start(facts, flood):
        return Judgement(flood, rejected=_burst(flood))
    if flood.spells >= _AGAIN:
        return Judgement(flood, rejected=f"{name} has {flood.spells} bursts of the same few lines: it is always so")
    if not flood.sudden:
        return Judgement(flood, rejected=f"{name} became {_times(flood)} as loud little by little, as load does")
    if earlier.seconds < _LONG:
        return Judgement(flood, missing=_before(flood, f"only {duration(earlier.seconds)} of it are here"))
    return Judgement(flood, Certainty.LIKELY if earlier.alike else Certainty.PROVEN)


def _without_before(facts: Facts, flood: Flood) -> Judgement:
    if _is_start(facts, flood):
        return Judgement(flood, rejected=_burst(flood))
    if flood.seconds >= _LONG:
        return Judgement(flood, rejected=_steady(flood))
    return Judgement(flood, missing=_before(flood, "it begins in the loudest time"))


def _is_start(facts: Facts, flood: Flood) -> bool:
    """True where a process of this log starts just before, and the burst ends or the log ends with it."""
    sources = {s.first.source for s in flood.shapes} | {flood.log.source}
    starts = [e.first_at for e in facts.of_kind(*_STARTS) if e.source in sources and e.first_at is not None]
    starts += [flood.log.first_at] if flood.log.first_at is not None else []
    near = any(-_START <= start - flood.started_at <= 60 for start in starts)
    return near and flood.seconds <= _START_LASTS and flood.ended_at is not None


def _too_little(flood: Flood, *, few: bool) -> str:
    grown = f"{flood.log.source} became {_times(flood)} as loud at {clock(flood.started_at)} UTC"
    if few:
        return f"{grown}, but with {size(flood.bytes)} in all that does no harm"
    return f"{grown}, but its largest shapes carry only {flood.share:.0%} of it"


def _steady(flood: Flood) -> str:
    few = f"{len(flood.shapes)} shape{'s carry' if len(flood.shapes) > 1 else ' carries'} {flood.share:.0%}"
    rate = f"{size(flood.a_minute)} a minute"
    if flood.earlier is None:
        return f"{few} of {flood.log.source}, at a steady rate of {rate} from its first line on"
    return f"{few} of {flood.log.source}, but its loudest time has {rate}, less than {FAR} times what it had before"


def _burst(flood: Flood) -> str:
    return f"{flood.log.source} is loud for {duration(flood.seconds)} after its start: {size(flood.bytes)}, then quiet"


def _before(flood: Flood, why: str) -> str:
    return (
        f"{flood.log.source} from well before {clock(flood.started_at)} UTC: {why}, so that the "
        f"{size(flood.a_minute)} a minute of the same few lines may be what it always has"
    )


def _times(flood: Flood) -> str:
    return factor(flood.a_minute / max(1.0, flood.earlier.a_minute)) if flood.earlier else "many times"
