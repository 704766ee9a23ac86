"""Is it repaired, is it the same incident? One sentence that claims no more than both captures show.

A class that is not found is not repaired by that. It is, as far as the second capture shows, where that one is later,
names the same places, was read from the same kinds of material, carried a comparable load for as long as the incident
lasted, and was put to the test: what set the incident off happened again. Each of these that does not hold is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab.catalogue import INCIDENTS
from mqlab.comparing.sides import ABSENT, FOUND, NOT_CHECKED, Load, Side
from mqlab.facts import Facts
from mqlab.findings import Certainty, Finding
from mqlab.known_errors import words
from mqlab.scope import SYSTEMS, systems
from mqlab.shared.wording import few
from mqlab.units import duration, factor

SAME_MATERIAL, SAME_INCIDENT = "the same material", "the same incident"
SAME_PLACE, SAME_CAUSE = "the same cause, in the same place", "the same cause, in another place"
SAME_CLASS = "the same class, of another kind"
REPAIRED, NOT_SHOWN, UNKNOWN = "repaired, as far as B shows", "not seen in B, which proves no repair", "not known"
NEW, ANOTHER, SYSTEMS_DIFFER, NEITHER = "new in B", "another incident", "different systems", "no incident in either"

COMPARABLE = 0.5
"""Share of A's load that B must have carried at least. Judgement: limits of time and size are not reached by halves."""
_BEFORE, _AFTER = 120.0, 10.0
"""Seconds around the onset in which something belongs to what set the incident off: a session is given up by then, and
clocks and samples are this far apart."""
_GOES_AWAY = (
    "broker-stopping", "broker-stopped", "broker-failed", "broker-fenced", "isr-shrunk", "unclean-election",
    "rocketmq-broker-stopping", "process-exit", "out-of-memory", "app-stopping", "member-expired", "client-expired",
    "coordinator-lost", "topic-config-changed",
)  # fmt: skip
"""What incidents of failover, restart and release need before they can happen at all."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What may be said of both, the reasons against more, and how loads compare."""

    kind: str
    sentence: str
    open: tuple[str, ...] = ()
    """What keeps it from being certain, a sentence each."""
    changed: tuple[str, ...] = ()
    """Settings of A's class that differ: what a repair may have been."""


def answer(a: Side, b: Side) -> Answer:
    """The relation of *b* to *a*."""
    if _rows(a.facts) == _rows(b.facts):
        both = a.diagnosis.verdict.incident
        return Answer(SAME_MATERIAL, f"A and B are the same material: no difference. Both say {both}.")
    if a.lead is None:
        return _without(a, b)
    same = [one for one in b.of(a.lead.incident) if b.lead is not None and b.state(one.incident).name == FOUND]
    if same:
        return _again(a, b, a.lead, same)
    if not systems(a.facts) & systems(b.facts):
        return Answer(
            SYSTEMS_DIFFER,
            f"A and B tell of different systems: A is {_systems(a)} with {a.lead.incident}, B is {_systems(b)}; "
            f"B cannot say anything about {a.lead.incident}.",
            _other(a, b),
        )
    return _gone(a, b, a.lead)


def _rows(facts: Facts) -> tuple[object, ...]:
    return tuple(vars(facts)[name] for name in ("episodes", "series", "settings", "positions", "shapes", "coverage"))


def _systems(side: Side) -> str:
    return few([SYSTEMS[name] for name in sorted(systems(side.facts))], 3) or "of no known system"


def _without(a: Side, b: Side) -> Answer:
    """A has nothing at warning or above."""
    own, other = a.diagnosis.verdict.incident, b.diagnosis.verdict.incident
    if b.lead is None:
        unsure = tuple(
            f"{name} is undetermined: an incident may be in it that it cannot show."
            for name, side in (("A", a), ("B", b))
            if side.diagnosis.verdict.incident == "undetermined"
        )
        return Answer(NEITHER, f"Neither shows an incident: A is {own}, B is {other}.", unsure)
    state = a.state(b.lead.incident)
    found = f"{b.lead.incident} ({b.lead.certainty.name.lower()}) at {b.lead.subject}"
    if state.name in ABSENT:
        untold = few([name for _, name in sorted(place(b, b.lead))], 3)
        unsure = () if _known(b, a, b.lead) else (f"A tells nothing of {untold}, where it is in B.",)
        return Answer(NEW, f"B shows {found}, which was looked for in A and not found there: it is new in B.", unsure)
    return Answer(
        UNKNOWN,
        f"B shows {found}; whether A had it is not known, because there it is {_because(state.name, state.because)}.",
    )


