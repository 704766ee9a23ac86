"""Is a flood of lines an explosion, whose lines are they, and how that is said.

What tells a loop from load, from a start, and from a log that is always like this.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor

from mqlab.facts import Episode, Facts
from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.logs.floods import FAR, MUCH_A_MINUTE, NEARLY_ALL, Flood
from mqlab.rows import LineShape, Shape
from mqlab.shared.benign_lines import STARTING
from mqlab.shared.wording import clock, moment
from mqlab.units import duration, factor, size

USUAL = 0.5
"""How much of a flood's make-up the earlier log had, from which it is what this log is made of: it grew with its
load."""
_START_LASTS = 300.0
"""Seconds for which the burst of a start lasts at most: twice the longest wait for what is not there yet (120 s)."""
_LONG = 2 * _START_LASTS
"""Seconds from which a rate is the log's habit, not its start."""
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
        return Judgement(
            flood, rejected=f"{name} has {flood.spells} bursts of the same few lines, which is normal for it"
        )
    if not flood.sudden:
        return Judgement(flood, rejected=f"{name} became {_times(flood)} as loud gradually, as load makes it")
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
    near = any(-STARTING <= start - flood.started_at <= 60 for start in starts)
    return near and flood.seconds <= _START_LASTS and flood.ended_at is not None


def _too_little(flood: Flood, *, few: bool) -> str:
    grown = f"{flood.log.source} became {_times(flood)} as loud at {clock(flood.started_at)} UTC"
    if few:
        return f"{grown}, but {size(flood.bytes)} in all does no harm"
    return f"{grown}, but its largest shapes carry only {flood.share:.0%} of it"


def _steady(flood: Flood) -> str:
    few = f"{len(flood.shapes)} shape{'s carry' if len(flood.shapes) > 1 else ' carries'} {flood.share:.0%}"
    rate = f"{size(flood.a_minute)} a minute"
    if flood.earlier is None:
        return f"{few} of {flood.log.source}, at a steady rate of {rate} from its first line on"
    return f"{few} of {flood.log.source}, but its busiest time writes {rate}, less than {FAR} times its earlier rate"


def _burst(flood: Flood) -> str:
    return f"{flood.log.source} is loud for {duration(flood.seconds)} after its start: {size(flood.bytes)}, then quiet"


def _before(flood: Flood, why: str) -> str:
    return (
        f"{flood.log.source} from well before {clock(flood.started_at)} UTC: {why}, so "
        f"{size(flood.a_minute)} a minute of the same few lines may be normal for it"
    )


def _times(flood: Flood) -> str:
    return factor(flood.a_minute / max(1.0, flood.earlier.a_minute)) if flood.earlier else "many times"


INCIDENT = "log-explosion"


def finding(facts: Facts, judgement: Judgement) -> Finding:
    """The finding about one log that was judged an explosion."""
    flood = judgement.flood
    name = flood.log.source
    last = facts_end(facts)
    ended = flood.ended_at if flood.ended_at is None or last is None else min(flood.ended_at, last)
    return Finding(
        id=f"{INCIDENT}:{name}",
        incident=INCIDENT,
        severity=Severity.WARNING,
        certainty=judgement.certainty or Certainty.POSSIBLE,
        subject=name,
        started_at=moment(flood.started_at),
        ended_at=moment(ended),
        ongoing=flood.ended_at is None,
        statement=f"{_shares(flood)} {_rates(flood)}",
        measures=_measures(flood),
        evidence=tuple(_evidence(flood)),
        mitigate="Raise the level of that logger, or sample it; side effect: less to see.",
        remedy="Back-off in the loop that prints it, no payloads in log lines, rotation by size, rate-limited loggers.",
        verify=f"Bytes per minute of {name} are back at {_usual(flood)}.",
        facts={"who": name, "first": f"{clock(flood.started_at)} first line of the flood"},
    )


def facts_end(facts: Facts) -> float | None:
    """The last moment that the material is known to cover."""
    minutes = [v.minutes[-1].at for v in facts.volumes if v.minutes]
    covered = [c.last_at for c in facts.coverage if c.last_at is not None]
    return max([*minutes, *covered], default=None)


def percent(share: float) -> str:
    """A share that is never rounded up to the whole: ``99.97 %``."""
    return f"{floor(share * 1000) / 10:.1f} %" if share < 0.999 else f"{floor(share * 10_000) / 100:.2f} %"


def _shares(flood: Flood) -> str:
    log, count = flood.log, len(flood.shapes)
    shapes = f"{count} shape{'s' if count > 1 else ''} of line"
    whole = flood.shape_bytes / log.bytes
    rest = f"without {'them' if count > 1 else 'it'} the log would be {size(log.bytes - flood.shape_bytes)}"
    since = f"since {clock(flood.started_at)} UTC"
    if 2 * whole >= 1:
        return f"{shapes} = {percent(whole)} of the {size(log.bytes)} of {log.source}, {since}; {rest}."
    return (
        f"{shapes} = {percent(flood.share)} of the {size(flood.bytes)} that {log.source} wrote {since} "
        f"({percent(whole)} of its {size(log.bytes)}); {rest}."
    )


def _rates(flood: Flood) -> str:
    spells = f" in {flood.spells} spells" if flood.spells > 1 else ""
    lasted = f"for {duration(flood.seconds)}{spells}" if flood.ended_at else f"{spells} until the log ends".strip()
    rate = f"{size(flood.a_minute)} a minute {lasted}"
    if flood.earlier is None:
        return f"It grew by {rate}; the log begins in the flood, so its earlier rate is unknown."
    return f"It grew by {rate}, before that by {size(flood.earlier.a_minute)} a minute ({_span(flood)})."


def _span(flood: Flood) -> str:
    return f"over {duration(flood.earlier.seconds)}" if flood.earlier else ""


def _usual(flood: Flood) -> str:
    return f"{size(flood.earlier.a_minute)} or below" if flood.earlier else "what they are in quiet times"


def _measures(flood: Flood) -> dict[str, float]:
    measures: dict[str, float] = {
        "share_of_bytes": flood.shape_bytes / flood.log.bytes,
        "share_of_flood_bytes": flood.share,
        "shapes": len(flood.shapes),
        "lines": sum(s.lines for s in flood.shapes),
        "log_bytes": flood.log.bytes,
        "flood_bytes": flood.bytes,
        "flood_seconds": flood.seconds,
        "bytes_without": flood.log.bytes - flood.shape_bytes,
        "bytes_per_minute": flood.a_minute,
        "peak_bytes_per_minute": max(m.bytes for m in flood.minutes),
    }
    if flood.earlier is not None:
        measures["bytes_per_minute_before"] = flood.earlier.a_minute
    return measures


def _evidence(flood: Flood) -> Iterator[Evidence]:
    for shape in flood.shapes:
        yield Evidence(shape.first.source, shape.first.line, shape.first.text, _why(flood, shape))
    before = flood.log.before
    if before is not None and before.text and flood.earlier is not None:
        yield Evidence(before.source, before.line, before.text, "stands just before the first of them")


def _why(flood: Flood, shape: LineShape) -> str:
    count = "the only one" if shape.lines == 1 else f"first of {shape.lines:,}"
    return f"{count} of this shape, {size(shape.bytes)} = {percent(shape.bytes / flood.log.bytes)} of the log"


NEAR = 120.0
"""Seconds around a finding in which it may print lines: a delivery timeout (delivery.timeout.ms 120000)."""
PER_EVENT = 10
"""Lines that one event prints at most: what failed, why, what is tried next."""


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
        told = f"{finding.statement} These lines are a consequence of {cause.incident} on {cause.subject}."
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
