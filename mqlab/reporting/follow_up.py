"""What follows: how it was noticed and what went well, what is to be done by whom, and which questions stay open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf

from mqlab import words
from mqlab.catalogue import INCIDENTS
from mqlab.delivery.audit import audits
from mqlab.delivery.rows import Outcome
from mqlab.diagnosis import Diagnosis, NotChecked
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence, Finding, Severity
from mqlab.notes import IncidentNotes
from mqlab.reporting.chronology import Chronology
from mqlab.reporting.evidence import DELIVERY, Dossier, family, harmful, sudden
from mqlab.reporting.impact import AGAIN, AGAIN_AT_MOST, GONE
from mqlab.scope import out_of_scope
from mqlab.words import Text

say = words.room("follow-up")

_RECOVERED = ("backlog-drain",)
"""Notices that say that a consequence is over."""
_SECOND = 1.0
"""Seconds before the onset within which a line belongs to it: the onset is known from samples at times."""
_COUNTED_BACK = ("session_timeout_seconds", "poll_interval_seconds", "life_seconds", "onset_uncertainty_seconds")
"""Measures of a finding whose onset may be that long before the line that tells of it."""
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
    """From the moments of the incident, the lines that told of it early, and what was looked for and is not there."""
    lead = _lead(diagnosis)
    if lead is None:
        return Noticed(notes.went_well, notes.went_badly)
    well, badly = list(notes.went_well), list(notes.went_badly)
    onset, detected = when.moment("onset"), when.moment("detected")
    stopped = when.moment("mitigated")
    if onset is not None:
        early, late = _signs(facts, lead, onset, detected)
        well += early
        badly += late
    if detected is not None and stopped is not None and stopped >= detected:
        well.append(say("mitigated-after-notice", seconds=stopped - detected))
    elif onset is not None and detected is None and stopped is not None and stopped >= onset:
        well.append(say("mitigated-after-onset", seconds=stopped - onset))
    well += [one.statement for one in diagnosis.findings if one.incident in _RECOVERED and lead.brings(one)]
    return Noticed((*well, *_spared(facts, diagnosis)), tuple(badly))


def _lead(diagnosis: Diagnosis) -> Finding | None:
    """The finding that the verdict is about, where it is an incident."""
    first = next(iter(diagnosis.findings), None)
    return first if first and harmful(first) and first.incident == diagnosis.verdict.incident else None


def _signs(
    facts: Facts, lead: Finding, onset: float, detected: float | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What logs said of its own mechanism before people noticed it, and what was told late, by them or to people."""
    first = min(_lines(facts, lead, onset), key=lambda line: line[0], default=None)
    sign = None
    if first is not None:
        sign = say("sign", kind=first[1].kind, at=first[0], place=first[2].place)
    if detected is not None and detected > onset:
        late = say("unnoticed", seconds=detected - onset)
        if first is None or first[0] >= detected:
            return (), (late,)
        return (), (late, say("logs-before", seconds=detected - first[0], sign=sign))
    if first is None or detected is not None or sudden(lead.incident) or first[0] - onset <= _counted_back(lead):
        return (), ()
    return (), (say("logs-late", seconds=first[0] - onset, sign=sign),)


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


def _counted_back(lead: Finding) -> float:
    """Seconds by which the onset is counted back from the line that tells of it: none can come in them."""
    return max((lead.measures.get(name, 0.0) for name in _COUNTED_BACK), default=0.0) + _SECOND


def _spared(facts: Facts, diagnosis: Diagnosis) -> Iterator[str]:
    """Loss that did not happen: only where messages were followed, and nothing else counted any."""
    if not (audits(facts) or diagnosis.chains):
        return
    checked = sorted(slug for slug in diagnosis.clear if family(slug) == DELIVERY)
    counted = {name for one in diagnosis.findings for name, value in one.measures.items() if value}
    hurt = bool(counted & {*GONE, *AGAIN, AGAIN_AT_MOST})
    hurt = hurt or any(family(one.incident) == DELIVERY for one in diagnosis.findings)
    hurt = hurt or any(way.gaps or any(stage.again for stage in way.stages) for way in diagnosis.chains)
    hurt = hurt or any(one.losses or one.doubled or one.outcome is Outcome.UNKNOWN for one in audits(facts))
    if checked and not hurt:
        yield say("spared", classes=checked, ways=len(checked))


def actions(found: Sequence[Dossier], notes: IncidentNotes) -> tuple[Action, ...]:
    """Those of people with owner and due date, then what the findings suggest and nobody wrote down."""
    written = [Action(one.what, one.owner, one.due.isoformat() if one.due else "", one.status) for one in notes.actions]
    known = {one.what for one in written}
    return (*written, *(one for one in _suggested(found) if one.what not in known))


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
    """Hypotheses, classes not checked that matter here, what nothing explains, gaps, and what only people know."""
    maybe = [
        Question(say("was-it", incident=one.incident, missing=way.missing), way.fetch)
        for one in diagnosis.verdict.hypotheses
        for way in one.settle[:1]
    ]
    asked = {one.incident for one in diagnosis.verdict.hypotheses if one.settle}
    left = [one for one in diagnosis.not_checked if one.incident not in asked]
    open_ones = [_unchecked(one) for one in left if _matters(one, diagnosis)]
    symptoms = [symptom for symptom in diagnosis.symptoms if _may_be_cause(symptom, diagnosis)]
    unexplained = [Question(say("what-caused", symptom=symptom)) for symptom in symptoms[:3]]
    gaps = [Question(say("gaps", gaps=len(diagnosis.gaps), first=one)) for one in diagnosis.gaps[:1]]
    return (*maybe, *islice(open_ones, _MOST), *unexplained, *gaps, *_for_people(diagnosis, notes))


def _matters(entry: NotChecked, diagnosis: Diagnosis) -> bool:
    """Whether this class could change the story: a kin of the lead, its consequence, or loss where nobody looked."""
    known = INCIDENTS.get(entry.incident)
    if known is None or any(map(out_of_scope, entry.missing)):
        return False
    lead = _lead(diagnosis)
    if lead is None:
        return known.family == DELIVERY
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
