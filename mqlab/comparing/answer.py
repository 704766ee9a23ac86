"""Is it repaired, is it the same incident? One sentence that claims no more than both captures show.

A class that is not found is not repaired by that. It is, as far as the second capture shows, where that one is later,
names the same places, was read from the same kinds of material, carried a comparable load for as long as the incident
lasted, and was put to the test: what set the incident off happened again. Each of these that does not hold is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab.catalogue import INCIDENTS
from mqlab.comparing.sides import ABSENT, CLEAR, FOUND, NOT_CHECKED, Load, Side, State
from mqlab.facts import Facts
from mqlab.findings import Certainty, Finding
from mqlab.known_errors import words
from mqlab.scope import SYSTEMS, systems
from mqlab.words import room
from mqlab.words.filling import Value

say = room("comparison")

SAME_MATERIAL, SAME_INCIDENT, SAME_CLASS = say("same-material"), say("same-incident"), say("same-class")
SAME_PLACE, SAME_CAUSE = say("same-place"), say("same-cause")
REPAIRED, NOT_SHOWN, UNKNOWN = say("repaired"), say("not-shown"), say("not-known")
NEW, ANOTHER, SYSTEMS_DIFFER, NEITHER = say("new"), say("another"), say("systems-differ"), say("neither")

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
        return Answer(SAME_MATERIAL, say("both-say", verdict=a.diagnosis.verdict.incident))
    if a.lead is None:
        return _without(a, b)
    same = [one for one in b.of(a.lead.incident) if b.lead is not None and b.state(one.incident).name == FOUND]
    if same:
        return _again(a, b, a.lead, same)
    if not systems(a.facts) & systems(b.facts):
        told = say("both-systems", a=_systems(a), incident=a.lead.incident, b=_systems(b))
        return Answer(SYSTEMS_DIFFER, told, _other(a, b))
    return _gone(a, b, a.lead)


def _rows(facts: Facts) -> tuple[object, ...]:
    return tuple(vars(facts)[name] for name in ("episodes", "series", "settings", "positions", "shapes", "coverage"))


def _systems(side: Side) -> str:
    return say("systems", systems=[SYSTEMS[name] for name in sorted(systems(side.facts))])


def _without(a: Side, b: Side) -> Answer:
    """A has nothing at warning or above."""
    own, other = a.diagnosis.verdict.incident, b.diagnosis.verdict.incident
    if b.lead is None:
        unsure = tuple(
            say("undetermined", capture=name)
            for name, side in (("A", a), ("B", b))
            if side.diagnosis.verdict.incident == "undetermined"
        )
        return Answer(NEITHER, say("neither-shows", a=own, b=other), unsure)
    state = a.state(b.lead.incident)
    found = say("found", **_what(b.lead), certainty=b.lead.certainty.name.lower())
    if state.name in ABSENT:
        unsure = () if _known(b, a, b.lead) else (say("nothing-in-a", names=_names(b, b.lead)),)
        return Answer(NEW, say("new-in-b", found=found), unsure)
    return Answer(UNKNOWN, say("not-known-in-a", found=found, **_state(state)))


def _what(finding: Finding) -> dict[str, Value]:
    return {"incident": finding.incident, "subject": finding.subject}


def _state(state: State) -> dict[str, Value]:
    return {"state": state.name, "because": state.because or None}


def _names(side: Side, finding: Finding) -> list[str]:
    return [name for _, name in sorted(place(side, finding))]


# -- the same class in both ------------------------------------------------------------------------------------------


def _again(a: Side, b: Side, lead: Finding, same: list[Finding]) -> Answer:
    """The leading class of A was found in B as well."""
    there = next((one for one in same if place(b, one) & place(a, lead)), same[0])
    leads = b.diagnosis.verdict.incident
    told: dict[str, Value] = {
        "incident": lead.incident,
        "a": lead.subject,
        "b": there.subject,
        "leading": None if there.incident == leads else leads,
    }
    sure = min(lead.certainty, there.certainty)
    doubt = () if sure is Certainty.PROVEN else (say("only", certainty=sure.name.lower()),)
    if place(a, lead) & place(b, there):
        if _overlap(lead, there):
            return Answer(SAME_INCIDENT, say("one-incident", **told), doubt)
        return Answer(SAME_PLACE, say("there-again", **told, later=_later(a, b)), doubt)
    if roles(a, lead) == roles(b, there):
        return Answer(SAME_CAUSE, say("elsewhere-again", **told), (*doubt, *_elsewhere(a, b, lead)))
    return Answer(SAME_CLASS, say("another-kind", **told), (*doubt, *_elsewhere(a, b, lead)))


def place(side: Side, finding: Finding) -> frozenset[tuple[str, str]]:
    """What tells where it happened: topics and groups of its subject, else whatever else that names."""
    parts = side.parts(finding)
    lasting = frozenset(part for part in parts if part[0] in ("topic", "group"))
    return lasting or frozenset(parts) or frozenset({("subject", finding.subject)})


def roles(side: Side, finding: Finding) -> frozenset[str]:
    """What kinds of things its subject names."""
    return frozenset(kind for kind, _ in side.parts(finding))


def _elsewhere(a: Side, b: Side, lead: Finding) -> Iterator[str]:
    if not _known(a, b, lead):
        yield say("goes-on", names=_names(a, lead))


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
    state, what, others = b.state(lead.incident), _what(lead), _other(a, b)
    if state.name == NOT_CHECKED:
        return Answer(UNKNOWN, say("not-checked-in-b", **what, because=state.because), others)
    if state.name not in ABSENT:
        return Answer(UNKNOWN, say("no-repair", **what, **_state(state)), others)
    against = (*_rejected(state), *_doubts(a, b, lead))
    if not against:
        told = say("clear-in-b", **what, seconds=b.seconds, load=comparable(a, b, lead))
        return Answer(REPAIRED, told, others)
    if b.lead is not None and not _known(a, b, lead):
        told = say("another-in-b", **what, other=b.lead.incident, where=b.lead.subject)
        return Answer(ANOTHER, told, (*against, *others))
    return Answer(NOT_SHOWN, say("not-found-in-b", **what), (*against, *others))


def _rejected(state: State) -> Iterator[str]:
    if state.name != CLEAR:
        yield say("disproved", because=state.because)


def _doubts(a: Side, b: Side, lead: Finding) -> Iterator[str]:
    """Each condition of a repair that does not hold."""
    if b.begin is None:
        yield say("undated")
    elif not _later(a, b):
        yield say("too-early")
    if not _known(a, b, lead):
        yield say("nothing-in-b", names=_names(a, lead))
    if lacking := sorted(a.kinds_of(lead) - b.kinds):
        yield say("lacking", kinds=lacking)
    yield from _too_little(a, b, lead)
    yield from _not_tested(a, b, lead)


def _too_little(a: Side, b: Side, lead: Finding) -> Iterator[str]:
    lasted = _lasted(a, lead)
    if b.seconds < lasted:
        yield say("too-short", covered=b.seconds, lasted=lasted)
    pair = common_load(a, b, lead)
    if pair is None:
        yield say("no-load")
    elif pair[1].per_second < COMPARABLE * pair[0].per_second:
        yield say("less-load", load=comparable(a, b, lead))


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
            yield say("not-tested", kinds=missing)
    if told := lead.facts.get("cause"):
        yield say("cause", cause=told)


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
    ratio = other.per_second / own.per_second
    return say("load", a=own.words, b=other.words, ratio=ratio, basis=own.basis)


def _other(a: Side, b: Side) -> tuple[str, ...]:
    """What else B shows, or cannot rule out."""
    if b.lead is not None:
        state = a.state(b.lead.incident)
        if state.name == FOUND:
            return (say("in-a-too", **_what(b.lead)),)
        return (say("besides", **_what(b.lead), **_state(state)),)
    return (say("b-undetermined"),) if b.diagnosis.verdict.incident == "undetermined" else ()
