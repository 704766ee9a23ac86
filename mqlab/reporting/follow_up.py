"""What follows: how it was noticed and what went well, what is to be done by whom, and which questions stay open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf

from mqlab import words
from mqlab.catalogue import INCIDENTS
from mqlab.diagnosis import Diagnosis, NotChecked
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence, Finding, Severity
from mqlab.notes import IncidentNotes
from mqlab.reporting.chronology import Chronology
from mqlab.reporting.evidence import DELIVERY, Dossier, family, harmful
from mqlab.scope import out_of_scope
from mqlab.words import Text

say = words.room("follow-up")

_SECOND = 1.0
"""Seconds before the onset within which a line belongs to it: the onset is known from samples at times."""
_AFTERMATH = 60.0
"""Seconds after the end of a finding within which trouble may have come of it. Judgement, no default behind it."""
_MOST = 5


@dataclass(frozen=True, slots=True)
class Action:
    """What is to be done: written by people, or suggested by a finding."""

    what: str
    owner: str = ""
    due: str = ""
    status: str = ""
    href: str = ""
    """The finding that suggests it."""
    verify: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What nobody knows yet, and what would tell."""

    text: str
    fetch: str = ""


@dataclass(frozen=True, slots=True)
class Noticed:
    """What went well, and what was noticed late."""

    well: tuple[str, ...]
    badly: tuple[str, ...]


def noticed(facts: Facts, diagnosis: Diagnosis, notes: IncidentNotes, when: Chronology) -> Noticed:
    """What people wrote, and what the moment at which they noticed it tells: how late, and which line was there."""
    lead, well, badly = _lead(diagnosis), list(notes.went_well), list(notes.went_badly)
    onset, detected, stopped = map(when.moment, ("onset", "detected", "mitigated"))
    if lead is None or detected is None:
        return Noticed(tuple(well), tuple(badly))
    if onset is not None and detected > onset:
        badly += _unnoticed(facts, lead, onset, detected)
    if stopped is not None and stopped >= detected:
        well.append(say("mitigated-after-notice", seconds=stopped - detected))
    return Noticed(tuple(well), tuple(badly))


def _lead(diagnosis: Diagnosis) -> Finding | None:
    """The finding that the verdict is about, where it is an incident."""
    first = next(iter(diagnosis.findings), None)
    return first if first and harmful(first) and first.incident == diagnosis.verdict.incident else None


def _unnoticed(facts: Facts, lead: Finding, onset: float, detected: float) -> Iterator[str]:
    """How long nobody noticed it, and the first line that told of it meanwhile."""
    yield say("unnoticed", seconds=detected - onset)
    at, one, place = min(_lines(facts, lead, onset), key=lambda line: line[0], default=(detected, None, None))
    if one is not None and place is not None and at < detected:
        sign = say("sign", kind=one.kind, at=at, place=place.place)
        yield say("logs-before", seconds=detected - at, sign=sign)


def _lines(facts: Facts, lead: Finding, onset: float) -> Iterator[tuple[float, Episode, Evidence]]:
    """Lines since its onset that are signs of its class in the logs that it cites, and those that it cites."""
    incident = INCIDENTS.get(lead.incident)
    kinds = incident.signs if incident else ()
    logs = {place.source for place in lead.evidence}
    cited = {(place.source, place.line) for place in lead.evidence if place.line is not None}
    for one in facts.episodes:
        for at, place in ((one.first_at, one.first), (one.last_at, one.last)):
            told = (one.source in logs and one.kind in kinds) or (place.source, place.line) in cited
            if told and at is not None and at >= onset - _SECOND:
                yield at, one, place


def actions(found: Sequence[Dossier], notes: IncidentNotes) -> tuple[Action, ...]:
    """Those of people with owner and due date, then what findings beside the leading one suggest and nobody wrote."""
    written = [Action(one.what, one.owner, one.due.isoformat() if one.due else "", one.status) for one in notes.actions]
    known = {one.what for one in written}
    return (*written, *(one for one in _suggested(found[1:]) if one.what not in known))


def _suggested(found: Sequence[Dossier]) -> Iterator[Action]:
    seen: set[str] = set()
    for one in found:
        finding = one.finding
        if finding.severity is Severity.NOTICE:
            continue
        may_go_on = finding.ongoing or not finding.over or finding.ended_at is None
        now = [finding.mitigate] if may_go_on else []
        for what in (*now, finding.remedy):
            if what and not words.is_idle(what) and what not in seen:
                seen.add(what)
                yield Action(what, href=f"#{one.anchor}", verify=finding.verify if what == finding.remedy else "")


def questions(diagnosis: Diagnosis, notes: IncidentNotes) -> tuple[Question, ...]:
    """What may be behind it, classes not checked that matter here, what nothing explains, and what only people know."""
    lead = _lead(diagnosis)
    maybe = [
        Question(say("was-it", incident=one.incident, missing=way.missing), way.fetch)
        for one in diagnosis.verdict.hypotheses
        for way in one.settle[:1]
        if lead is not None
    ]
    asked = {one.incident for one in diagnosis.verdict.hypotheses if one.settle}
    left = [one for one in diagnosis.not_checked if one.incident not in asked]
    open_ones = [_unchecked(one) for one in left if lead is not None and _matters(one, lead)]
    symptoms = [symptom for symptom in diagnosis.symptoms if _may_be_cause(symptom, diagnosis)]
    unexplained = [Question(say("what-caused", symptom=symptom)) for symptom in symptoms[:3]]
    return (*maybe, *islice(open_ones, _MOST), *unexplained, *_for_people(diagnosis, notes))


def _matters(entry: NotChecked, lead: Finding) -> bool:
    """Whether this class could change the story: a kin of the *lead*, its consequence, or loss where nobody looked."""
    known = INCIDENTS.get(entry.incident)
    if known is None or any(map(out_of_scope, entry.missing)):
        return False
    own = INCIDENTS.get(lead.incident)
    brings = (*lead.explains, *(own.may_bring if own else ()))
    here = own is None or set(known.systems) & set(own.systems)
    return bool(here) and (known.family in (family(lead.incident), DELIVERY) or entry.incident in brings)


def _may_be_cause(symptom: str, diagnosis: Diagnosis) -> bool:
    """It came before each incident that was found, or long after it, so that it is no effect of what is told."""
    at = symptom.values.get("at") if isinstance(symptom, Text) else None
    spans = [
        (one.started_at.timestamp(), one.ended_at.timestamp() + _AFTERMATH if one.ended_at and not one.ongoing else inf)
        for one in diagnosis.findings
        if harmful(one) and one.started_at is not None
    ]
    return not spans or (isinstance(at, float) and all(at <= since or until < at for since, until in spans))


def _unchecked(entry: NotChecked) -> Question:
    text = say("was-there", incident=entry.incident, missing=entry.missing)
    return Question(text, next(iter(entry.fetch), ""))


def _for_people(diagnosis: Diagnosis, notes: IncidentNotes) -> Iterator[Question]:
    """One line for all that only people know."""
    if _lead(diagnosis) is None:
        return
    asked = {
        say("impact"): notes.impact,
        say("detected"): notes.detected,
        say("resolved"): notes.resolved,
        say("actions"): notes.actions,
        say("went_well"): notes.went_well,
    }
    if lacking := [name for name, known in asked.items() if not known]:
        yield Question(say("for-people", lacking=lacking))