def _because(name: str, because: str) -> str:
    return f"{name} ({because})" if because else name


# -- the same class in both ------------------------------------------------------------------------------------------


def _again(a: Side, b: Side, lead: Finding, same: list[Finding]) -> Answer:
    """The leading class of A was found in B as well."""
    there = next((one for one in same if place(b, one) & place(a, lead)), same[0])
    behind = "" if there.incident == b.diagnosis.verdict.incident else f", behind {b.diagnosis.verdict.incident}"
    sure = min(lead.certainty, there.certainty)
    doubt = () if sure is Certainty.PROVEN else (f"It is {sure.name.lower()} only, in A or in B.",)
    if place(a, lead) & place(b, there):
        if _overlap(lead, there):
            told = f"A and B show one incident: {lead.incident} at {lead.subject}, at the same time{behind}."
            return Answer(SAME_INCIDENT, told, doubt)
        then = "it is not repaired, or it came back" if _later(a, b) else "B is the earlier of the two"
        told = f"Both show {lead.incident} at {there.subject}{behind}; {then}."
        return Answer(SAME_PLACE, told, doubt)
    if roles(a, lead) == roles(b, there):
        told = f"Both show {lead.incident}: at {lead.subject} in A, at {there.subject} in B{behind}."
        return Answer(SAME_CAUSE, told, (*doubt, *_elsewhere(a, b, lead)))
    told = (
        f"Both show {lead.incident}, of things that differ in kind: {lead.subject} in A, {there.subject} in B{behind}."
    )
    return Answer(SAME_CLASS, told, (*doubt, *_elsewhere(a, b, lead)))


def place(side: Side, finding: Finding) -> frozenset[tuple[str, str]]:
    """What tells where it happened: topics and groups of its subject, else whatever else that names."""
    parts = side.parts(finding)
    lasting = frozenset(part for part in parts if part[0] in ("topic", "group"))
    return lasting or frozenset(parts) or frozenset({("subject", finding.subject)})


def roles(side: Side, finding: Finding) -> frozenset[str]:
    """What kinds of things its subject names."""
    return frozenset(kind for kind, _ in side.parts(finding))


def _elsewhere(a: Side, b: Side, lead: Finding) -> Iterator[str]:
    names = [name for _, name in sorted(place(a, lead))]
    if not _known(a, b, lead):
        yield f"B tells nothing of {few(names, 3)}: whether it goes on there is not known."


def _known(a: Side, b: Side, lead: Finding) -> bool:
    """B names every topic and group of A's finding, or whatever else A knows of its subject."""
    wanted = place(a, lead)
    return all(kind == "subject" or name in b.names.get(kind, ()) for kind, name in wanted)


def _overlap(one: Finding, other: Finding) -> bool:
    spans = [(f.started_at, f.ended_at or f.started_at) for f in (one, other)]
    (begin, end), (since, until) = spans
    if begin is None or end is None or since is None or until is None:
        return False
    return begin <= until and since <= end


def _later(a: Side, b: Side) -> bool:
    """B begins after A's incident did."""
    since = a.onset if a.onset is not None else a.begin
    return since is not None and b.begin is not None and b.begin > since


# -- A's class is not found in B -------------------------------------------------------------------------------------


def _gone(a: Side, b: Side, lead: Finding) -> Answer:
    """The leading class of A is not found at warning or above in B."""
    state, what = b.state(lead.incident), f"{lead.incident} at {lead.subject}"
    others = _other(a, b)
    if state.name == NOT_CHECKED:
        told = f"A shows {what}; B could not be checked for it ({state.because}), so this is no repair."
        return Answer(UNKNOWN, told, others)
    if state.name not in ABSENT:
        told = f"A shows {what}; in B it is {_because(state.name, state.because)}, so this is no repair."
        return Answer(UNKNOWN, told, others)
    against = (*_rejected(state.name, state.because), *_doubts(a, b, lead))
    because = comparable(a, b, lead)
    if not against:
        lasted = duration(b.seconds)
        told = (
            f"A shows {what}; B is clear of it after {lasted} with the same kinds of "
            f"material and a comparable load ({because})."
        )
        return Answer(REPAIRED, told, others)
    if b.lead is not None and not _known(a, b, lead):
        told = f"A shows {what}, B shows {b.lead.incident} at {b.lead.subject}."
        return Answer(ANOTHER, told, (*against, *others))
    told = f"A shows {what}; B looked for it and did not find it."
    return Answer(NOT_SHOWN, told, (*against, *others))


