"""What the first screen says, and the postmortem below it, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise

from mqlab import units, words
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.figures.traffic import UNEXPLAINED, stage_name
from mqlab.findings import Change, Finding, Severity, Stage
from mqlab.headline import headline
from mqlab.notes import IncidentNotes
from mqlab.reporting.course import Step, course
from mqlab.reporting.evidence import Dossier, by_time, dossiers, telling
from mqlab.reporting.story import Story, story
from mqlab.reporting.tiles import Tile, tiles

say = words.room("report")

_TONES = {Severity.CRITICAL: "critical", Severity.WARNING: "warning", Severity.NOTICE: "calm"}


FETCH = "To check the rest, fetch"
"""The title of commands among what is to do."""


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
    """(title, what to do in the words of the finding, or commands)."""
    dossiers: tuple[Dossier, ...]
    changes: tuple[Change, ...]
    telling: tuple[int, ...]
    """Numbers of the few changes that the first screen has room for."""
    title: str
    """What it cost and why, in one sentence."""
    course: tuple[Step, ...]
    story: Story
    diagnosis: Diagnosis
    facts: Facts

    @property
    def leads(self) -> int:
        """How many of the findings the head of the page is about: the first, or none."""
        first = next(iter(self.dossiers), None)
        return int(first is not None and first.finding.incident == self.diagnosis.verdict.incident)


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
        story=story(facts, diagnosis, notes, found),
        diagnosis=diagnosis,
        facts=facts,
    )


def _band(diagnosis: Diagnosis, first: Finding | None) -> tuple[str, ...]:
    """``class · PROVEN · ended 12:23:16 UTC · still open: 1``."""
    verdict = diagnosis.verdict
    still_open = sum(finding.goes_on for finding in diagnosis.findings)
    if first is None or first.incident != verdict.incident:
        return (verdict.incident,)
    parts = [verdict.incident, verdict.certainty.name if verdict.certainty else ""]
    if first.goes_on:
        parts.append("still open")
    elif first.ended_at:
        parts.append(say("ended" if first.over and not first.ongoing else "last-seen", at=first.ended_at))
    if still_open and not (first.goes_on and still_open == 1):
        parts.append(say("still-open", many=still_open))
    return tuple(part for part in parts if part)


def _subject(first: Finding) -> str:
    """Who and where, in the finding's own words where it has them."""
    who, topic = first.facts.get("who"), first.facts.get("topic")
    return say("who", who=who, topic=topic) if who and topic else first.subject


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
    """What the first finding says is to do, if anything; what to fetch where the question is open."""
    if first is not None and (first.severity > Severity.NOTICE or diagnosis.verdict.incident != "undetermined"):
        told = ("Do now", first.mitigate), ("Fix", first.remedy), ("Verify", first.verify)
        return () if words.is_idle(first.mitigate) and words.is_idle(first.remedy) else told
    fetch = tuple(dict.fromkeys(command for entry in diagnosis.not_checked for command in entry.fetch))
    return ((FETCH, "\n".join(fetch[:4])),) if fetch else ()
