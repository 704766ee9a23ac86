"""What the first screen says, as plain data: the template only lays it out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from mqlab import units
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.findings import Finding, Severity, Stage
from mqlab.notes import IncidentNotes
from mqlab.reporting.evidence import ChangeRow, Dossier, change_rows, dossiers, telling
from mqlab.reporting.postmortem import Postmortem, postmortem
from mqlab.reporting.tile import Tile
from mqlab.reporting.tiles import tiles

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
