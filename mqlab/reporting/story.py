"""The postmortem as a story: what happened, what it did, when, why, how it was noticed, what is to do, what is open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab import words
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.findings import Certainty, Finding, Severity
from mqlab.headline import cause
from mqlab.notes import IncidentNotes
from mqlab.reporting.causes import Link, causes
from mqlab.reporting.chronology import Chronology, chronology
from mqlab.reporting.course import course
from mqlab.reporting.evidence import DELIVERY, Dossier, by_time, family, harmful, sudden
from mqlab.reporting.follow_up import Action, Noticed, Question, actions, noticed, questions
from mqlab.reporting.impact import Effect, effects_of, impact

say = words.room("story")


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
        yield say("effect", effect=told.text)
    if outcome := _outcome(lead):
        yield outcome
    yield from _others(lead, [one.finding for one in found[1:] if harmful(one.finding)])


def _others(lead: Finding, besides: Sequence[Finding]) -> Iterator[str]:
    """What was found *besides*: what it came of, what it brought, others it befell, and the rest."""
    brought = list(dict.fromkeys(one.incident for one in besides if lead.brings(one)))
    behind = list(dict.fromkeys(one.incident for one in besides if lead.comes_of(one)))
    told = {*brought, *behind, lead.incident}
    alike = [one for one in besides if one.incident == lead.incident]
    others = list(dict.fromkeys(one.incident for one in besides if one.incident not in told))
    if behind:
        yield say("behind", causes=list(map(cause, behind)))
    if brought:
        yield say("brought", causes=list(map(cause, brought)))
    if alike:
        yield say("alike", subjects=[one.facts.get("who") or one.subject for one in alike])
    if others:
        yield say("besides", causes=list(map(cause, others)))


def _what(lead: Finding) -> str:
    """When it was, what happened, and to whom."""
    begin, end = lead.started_at, lead.ended_at
    goes_on = end is None or lead.goes_on
    lasted = (end - begin).total_seconds() if begin and end else None
    spans = lasted is not None and lasted >= 1 and not goes_on
    at_once = sudden(lead.incident)
    return say(
        "what",
        risk=lead.certainty is Certainty.POSSIBLE,
        since=begin,
        until=end if spans else None,
        seconds=lasted,
        open=goes_on,
        sudden=at_once,
        at=lead.moments[0].at if at_once and lead.moments else None,
        why=cause(lead.incident),
        who=lead.facts.get("who", lead.subject),
    )


def _outcome(lead: Finding) -> str:
    if lead.severity is Severity.NOTICE:
        return say("no-fault") if words.is_idle(lead.mitigate) and words.is_idle(lead.remedy) else ""
    if lead.ongoing:
        return say("goes-on")
    if (cure := lead.cure) is not None:
        return say("ended-by", change=say("change", what=cure.what, before=cure.before, after=cure.after))
    if family(lead.incident) == DELIVERY:
        return ""
    if lead.ended_at is None:
        return say("no-end")
    return say("ended" if lead.over else "end-unknown")


def _of_no_lead(diagnosis: Diagnosis) -> Iterator[str]:
    verdict = diagnosis.verdict
    if verdict.incident == "healthy":
        yield say("healthy", kinds=len(diagnosis.clear))
        for one in diagnosis.findings[:2]:
            yield say("seen", statement=one.statement)
        return
    if not verdict.hypotheses and not diagnosis.symptoms:
        yield verdict.statement
        return
    yield say("calm" if verdict.hypotheses and verdict.hypotheses[0].incident == "healthy" else "unproven")
    if verdict.hypotheses:
        yield say("maybe", causes=[cause(one.incident) for one in verdict.hypotheses[:3]])
    if diagnosis.symptoms:
        yield say("symptom", symptom=diagnosis.symptoms[0])
