"""The postmortem as a story: what happened, what it did, when, why, how it was noticed, what is to do, what is open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab import units
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.findings import Certainty, Finding, Severity
from mqlab.headline import cause
from mqlab.notes import IncidentNotes
from mqlab.reporting.causes import Link, causes
from mqlab.reporting.chronology import Chronology, chronology
from mqlab.reporting.course import course
from mqlab.reporting.evidence import DELIVERY, Dossier, by_time, family, harmful
from mqlab.reporting.follow_up import Action, Noticed, Question, actions, noticed, questions
from mqlab.reporting.impact import Effect, effects_of, impact
from mqlab.shared.wording import few


@dataclass(frozen=True, slots=True)
class Story:
    """Everything between the first screen and the evidence."""

    summary: tuple[str, ...]
    impact: tuple[Effect, ...]
    chronology: Chronology
    causes: tuple[Link, ...]
    noticed: Noticed
    actions: tuple[Action, ...]
    questions: tuple[Question, ...]


def story(facts: Facts, diagnosis: Diagnosis, notes: IncidentNotes, found: tuple[Dossier, ...]) -> Story:
    """The story of a diagnosis, with what people wrote about it."""
    when = chronology(facts, diagnosis, notes)
    return Story(
        summary=tuple(_summary(diagnosis, found)),
        impact=impact(diagnosis, found, notes),
        chronology=when,
        causes=causes(facts, diagnosis, found, course(facts, diagnosis, by_time(diagnosis.changes))),
        noticed=noticed(facts, diagnosis, notes, when),
        actions=actions(found, notes),
        questions=questions(diagnosis, notes),
    )


def _summary(diagnosis: Diagnosis, found: tuple[Dossier, ...]) -> Iterator[str]:
    """Two to four sentences for somebody who was not there."""
    lead = found[0].finding if found else None
    if lead is None or lead.incident != diagnosis.verdict.incident:
        yield from _of_no_lead(diagnosis)
        return
    yield _what(lead)
    if lead.certainty is Certainty.POSSIBLE:
        return
    if told := next(effects_of([found[0]]), None):
        yield f"{told.text}."
    besides = [one.finding for one in found[1:] if harmful(one.finding)]
    brought = list(dict.fromkeys(one.incident for one in besides if lead.brings(one)))
    others = list(dict.fromkeys(one.incident for one in besides if one.incident not in brought))
    if brought:
        yield f"It brought more with it: {few([cause(slug) for slug in brought], 3)}."
    if others:
        yield f"Found besides: {few([cause(slug) for slug in others], 3)}."
    if outcome := _outcome(lead):
        yield outcome


def _what(lead: Finding) -> str:
    """When it was, what happened, and to whom."""
    begin, end, who = lead.started_at, lead.ended_at, lead.facts.get("who", lead.subject)
    why = cause(lead.incident)
    if lead.certainty is Certainty.POSSIBLE:
        return f"A risk that the settings make, no incident: {why} ({who})."
    if begin is None:
        return f"At a time that the material does not tell, {why} ({who})."
    if end is None or lead.ongoing:
        return f"Since {units.stamp(begin)} UTC, {why} ({who})."
    if end == begin:
        return f"At {units.stamp(begin)} UTC, {why} ({who})."
    lasted = units.duration((end - begin).total_seconds())
    return f"From {units.stamp(begin)} to {units.clock(end)} UTC, for {lasted}, {why} ({who})."


def _outcome(lead: Finding) -> str:
    if lead.severity is Severity.NOTICE:
        return "That is no fault, and nothing needs to be done."
    if lead.ongoing:
        return "It was still going on at the end of the material."
    if (cure := lead.cure) is not None:
        changed = f"{cure.what} {cure.before} → {cure.after}"
        return f"It ended, and then this changed, which is probably what ended it: {changed}."
    if family(lead.incident) == DELIVERY:
        return ""
    if lead.ended_at is None:
        return "Its end is not in the material."
    return "It ended." if lead.over else "Whether it was over then is not in the material."


def _of_no_lead(diagnosis: Diagnosis) -> Iterator[str]:
    verdict = diagnosis.verdict
    if verdict.incident == "healthy":
        yield f"{units.counted(len(diagnosis.clear), 'kind')} of incident were looked for and none was there."
        for one in diagnosis.findings[:2]:
            yield f"Seen, and no fault: {one.statement.partition('. ')[0].rstrip('.')}."
        return
    if not verdict.hypotheses and not diagnosis.symptoms:
        yield verdict.statement
        return
    yield "There are signs of trouble, and the material does not prove what is behind them."
    if verdict.hypotheses:
        yield f"It may be that {' or that '.join(cause(one.incident) for one in verdict.hypotheses[:3])}."
    if diagnosis.symptoms:
        yield f"The earliest sign that nothing explains: {diagnosis.symptoms[0]}."
