"""One sentence that says what an incident cost and why: the title of its report.

``4,310 acknowledged records of payments.events lost: a broker that was out of sync took over``. The words stand in the
room of each class (``title-cost``, ``title-cause``, ``onset``), and show measures and facts of the finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mqlab import words
from mqlab.catalogue import INCIDENTS
from mqlab.diagnosis import Diagnosis
from mqlab.findings import Certainty, Finding, Severity
from mqlab.hypotheses import is_likely, stands
from mqlab.known_errors import known_errors
from mqlab.mqtt.chain_stages import Whereabouts
from mqlab.notes import IncidentNotes
from mqlab.scope import SYSTEMS
from mqlab.symptoms.unexplained import CRASH
from mqlab.units import Interval
from mqlab.words.filling import Filling, Measure, Unseen, Value

say = words.room("headline")

_LONGEST_NAME = 60
_SHARE = "$share/"
_NOT_TOLD = "?"
_COST, _CAUSE, _ONSET = "title-cost", "title-cause", "onset"
_OF_PLUGINS = {_COST: "cost", _CAUSE: "cause", _ONSET: "begins"}
"""What the texts of a class are called in the catalogue of a plug-in."""
_RANGES = ("_low", "_high"), ("_least", "_most")
"""What names of measures end with that bound another one."""
_APART = frozenset({
    "oversize-record-rejected", "acks1-failover-loss", "unclean-election-loss", "producer-duplicates", "under-min-isr",
})  # fmt: skip
"""Classes whose findings never count one record twice: each is about other topics, or about other producers."""


def headline(diagnosis: Diagnosis, notes: IncidentNotes | None = None) -> str:
    """The title: what somebody wrote into ``incident.yml``, else what the leading finding cost and why."""
    if notes is not None and notes.title:
        return notes.title
    first = lead(diagnosis)
    return _of_finding(diagnosis, first) if first is not None else _of_none(diagnosis)


def lead(diagnosis: Diagnosis) -> Finding | None:
    """The finding that gave the verdict its name; None where the verdict is healthy or undetermined."""
    return next((one for one in diagnosis.findings if one.incident == diagnosis.verdict.incident), None)


def begins(diagnosis: Diagnosis, finding: Finding) -> str:
    """What began when the finding did, in a few words."""
    return _told(finding.incident, _ONSET, _seen(diagnosis, finding)) or ""


def counted(diagnosis: Diagnosis) -> frozenset[str]:
    """The measures that the title tells, so that others can tell the same."""
    first = lead(diagnosis)
    if first is None:
        return frozenset()
    seen = _seen(diagnosis, first)
    cost = _told(first.incident, _COST, seen)
    without = {name: _told(first.incident, _COST, {**seen, name: None}) for name in first.measures if name in seen}
    return frozenset(name for name, told in without.items() if told != cost)


def amount(diagnosis: Diagnosis, finding: Finding, name: str) -> str:
    """A measure as the title tells it, with its bounds and that of findings whose numbers add up; empty if zero."""
    value = dict(_numbers(_alike(diagnosis, finding))).get(name)
    return "" if value is None else say("amount", value=value)


def cause(incident: str) -> str:
    """The mechanism of a class in a few words, whoever it is about."""
    known = INCIDENTS.get(incident)
    return _told(incident, _CAUSE, {}) or (known.title if known else incident.replace("-", " "))


def _of_finding(diagnosis: Diagnosis, first: Finding) -> str:
    seen = _seen(diagnosis, first)
    cost, why = (_told(first.incident, key, seen) for key in (_COST, _CAUSE))
    why = why or cause(first.incident)
    if first.certainty is Certainty.POSSIBLE:
        return say("risk", why=why)
    if first.severity is Severity.NOTICE and not cost:
        return say("notice", why=why)
    return say("proven" if first.certainty is Certainty.PROVEN else "likely", cost=cost, why=why)


def _told(incident: str, key: str, seen: Mapping[str, Value]) -> str | None:
    """The text *key* of a class; classes of known errors have one room, those of plug-ins bring templates."""
    if own := getattr(INCIDENTS.get(incident), _OF_PLUGINS[key], ()):
        try:
            return Filling(seen, {}).first(list(own), key)
        except Unseen:
            return None
    return words.seen(incident if incident in words.rooms() else "known-errors", key, {**seen, "incident": incident})


def _of_none(diagnosis: Diagnosis) -> str:
    verdict, material = diagnosis.verdict, diagnosis.material
    if verdict.incident != "undetermined":
        absent = {one.incident for one in diagnosis.not_checked}
        names = [name for slug, name in SYSTEMS.items() if slug not in absent]
        return say("healthy", clear=len(diagnosis.clear), systems=names, watched=material.watched)
    died = [one.values for one in diagnosis.symptoms if isinstance(one, words.Text) and one.key == CRASH]
    if died:
        return say("undetermined", died=sorted({str(one["who"]) for one in died}), times=len(died))
    first = next((one for one in verdict.hypotheses if one.incident == "healthy" or stands(one)), None)
    if first is None:
        missed = [g.messages for way in diagnosis.chains for g in way.gaps if g.where is Whereabouts.ABSENT]
        return say("undetermined", symptoms=len(diagnosis.symptoms), missed=max(missed, default=None))
    if not is_likely(verdict.hypotheses):
        return say("undetermined", maybe=cause(first.incident))
    return say("undetermined", calm=first.incident == "healthy", likely=cause(first.incident))


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _seen(diagnosis: Diagnosis, first: Finding) -> Mapping[str, Value]:
    """What is known of the finding, and of all of its class where their numbers add up."""
    every = _alike(diagnosis, first)
    names = [dict(_names(one)) for one in every]
    same = {name: text for name, text in names[0].items() if all(other.get(name) == text for other in names)}
    return same | dict(_numbers(every))


def _alike(diagnosis: Diagnosis, first: Finding) -> list[Finding]:
    """All of its class whose numbers add up with its own."""
    if first.incident not in _APART:
        return [first]
    alike = [one for one in diagnosis.findings if one.incident == first.incident]
    return [one for one in alike if (one.severity, one.certainty) == (first.severity, first.certainty)]


def _names(one: Finding) -> Iterator[tuple[str, str]]:
    """Whom and what it is about, in its subject and its facts, and how long it lasted."""
    group, between, topic = one.subject.removeprefix(_SHARE).partition(" -> " if " -> " in one.subject else "/")
    places = {"subject": one.subject, "owner": group} | ({"topic": topic, "group": group} if between else {})
    for name, text in (places | dict(one.facts)).items():
        if text == _NOT_TOLD:
            continue
        yield name.replace(" ", "_").replace(".", "_"), _short(text)
    if (error := known_errors().get(one.facts.get("error", ""))) is not None:
        yield "means", error.means
    if one.seconds:
        yield "lasting", say("lasting", open=one.ongoing, seconds=one.seconds)


def _numbers(findings: Sequence[Finding]) -> Iterator[tuple[str, Measure]]:
    """Measures that are not zero, with their bounds where these are known."""
    for name in dict.fromkeys(name for one in findings for name in one.measures):
        known = [one.measures for one in findings if name in one.measures]
        total = sum(measures[name] for measures in known)
        if total <= 0:
            continue
        ends = [[sum(m.get(f"{name}{end}", m[name]) for m in known) for end in pair] for pair in _RANGES]
        low, high = next((pair for pair in ends if pair[0] != pair[1]), (total, total))
        yield name, Measure(name, Interval(low, total, high), rough=True)