def _rejected(name: str, because: str) -> Iterator[str]:
    if name != "clear":
        yield f"B is not clear of it: part of its signs are there and were disproved ({because})."


def _doubts(a: Side, b: Side, lead: Finding) -> Iterator[str]:
    """Each condition of a repair that does not hold."""
    if b.begin is None:
        yield "Nothing in B is dated: whether it is later than A is not known."
    elif not _later(a, b):
        yield "B does not begin after the incident of A: it cannot show a repair."
    if not _known(a, b, lead):
        yield f"B tells nothing of {few([name for _, name in sorted(place(a, lead))], 3)}, where it happened in A."
    if lacking := sorted(a.kinds_of(lead) - b.kinds):
        yield f"A's finding was read from what B lacks: {few(lacking, 4)}."
    yield from _too_little(a, b, lead)
    yield from _not_tested(a, b, lead)


def _too_little(a: Side, b: Side, lead: Finding) -> Iterator[str]:
    lasted = _lasted(a, lead)
    if b.seconds < lasted:
        yield f"B covers {duration(b.seconds)}, less than the {duration(lasted)} that it lasted in A."
    pair = common_load(a, b, lead)
    if pair is None:
        yield "How much load either carried cannot be compared: no ledger, counter or listing of queues is in both."
    elif pair[1].per_second < COMPARABLE * pair[0].per_second:
        yield f"B carried less: {comparable(a, b, lead)}."


def _lasted(a: Side, lead: Finding) -> float:
    """From its onset to its end, else to the end of the material; all of the material where it is not dated."""
    if lead.started_at is None:
        return a.seconds
    end = lead.ended_at.timestamp() if lead.ended_at and not lead.ongoing else a.end
    return max(0.0, (end or 0.0) - lead.started_at.timestamp())


def _not_tested(a: Side, b: Side, lead: Finding) -> Iterator[str]:
    """What went before the incident in A and is nowhere in B: without it the incident could not come back."""
    incident = INCIDENTS[lead.incident]
    own = {*incident.signs, *incident.accounts_for}
    if a.onset is not None:
        near = [
            kind
            for kind in _GOES_AWAY
            if kind not in own
            and any(a.onset - _BEFORE <= (e.first_at or 0.0) <= a.onset + _AFTER for e in a.facts.of_kind(kind))
        ]
        if missing := [words().get(kind, kind) for kind in near if not b.facts.of_kind(kind)]:
            yield f"It was not put to the test: shortly before the onset A tells of {few(missing, 3)}, B never does."
    if told := lead.facts.get("cause"):
        yield f"In A its cause was: {told}. Whether B saw the like is not compared."


def common_load(a: Side, b: Side, lead: Finding | None) -> tuple[Load, Load] | None:
    """The loads of both by the best way to count that both have: of the finding's topic, else of everything."""
    topics = [name for kind, name in place(a, lead) if kind == "topic"] if lead else []
    for topic in (*topics[:1], None):
        counted = {one.basis: one for one in b.loads(topic)}
        for own in a.loads(topic):
            if own.basis in counted:
                return own, counted[own.basis]
    return None


def comparable(a: Side, b: Side, lead: Finding | None) -> str:
    """``71.4/s in A, 70.2/s in B, 0.98×: messages sent …``; empty where nothing counts both."""
    pair = common_load(a, b, lead)
    if pair is None:
        return ""
    own, other = pair
    return f"{own.words} in A, {other.words} in B, {factor(other.per_second / own.per_second)}: {own.basis}"


def _other(a: Side, b: Side) -> tuple[str, ...]:
    """What else B shows, or cannot rule out."""
    if b.lead is not None:
        state = a.state(b.lead.incident)
        if state.name == FOUND:
            return (f"B shows {b.lead.incident} at {b.lead.subject}; A has that, too.",)
        return (f"B shows {b.lead.incident} at {b.lead.subject}; in A that is {_because(state.name, state.because)}.",)
    if b.diagnosis.verdict.incident == "undetermined":
        return ("B is undetermined: something in it is unexplained, or could not be checked.",)
    return ()
