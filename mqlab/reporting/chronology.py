"""What happened when: one row for each moment, with links to what proves it, the telling ones apart from the rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mqlab import words
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Episode, Facts
from mqlab.findings import Change, Finding, Severity
from mqlab.headline import begins
from mqlab.known_errors import WORKS_AGAIN
from mqlab.notes import IncidentNotes
from mqlab.reporting.evidence import by_time
from mqlab.symptoms.deaths import Death, deaths

say = words.room("chronology")

_TOLD = ("broker-stopped", "broker-started", "out-of-memory", "process-exit", "process-started", "rebalance-started")
_GRAVE = ("broker-stopped", "out-of-memory", "process-exit")
_SHOWN = 12
"""Rows that a reader takes in at once; the others stand behind a fold."""
_FEW = 4
"""Rows that are shown even where none of them tells much."""
_LATER = 600.0
"""Seconds after its end within which starts of processes belong to an incident."""
_MOST = 200
_LIGHT = 3


@dataclass(frozen=True, slots=True)
class Happening:
    """Something at one moment."""

    at: float
    text: str
    href: str = ""
    """The place on the page that proves it; empty where there is none."""
    place: str = ""
    """Where it was read: a line of the material, or ``incident.yml``."""
    mark: str = ""
    """onset, detected, mitigated, end or resolved: the moments that a postmortem asks for."""
    inferred: bool = False
    weight: int = 2
    """0 for what must be shown, 3 for what only completes the picture."""


@dataclass(frozen=True, slots=True)
class Row:
    """One second, and all that happened in it."""

    at: float
    happened: tuple[Happening, ...]

    @property
    def weight(self) -> int:
        """That of the weightiest."""
        return min(one.weight for one in self.happened)


@dataclass(frozen=True, slots=True)
class Chronology:
    """All rows by time: those that tell the incident, and the rest."""

    told: tuple[Row, ...]
    rest: tuple[Row, ...]
    left_out: int
    """Rows beyond those of a page."""

    @property
    def days(self) -> int:
        """How many days it touches."""
        return len({int(row.at // 86400) for row in (*self.told, *self.rest)})

    def moment(self, mark: str) -> float | None:
        """When the incident had its *mark*; None where nothing says it."""
        return next((one.at for row in self.told for one in row.happened if one.mark == mark), None)


def chronology(facts: Facts, diagnosis: Diagnosis, notes: IncidentNotes) -> Chronology:
    """Each moment of findings, changes, processes and people once."""
    changes = by_time(diagnosis.changes)
    known = {(one.source, one.line) for change in changes for one in change.evidence}
    crashed = {one.subject for one in diagnosis.findings if one.incident == "broker-crash"}
    every = [
        *_of_findings(diagnosis),
        *_of_changes(changes, next(iter(diagnosis.findings), None), notes),
        *_of_people(notes),
        *(_of_death(one) for one in deaths(facts) if one.who not in crashed),
        *(
            _of_process(one)
            for one in facts.of_kind(*_TOLD)
            if one.first_at is not None and (one.first.source, one.first.line) not in known
        ),
    ]
    seconds: dict[int, list[Happening]] = defaultdict(list)
    for one in sorted(every, key=_order):
        if one.text not in {other.text for other in seconds[int(one.at)]}:
            seconds[int(one.at)].append(one)
    rows = [Row(own[0].at, tuple(own)) for own in seconds.values() if own]
    ranked = sorted(rows, key=lambda row: (row.weight, row.at))
    shown = min(_SHOWN, max(_FEW, sum(row.weight < _LIGHT for row in rows)))
    told = sorted(ranked[:shown], key=lambda row: row.at)
    rest = sorted(ranked[shown:], key=lambda row: row.at)
    return Chronology(tuple(told), tuple(rest[:_MOST]), max(0, len(rest) - _MOST))


def _order(one: Happening) -> tuple[float, int, str, int, str]:
    """By time; within a second of a log by its lines."""
    source, _, line = one.place.rpartition(":")
    return one.at, one.weight, source, int(line) if line.isdigit() else 0, one.text


_ERROR = "error"
"""The fact of a finding that names a known error: its last line is no end of it."""


def _of_findings(diagnosis: Diagnosis) -> Iterator[Happening]:
    for number, finding in enumerate(diagnosis.findings, start=1):
        lead, href = number == 1 and finding.incident == diagnosis.verdict.incident, f"#F{number}"
        weight = 0 if lead else 1 if finding.severity > Severity.NOTICE else _LIGHT
        begin, end = finding.started_at, finding.ended_at
        if begin is not None:
            what = begins(diagnosis, finding)
            told = say("onset" if what else "onset-unnamed", begins=what, **_names(finding))
            yield Happening(begin.timestamp(), told, href, mark="onset" if lead else "", weight=weight)
        if end is not None and end != begin:
            last = finding.ongoing or not finding.over
            is_sign = (last or _ERROR in finding.facts) and WORKS_AGAIN not in finding.facts
            told = say("last-seen" if is_sign else "end", **_names(finding))
            mark = "end" if lead and not last else ""
            yield Happening(end.timestamp(), told, href, mark=mark, weight=weight)


def _names(finding: Finding) -> dict[str, str]:
    return {"incident": finding.incident, "subject": finding.subject}


def _of_changes(changes: Sequence[Change], lead: Finding | None, notes: IncidentNotes) -> Iterator[Happening]:
    for number, change in enumerate(changes, start=1):
        if change.at is None:
            continue
        told = say("change", what=change.what, was=change.before, after=change.after or "—")
        place = change.evidence[-1].place if change.evidence else ""
        near = _during(change.at, lead) or _is_of_group(change, lead)
        weight = 1 if change.before is not None else 2 if near else _LIGHT
        one = Happening(change.at, told, f"#C{number}", place, inferred=change.inferred, weight=weight)
        cured = lead is not None and not notes.mitigated and lead.was_cured_by(change)
        yield replace(one, mark="mitigated", inferred=True, weight=0) if cured else one


def _during(at: float, lead: Finding | None) -> bool:
    if lead is None or lead.started_at is None or lead.severity is Severity.NOTICE:
        return False
    end = lead.ended_at.timestamp() + _LATER if lead.ended_at else float("inf")
    return lead.started_at.timestamp() <= at <= end


def _is_of_group(change: Change, lead: Finding | None) -> bool:
    """It is about the group that the leading finding is about."""
    group = getattr(change.what, "values", {}).get("group")
    return lead is not None and group is not None and lead.subject.partition("/")[0] == group


def _of_people(notes: IncidentNotes) -> Iterator[Happening]:
    said = (
        ("detected", notes.detected, say("detected")),
        ("mitigated", notes.mitigated, say("mitigated")),
        ("resolved", notes.resolved, say("resolved")),
    )
    for mark, at, told in said:
        if at is not None:
            yield Happening(at.timestamp(), told, place="incident.yml", mark=mark, weight=0)
    for event in notes.events:
        yield Happening(event.at.timestamp(), event.text, place="incident.yml", weight=0)


def _of_death(death: Death) -> Happening:
    place = death.evidence[-1].place if death.evidence else ""
    return Happening(death.since, say("death", who=death.who, how=death.how), place=place, inferred=True, weight=1)


def _of_process(episode: Episode) -> Happening:
    many, who = episode.count if episode.count > 1 else None, episode.client_id or episode.node or None
    told = say("happened", kind=episode.kind, who=who, group=episode.group or None, many=many)
    return Happening(
        episode.first_at or 0.0, told, place=episode.first.place, weight=2 if episode.kind in _GRAVE else _LIGHT
    )
