"""Is a flood of lines an explosion (no load, no start, no habit of the log), and which finding printed its lines?"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.findings import Certainty, Finding, Severity
from mqlab.logs.floods import FAR, MUCH_A_MINUTE, NEARLY_ALL, Flood
from mqlab.rows import LineShape, Shape
from mqlab.shared.benign_lines import STARTING
from mqlab.words import Text, listed
from mqlab.words.filling import Value

say = words.room("explosion")

USUAL = 0.5
"""How much of a flood's make-up the earlier log had, from which it is what this log is made of: it grew with its
load."""
_START_LASTS = 300.0
"""Seconds for which the burst of a start lasts at most: twice the longest wait for what is not there yet (120 s)."""
_LONG = 2 * _START_LASTS
"""Seconds from which a rate is the log's habit, not its start: twice what a start lasts."""
_AGAIN = 3
"""Spells from which bursts are the log's habit: one may be a fault, and two its return."""
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
        return Judgement(flood, rejected=_said("little" if few else "mixed", flood) if far else None)
    if complains(flood):
        return _complaint(flood)
    return _without_before(facts, flood) if flood.earlier is None else _with_before(facts, flood)


def complains(flood: Flood) -> bool:
    """True where most bytes of the flood's shapes are warnings, errors, or lines that speak of failure."""
    loud = sum(s.bytes for s in flood.shapes if _is_complaint(s))
    return 2 * loud > flood.shape_bytes


def _is_complaint(shape: LineShape | Shape) -> bool:
    return shape.level in _TROUBLE or (shape.level is None and _FAILING.search(shape.shape) is not None)


def is_all_there_is(facts: Facts, shape: Shape) -> bool:
    """A piece of a log that begins with one complaint and is nearly all of it, written at a rate that matters."""
    if not _is_complaint(shape) or shape.first_at is None or shape.last_at is None:
        return False
    own = [c for c in facts.coverage if c.source == shape.source]
    if any(c.first_at is not None and c.first_at < shape.first_at - 1.0 for c in own):
        return False
    every = sum(c.bytes for c in own)
    a_minute = shape.bytes * 60 / max(1.0, shape.last_at - shape.first_at)
    return shape.bytes >= NEARLY_ALL * every and shape.lines >= _AGAIN and a_minute >= MUCH_A_MINUTE


def _complaint(flood: Flood) -> Judgement:
    """Load does not explain complaints: with an earlier rate they are proven, without one only a mass of them."""
    if flood.far_above:
        return Judgement(flood, Certainty.PROVEN)
    if flood.earlier is None and flood.a_minute >= MUCH_A_MINUTE:
        return Judgement(flood, Certainty.LIKELY)
    return Judgement(flood, rejected=_said("steady", flood))


def _with_before(facts: Facts, flood: Flood) -> Judgement:
    """Lines that complain of nothing may be traffic: everything that traffic looks like is ruled out first."""
    earlier = flood.earlier
    if earlier is None or not flood.far_above:
        return Judgement(flood, rejected=_said("steady", flood))
    if earlier.alike >= USUAL:
        return Judgement(flood, rejected=_said("load", flood))
    if _is_start(facts, flood):
        return Judgement(flood, rejected=_said("start", flood))
    if flood.spells >= _AGAIN:
        return Judgement(flood, rejected=_said("bursts", flood))
    if not flood.sudden:
        return Judgement(flood, rejected=_said("gradual", flood))
    if earlier.seconds < _LONG:
        return Judgement(flood, missing=_said("no-before", flood))
    return Judgement(flood, Certainty.LIKELY if earlier.alike else Certainty.PROVEN)


def _without_before(facts: Facts, flood: Flood) -> Judgement:
    if _is_start(facts, flood):
        return Judgement(flood, rejected=_said("start", flood))
    if flood.seconds >= _LONG:
        return Judgement(flood, rejected=_said("steady", flood))
    return Judgement(flood, missing=_said("no-before", flood))


def _is_start(facts: Facts, flood: Flood) -> bool:
    """True where a process of this log starts just before, and the burst ends or the log ends with it."""
    sources = {s.first.source for s in flood.shapes} | {flood.log.source}
    starts = [e.first_at for e in facts.of_kind(*_STARTS) if e.source in sources and e.first_at is not None]
    starts += [flood.log.first_at] if flood.log.first_at is not None else []
    near = any(-STARTING <= start - flood.started_at <= 60 for start in starts)
    return near and flood.seconds <= _START_LASTS and flood.ended_at is not None


