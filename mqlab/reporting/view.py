"""What the first screen says, and the postmortem below it, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, pairwise

from mqlab import units
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Episode, Facts
from mqlab.figures.traffic import UNEXPLAINED, stage_name
from mqlab.findings import Change, Finding, Severity, Stage
from mqlab.frames import where
from mqlab.headline import headline
from mqlab.notes import IncidentNotes
from mqlab.reporting.course import Step, course
from mqlab.reporting.evidence import Dossier, by_time, dossiers, telling
from mqlab.reporting.tiles import Tile, tiles

_TOLD = ("broker-stopped", "broker-started", "out-of-memory", "process-exit", "process-started", "rebalance-started")
_MOST_ENTRIES = 60
_SLACK = 120.0
"""Seconds from the end of a finding within which a change may have ended it: rates are seen a scrape or two later."""

Moment = tuple[str, str, str, str]
"""A time that a postmortem asks for: name, moment (empty where somebody must fill it in), where that is from, note."""
Entry = tuple[str, str, str]
"""One line of the story: UTC, what, where from."""


def _moments(diagnosis: Diagnosis, first: Finding | None, notes: IncidentNotes) -> tuple[Moment, ...]:
    ended = _moment("end", first.ended_at if first else None, "data")
    return (
        _moment("onset", first.started_at if first else None, "data"),
        _moment("detected", notes.detected, "incident.yml"),
        _moment("mitigated", notes.mitigated, "incident.yml") if notes.mitigated else _mitigated(diagnosis),
        ("end", "still open at the end of the material", "data", "") if first and first.ongoing else ended,
        _moment("resolved", notes.resolved, "incident.yml"),
    )


def _moment(name: str, at: datetime | float | None, origin: str, note: str = "") -> Moment:
    return (name, f"{units.stamp(at)} UTC", origin, note) if at else (name, "", "", "")


def _mitigated(diagnosis: Diagnosis) -> Moment:
    """The changed value closest to the end of the leading finding, not more than two minutes from it."""
    end = diagnosis.findings[0].ended_at if diagnosis.findings else None
    near = [
        (abs(change.at - end.timestamp()), change.what, change)
        for change in diagnosis.changes
        if end is not None and change.at is not None and change.before is not None
    ]
    far, _, change = min(near, key=lambda entry: entry[:2], default=(_SLACK + 1, "", None))
    if change is None or far > _SLACK:
        return _moment("mitigated", None, "")
    return _moment("mitigated", change.at, "inferred", f"{change.what} → {change.after or '—'}")


def _entries(facts: Facts, diagnosis: Diagnosis, notes: IncidentNotes) -> tuple[Entry, ...]:
    dated = [
        (at.timestamp(), f"{finding.incident} {verb}: {finding.subject}", finding.id)
        for finding in diagnosis.findings
        for at, verb in ((finding.started_at, "begins"), (finding.ended_at, "ends"))
        if at is not None
    ]
    dated += [(e.first_at, _words(e), where(e.first)) for e in facts.of_kind(*_TOLD) if e.first_at is not None]
    dated += [
        (change.at, f"{change.what}: {change.before or '—'} → {change.after or '—'}", "change")
        for change in diagnosis.changes
        if change.at is not None
    ]
    dated += [(event.at.timestamp(), event.text, "incident.yml") for event in notes.events]
    return tuple((units.clock(at), text, place) for at, text, place in sorted(dated)[:_MOST_ENTRIES])


def _words(episode: Episode) -> str:
    who = next((name for name in (episode.client_id, episode.node, episode.group) if name), "")
    return f"{episode.kind.replace('-', ' ')} {who}".strip() + (f" × {episode.count}" if episode.count > 1 else "")


_TONES = {Severity.CRITICAL: "critical", Severity.WARNING: "warning", Severity.NOTICE: "calm"}


@dataclass(frozen=True, slots=True)
class Bar:
    """One stage of the ledger: where its bar lies, in percent of the widest extent."""

    stage: Stage
    label: str
    share: str
    left: float
    width: float
    hatched: bool


@dataclass(frozen=True, slots=True)
class View:
    """Everything that the page says outside the notebooks' sections."""

    tone: str
    band: tuple[str, ...]
    subject: str
    day: str
    tiles: tuple[Tile, ...]
    bars: tuple[Bar, ...]
    actions: tuple[tuple[str, str], ...]
    """(title, what to do in the words of the finding)."""
    dossiers: tuple[Dossier, ...]
    changes: tuple[Change, ...]
    telling: tuple[int, ...]
    """Numbers of the few changes that the first screen has room for."""
    title: str
    """What it cost and why, in one sentence."""
    course: tuple[Step, ...]
    moments: tuple[Moment, ...]
    entries: tuple[Entry, ...]
    diagnosis: Diagnosis
    facts: Facts


def view(facts: Facts, diagnosis: Diagnosis, notes: IncidentNotes) -> View:
    """Put the diagnosis into the order in which it is read."""
    found, changed = dossiers(diagnosis), by_time(diagnosis.changes)
    first = diagnosis.findings[0] if diagnosis.findings else None
    start = first.started_at if first else units.moment(diagnosis.material.window[0])
    tone = "open" if diagnosis.verdict.incident == "undetermined" else _TONES[first.severity] if first else "calm"
    return View(
        tone=tone,
        band=_band(diagnosis, first),
        subject=_subject(first) if first and first.incident == diagnosis.verdict.incident else "",
        day=f"{start:%Y-%m-%d}" if start else "",
        tiles=tiles(facts, diagnosis, found),
        bars=_bars(first),
        actions=_actions(diagnosis, first),
        dossiers=found,
        changes=changed,
        telling=telling(changed, first),
        title=headline(diagnosis, notes),
        course=course(facts, diagnosis, changed),
        moments=_moments(diagnosis, first, notes),
        entries=_entries(facts, diagnosis, notes),
        diagnosis=diagnosis,
        facts=facts,
    )


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
    edges = list(accumulate((stage.bytes for stage in ledger.stages), initial=0))
    low, extent = min(edges), max(edges) - min(edges) or 1
    return tuple(
        Bar(
            stage, stage_name(stage), units.percent(stage.bytes / ledger.bytes_out),
            round((min(start, end) - low) / extent * 100, 2), round(abs(stage.bytes) / extent * 100, 2),
            stage.name == UNEXPLAINED,
        )
        for stage, (start, end) in zip(ledger.stages, pairwise(edges), strict=True)
    )  # fmt: skip


def _actions(diagnosis: Diagnosis, first: Finding | None) -> tuple[tuple[str, str], ...]:
    if first is not None:
        return ("Do now", first.mitigate), ("Fix", first.remedy), ("Verify", first.verify)
    fetch = tuple(dict.fromkeys(command for entry in diagnosis.not_checked for command in entry.fetch))
    return (("To check the rest, fetch", "\n".join(fetch[:4])),) if fetch else ()
