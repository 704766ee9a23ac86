"""The postmortem as a story: what it did, when, why, how it was noticed, what is to do, what is open."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.notes import IncidentNotes
from mqlab.reporting.causes import Link, causes
from mqlab.reporting.chronology import Chronology, chronology
from mqlab.reporting.course import course
from mqlab.reporting.evidence import Dossier, by_time
from mqlab.reporting.follow_up import Action, Noticed, Question, actions, noticed, questions
from mqlab.reporting.impact import Effect, impact


@dataclass(frozen=True, slots=True)
class Story:
    """Everything between the first screen and the evidence."""

    summary: tuple[str, ...]
    """What the head of the page says, for templates."""
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
        summary=(diagnosis.verdict.statement,),
        impact=impact(diagnosis, found, notes),
        chronology=when,
        causes=causes(facts, diagnosis, found, course(facts, diagnosis, by_time(diagnosis.changes))),
        noticed=noticed(facts, diagnosis, notes, when),
        actions=actions(found, notes),
        questions=questions(diagnosis, notes),
    )