def _said(key: str, flood: Flood) -> Text:
    """The text *key* of a flood."""
    earlier = flood.earlier
    known: dict[str, Value] = {
        "log": flood.log.source,
        "since": flood.started_at,
        "seconds": flood.seconds,
        "bytes": flood.bytes,
        "rate": flood.a_minute,
        "shapes": len(flood.shapes),
        "share": round(100 * flood.share),
        "spells": flood.spells,
        "times": flood.a_minute / max(1.0, earlier.a_minute) if earlier else None,
        "alike": round(100 * earlier.alike) if earlier else None,
        "earlier": earlier.seconds if earlier else None,
        "far": FAR if earlier else None,
    }
    return say(key, **known)


INCIDENT = "log-explosion"
NEAR = 120.0
"""Seconds around a finding in which it may print lines: a delivery timeout (delivery.timeout.ms 120000)."""
PER_EVENT = 10
"""Lines that one event prints at most: what failed, why, what is tried next. Judgement, no default behind it."""


def shapes_of(facts: Facts, explosion: Finding) -> tuple[LineShape, ...]:
    """The shapes whose first lines prove *explosion*."""
    cited = {(e.source, e.line) for e in explosion.evidence}
    return tuple(s for v in facts.volumes for s in v.shapes if (s.first.source, s.first.line) in cited)


def accounts_for_shape(shapes: Collection[LineShape], shape: Shape) -> bool:
    """True for a counted shape that is one of *shapes*, wherever it was cut."""
    return any(
        s.first.source == shape.source and s.level == shape.level and s.shape.startswith(shape.shape) for s in shapes
    )


def accounted_sources(shapes: Collection[LineShape], episodes: Sequence[Episode]) -> frozenset[str]:
    """The logs in which *episodes*, all of one kind, are lines of *shapes*: some first line is that of a shape."""
    cited = {(s.first.source, s.first.line) for s in shapes}
    return frozenset(e.source for e in episodes if (e.source, e.first.line) in cited)


def settled(facts: Facts, findings: Sequence[Finding], trouble: Mapping[str, Sequence[str]]) -> list[Finding]:
    """*findings*; an explosion whose lines another one explains becomes that one's consequence, and a notice.

    *trouble* says which classes account for which kinds of event.
    """
    caused = {f.id: _cause(facts, f, findings, trouble) for f in findings if f.incident == INCIDENT}
    causes = {id(cause) for cause in caused.values() if cause is not None}
    return [_placed(finding, caused.get(finding.id), id(finding) in causes) for finding in findings]


def _placed(finding: Finding, cause: Finding | None, is_cause: bool) -> Finding:
    if cause is not None:
        consequence = say("consequence", incident=cause.incident, subject=cause.subject)
        told = listed((finding.statement, consequence), " ")
        return replace(finding, severity=Severity.NOTICE, statement=told)
    if is_cause and INCIDENT not in finding.explains:
        return replace(finding, explains=(*finding.explains, INCIDENT))
    return finding


def _cause(
    facts: Facts, explosion: Finding, findings: Sequence[Finding], trouble: Mapping[str, Sequence[str]]
) -> Finding | None:
    """The finding whose events printed the lines: in the same log, at that time, and enough of them."""
    shapes = shapes_of(facts, explosion)
    sources, lines = {s.first.source for s in shapes}, sum(s.lines for s in shapes)
    for other in findings:
        if other.incident == INCIDENT or other.severity is Severity.NOTICE or other.certainty is Certainty.POSSIBLE:
            continue
        kinds = [kind for kind, classes in trouble.items() if other.incident in classes]
        here = [e for e in facts.of_kind(*kinds) if e.source in sources and _within(e, explosion) and _within(e, other)]
        if PER_EVENT * sum(e.count for e in here) >= lines > 0:
            return other
    return None


def _within(episode: Episode, finding: Finding) -> bool:
    if episode.first_at is None or finding.started_at is None:
        return False
    late = finding.ended_at is not None and episode.first_at > finding.ended_at.timestamp() + NEAR
    return episode.first_at >= finding.started_at.timestamp() - NEAR and (finding.ongoing or not late)
