"""What the first screen says, and the postmortem below it, as plain data.

What a report is told from; ``mqlab.capture.Capture`` is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from mqlab import units
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Episode, Facts
from mqlab.findings import Finding, Severity, Stage
from mqlab.notes import IncidentNotes
from mqlab.reporting.evidence import ChangeRow, Dossier, change_rows, dossiers, telling
from mqlab.reporting.tiles import Tile, tiles

if TYPE_CHECKING:
    from mqlab.capture import Options


class Told(Protocol):
    """What a report needs of a capture."""

    @property
    def facts(self) -> Facts:
        """Everything the detectors looked at."""

    @property
    def diagnosis(self) -> Diagnosis:
        """What they found."""

    @property
    def notes(self) -> IncidentNotes:
        """What people wrote beside the material."""

    @property
    def paths(self) -> Sequence[str]:
        """What was given on the command line."""

    @property
    def options(self) -> Options:
        """What was chosen on the command line."""


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


_TONES = {Severity.CRITICAL: "critical", Severity.WARNING: "warning", Severity.NOTICE: "calm"}


@dataclass(frozen=True, slots=True)
class Bar:
    """One stage of the ledger: where its bar lies, in percent of the widest extent."""

    label: str
    amount: str
    share: str
    left: float
    width: float
    hatched: bool
    how: str
    second_way: str | None
    interval: str


@dataclass(frozen=True, slots=True)
class Action:
    """What to do, in the words of the finding."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class View:
    """Everything that the page says outside the notebooks' sections."""

    tone: str
    band: tuple[str, ...]
    subject: str
    day: str
    statement: str
    tiles: tuple[Tile, ...]
    bars: tuple[Bar, ...]
    symptoms: tuple[str, ...]
    actions: tuple[Action, ...]
    dossiers: tuple[Dossier, ...]
    changes: tuple[ChangeRow, ...]
    telling: tuple[ChangeRow, ...]
    """The few changes that the first screen has room for."""
    postmortem: Postmortem
    diagnosis: Diagnosis
    facts: Facts


def view(facts: Facts, diagnosis: Diagnosis, notes: IncidentNotes) -> View:
    """Put the diagnosis into the order in which it is read."""
    found, changed = dossiers(diagnosis), change_rows(diagnosis.changes)
    first = diagnosis.findings[0] if diagnosis.findings else None
    start = first.started_at if first else units.moment(diagnosis.material.window[0])
    return View(
        tone=_tone(diagnosis, first),
        band=_band(diagnosis, first),
        subject=_subject(first) if first and first.incident == diagnosis.verdict.incident else "",
        day=f"{start:%Y-%m-%d}" if start else "",
        statement=diagnosis.verdict.statement,
        tiles=tiles(facts, diagnosis, found),
        bars=_bars(first),
        symptoms=diagnosis.symptoms,
        actions=_actions(diagnosis, first),
        dossiers=found,
        changes=changed,
        telling=telling(changed, first),
        postmortem=postmortem(facts, diagnosis, notes),
        diagnosis=diagnosis,
        facts=facts,
    )


def _tone(diagnosis: Diagnosis, first: Finding | None) -> str:
    if diagnosis.verdict.incident == "undetermined":
        return "open"
    return _TONES[first.severity] if first else "calm"


def _band(diagnosis: Diagnosis, first: Finding | None) -> tuple[str, ...]:
    """``class · PROVEN · ended 12:23:16 UTC · still open: 1``."""
    verdict = diagnosis.verdict
    still_open = sum(finding.ongoing for finding in diagnosis.findings)
    if first is None or first.incident != verdict.incident:
        return (verdict.incident,)
    parts = [verdict.incident, verdict.certainty.name if verdict.certainty else ""]
    if first.ongoing:
        parts.append("still open")
    elif first.ended_at:
        parts.append(f"ended {units.clock(first.ended_at)} UTC")
    if still_open and not (first.ongoing and still_open == 1):
        parts.append(f"still open: {still_open}")
    return tuple(part for part in parts if part)


def _subject(first: Finding) -> str:
    """Who and where, in the finding's own words where it has them."""
    who, topic = first.facts.get("who"), first.facts.get("topic")
    return f"{who} → {topic}" if who and topic else first.subject


def _bars(first: Finding | None) -> tuple[Bar, ...]:
    ledger = first.ledger if first else None
    if ledger is None or not ledger.bytes_out:
        return ()
    reached, edges = 0, [0]
    for stage in ledger.stages:
        reached += stage.bytes
        edges.append(reached)
    low, extent = min(edges), max(edges) - min(edges) or 1
    return tuple(
        _bar(stage, (min(start, end) - low) / extent, ledger.bytes_out, extent)
        for stage, (start, end) in zip(ledger.stages, pairwise(edges), strict=True)
    )


def _bar(stage: Stage, left: float, whole: int, extent: int) -> Bar:
    hatched = stage.name == "unexplained"
    return Bar(
        label=stage.label if not hatched or "unexplained" in stage.label.lower() else f"unexplained: {stage.label}",
        amount=units.size(stage.bytes),
        share=units.percent(stage.bytes / whole),
        left=round(left * 100, 2),
        width=round(abs(stage.bytes) / extent * 100, 2),
        hatched=hatched,
        how=stage.how,
        second_way=stage.second_way,
        interval=f"{units.size(stage.low)} to {units.size(stage.high)}",
    )


def _actions(diagnosis: Diagnosis, first: Finding | None) -> tuple[Action, ...]:
    if first is not None:
        return (Action("Do now", first.mitigate), Action("Fix", first.remedy), Action("Verify", first.verify))
    fetch = tuple(dict.fromkeys(command for entry in diagnosis.not_checked for command in entry.fetch))
    return (Action("To check the rest, fetch", "\n".join(fetch[:4])),) if fetch else ()
