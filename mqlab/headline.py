"""One sentence that says what an incident cost and why: the title of its report.

``4,310 acknowledged records of payments.events lost: a broker that was out of sync took over``. The words of each class
stand in the catalogue as templates, whose slots are measures and facts of the finding: ``{lost_records:record}`` is
``1 record`` or ``4,310 records``, ``{split_count?}`` only has to be there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from string import Formatter

from mqlab import units
from mqlab.catalogue import INCIDENTS, Incident
from mqlab.diagnosis import Diagnosis
from mqlab.findings import Certainty, Finding, Severity
from mqlab.hypotheses import is_likely
from mqlab.known_errors import known_errors
from mqlab.notes import IncidentNotes
from mqlab.scope import SYSTEMS
from mqlab.words import room

say = room("headline")

_LONGEST_NAME = 60
_SHARE = "$share/"
_NOT_TOLD = "?"
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
    return _filled(_texts(finding).begins, _slots(diagnosis, finding))


def counted(diagnosis: Diagnosis) -> frozenset[str]:
    """The measures that the title tells, so that others can tell the same."""
    first = lead(diagnosis)
    if first is None:
        return frozenset()
    slots = _slots(diagnosis, first)
    template = next((one for one in _texts(first).cost if _filled([one], slots)), "")
    return frozenset(name for _, name, _, _ in Formatter().parse(template) if name and name in first.measures)


def amount(diagnosis: Diagnosis, finding: Finding, name: str) -> str:
    """A measure as the title tells it, with its bounds and that of findings whose numbers add up; empty if zero."""
    return dict(_numbers(_alike(diagnosis, finding))).get(name, _Slot("")).text


def cause(incident: str) -> str:
    """The mechanism of a class in a few words, whoever it is about."""
    known = INCIDENTS.get(incident)
    if known is None:
        return incident.replace("-", " ")
    return known.cause[-1] if known.cause else known.title


def _of_finding(diagnosis: Diagnosis, first: Finding) -> str:
    texts, slots = _texts(first), _slots(diagnosis, first)
    cost = _filled(texts.cost, slots)
    why = _filled(texts.cause, slots) or cause(first.incident)
    if first.certainty is Certainty.POSSIBLE:
        return say("risk", why=why)
    if first.severity is Severity.NOTICE and not cost:
        return say("notice", why=why)
    if first.certainty is Certainty.PROVEN:
        return say("proven", cost=_capital(cost) or None, why=why if cost else _capital(why))
    return say("likely", cost=_capital(cost) or None, why=why)


def _of_none(diagnosis: Diagnosis) -> str:
    verdict, (since, until) = diagnosis.verdict, diagnosis.material.window
    if verdict.incident != "undetermined":
        absent = {one.incident for one in diagnosis.not_checked}
        names = [name for slug, name in SYSTEMS.items() if slug not in absent]
        watched = None if since is None or until is None else until - since
        return say("healthy", clear=len(diagnosis.clear), systems=names, watched=watched)
    first = next(iter(verdict.hypotheses), None)
    if first is None:
        return say("undetermined", symptoms=len(diagnosis.symptoms))
    if not is_likely(first):
        return say("undetermined", maybe=cause(first.incident))
    return say("undetermined", calm=first.incident == "healthy", likely=cause(first.incident))


def _texts(finding: Finding) -> Incident:
    return INCIDENTS.get(finding.incident, _UNKNOWN)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _filled(templates: Iterable[str], slots: _Slots) -> str:
    """The first template of which everything is known; empty without one."""
    for template in templates:
        try:
            return template.format_map(slots)
        except KeyError:
            continue
    return ""


@dataclass(frozen=True, slots=True)
class _Slot:
    """What a template may show: with the name of a thing, so many of it."""

    text: str
    one: bool = False

    def __format__(self, thing: str) -> str:
        return f"{self.text} {thing}{'' if self.one else 's'}" if thing else self.text


class _Slots(dict[str, _Slot]):
    """Slots by name; one with a question mark only has to be there."""

    def __missing__(self, name: str) -> str:
        if name.endswith("?") and name[:-1] in self:
            return ""
        raise KeyError(name)


def _slots(diagnosis: Diagnosis, first: Finding) -> _Slots:
    """What is known of the finding, and of all of its class where their numbers add up."""
    every = _alike(diagnosis, first)
    names = [dict(_names(diagnosis, one)) for one in every]
    same = {name: text for name, text in names[0].items() if all(other.get(name) == text for other in names)}
    return _Slots({name: _Slot(text) for name, text in same.items()} | dict(_numbers(every)))


def _alike(diagnosis: Diagnosis, first: Finding) -> list[Finding]:
    """All of its class whose numbers add up with its own."""
    if first.incident not in _APART:
        return [first]
    alike = [one for one in diagnosis.findings if one.incident == first.incident]
    return [one for one in alike if (one.severity, one.certainty) == (first.severity, first.certainty)]


def _names(diagnosis: Diagnosis, one: Finding) -> Iterator[tuple[str, str]]:
    """Whom and what it is about, in its subject and its facts, and how long it lasted."""
    group, between, topic = one.subject.removeprefix(_SHARE).partition(" -> " if " -> " in one.subject else "/")
    places = {"subject": one.subject, "owner": group} | ({"topic": topic, "group": group} if between else {})
    for name, text in (places | dict(one.facts)).items():
        if text == _NOT_TOLD:
            continue
        yield name.replace(" ", "_").replace(".", "_"), _short(text)
    if (error := known_errors().get(one.facts.get("error", ""))) is not None:
        yield "means", error.means.partition(". ")[0].removesuffix(".")
    end = units.moment(one.ended_at or diagnosis.material.window[1])
    if one.started_at is not None and end is not None and end > one.started_at:
        lasted = units.duration((end - one.started_at).total_seconds())
        yield "lasting", f"at least {lasted}" if one.ongoing else lasted


def _numbers(findings: Sequence[Finding]) -> Iterator[tuple[str, _Slot]]:
    """Measures that are not zero, with their bounds where these are known."""
    for name in dict.fromkeys(name for one in findings for name in one.measures):
        known = [one.measures for one in findings if name in one.measures]
        total = sum(measures[name] for measures in known)
        if total <= 0:
            continue
        text = units.measure(name, total)
        for low, high in _RANGES:
            ends = [sum(m.get(f"{name}{end}", m[name]) for m in known) for end in (low, high)]
            least, most = (units.measure(name, end) for end in ends)
            if least != most:
                counted = f"{least} to {most}" if ends[0] else f"up to {most}"
                text = counted if float(total).is_integer() else f"about {text}"
        yield name, _Slot(text, one=text == "1")


_UNKNOWN = Incident(
    slug="", family="", title="", systems=(), what="", proves="", looks_like="", needs=(), commands=(), mechanism="",
    confirm="", mitigate="", fix="", verify="",
)  # fmt: skip
