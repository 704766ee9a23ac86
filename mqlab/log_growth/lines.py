"""Which lines a log-explosion is made of: what it accounts for, and whose lines they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from mqlab.facts import Episode, Facts
from mqlab.findings import Certainty, Finding, Severity
from mqlab.log_growth.finding import INCIDENT
from mqlab.rows.lines import LineShape, Shape

NEAR = 120.0
"""Seconds around a finding in which it may make a log explode."""
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


def settled(facts: Facts, findings: Sequence[Finding], trouble: dict[str, tuple[str, ...]]) -> list[Finding]:
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
    facts: Facts, explosion: Finding, findings: Sequence[Finding], trouble: dict[str, tuple[str, ...]]
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
