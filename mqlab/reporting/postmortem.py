"""The postmortem template: what the data knows is filled in, what only people know is visibly empty."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mqlab import units
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Episode, Facts
from mqlab.notes import IncidentNotes

_TOLD = ("broker-stopped", "broker-started", "out-of-memory", "process-exit", "process-started", "rebalance-started")
_MOST_ENTRIES = 60


@dataclass(frozen=True, slots=True)
class Moment:
    """A time that a postmortem asks for; ``at`` empty means that somebody must fill it in."""

    name: str
    at: str
    origin: str
    """``data``, ``incident.yml``, ``inferred`` or empty."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the story."""

    at: str
    text: str
    where: str


@dataclass(frozen=True, slots=True)
class Postmortem:
    """What the template shows."""

    title: str
    moments: tuple[Moment, ...]
    entries: tuple[Entry, ...]


def postmortem(facts: Facts, diagnosis: Diagnosis, notes: IncidentNotes) -> Postmortem:
    """The template for the leading finding."""
    return Postmortem(notes.title or _title(diagnosis), _moments(diagnosis, notes), _entries(facts, diagnosis, notes))


def _title(diagnosis: Diagnosis) -> str:
    first = diagnosis.findings[0] if diagnosis.findings else None
    start = first.started_at if first else units.moment(diagnosis.material.window[0])
    day = f", {start:%Y-%m-%d}" if start else ""
    return f"{diagnosis.verdict.incident}{f': {first.subject}' if first else ''}{day}"


def _moments(diagnosis: Diagnosis, notes: IncidentNotes) -> tuple[Moment, ...]:
    first = diagnosis.findings[0] if diagnosis.findings else None
    return (
        _from_data("onset", first.started_at if first else None),
        _from_people("detected", notes.detected),
        _from_people("mitigated", notes.mitigated) if notes.mitigated else _inferred_mitigation(diagnosis),
        Moment("end", "still open at the end of the material", "data")
        if first and first.ongoing
        else _from_data("end", first.ended_at if first else None),
        _from_people("resolved", notes.resolved),
    )


def _from_data(name: str, at: datetime | None) -> Moment:
    return Moment(name, f"{units.stamp(at)} UTC", "data") if at else Moment(name, "", "")


def _from_people(name: str, at: datetime | None) -> Moment:
    return Moment(name, f"{units.stamp(at)} UTC", "incident.yml") if at else Moment(name, "", "")


def _inferred_mitigation(diagnosis: Diagnosis, slack: float = 120.0) -> Moment:
    """The changed value closest to the end of the leading finding, not more than two minutes from it."""
    end = diagnosis.findings[0].ended_at if diagnosis.findings else None
    if end is None:
        return Moment("mitigated", "", "")
    near = [
        (abs(change.at - end.timestamp()), change.what, change)
        for change in diagnosis.changes
        if change.at is not None and change.before is not None and abs(change.at - end.timestamp()) <= slack
    ]
    if not near:
        return Moment("mitigated", "", "")
    change = min(near, key=lambda entry: entry[:2])[2]
    return Moment("mitigated", f"{units.stamp(change.at)} UTC", "inferred", f"{change.what} → {change.after or '—'}")


def _entries(facts: Facts, diagnosis: Diagnosis, notes: IncidentNotes) -> tuple[Entry, ...]:
    dated: list[tuple[float, str, str]] = []
    for finding in diagnosis.findings:
        if finding.started_at:
            dated.append((finding.started_at.timestamp(), f"{finding.incident} begins: {finding.subject}", finding.id))
        if finding.ended_at:
            dated.append((finding.ended_at.timestamp(), f"{finding.incident} ends: {finding.subject}", finding.id))
    dated += [(e.first_at, _words(e), _place(e)) for e in facts.of_kind(*_TOLD) if e.first_at is not None]
    dated += [
        (change.at, f"{change.what}: {change.before or '—'} → {change.after or '—'}", "change")
        for change in diagnosis.changes
        if change.at is not None
    ]
    dated += [(event.at.timestamp(), event.text, "incident.yml") for event in notes.events]
    return tuple(Entry(units.clock(at), text, where) for at, text, where in sorted(dated)[:_MOST_ENTRIES])


def _words(episode: Episode) -> str:
    who = next((name for name in (episode.client_id, episode.node, episode.group) if name), "")
    return f"{episode.kind.replace('-', ' ')} {who}".strip() + (f" × {episode.count}" if episode.count > 1 else "")


def _place(episode: Episode) -> str:
    return f"{episode.first.source}:{episode.first.line}" if episode.first.line else episode.first.source
