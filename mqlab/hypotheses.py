"""What it may be where no finding leads: classes of the catalogue that explain what was seen, most likely first.

A hypothesis accuses nobody: it has no severity and changes no exit code. It is built from what is there already: the
events that a class accounts for or prints itself (the catalogue), and what its detector answered. Sample, as a verdict
says it:

    Most likely session-timeout (members expelled after session.timeout.ms without a heartbeat, 2 times: console-1), or
    rolling-restart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mqlab.catalogue import INCIDENTS, Incident
from mqlab.commands import usable
from mqlab.delivery.leaders import one_broker
from mqlab.delivery.loss_mechanisms import FAILOVER, UNCLEAN
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Result, Severity, found_nothing
from mqlab.known_errors import PREFIX, known_errors, words
from mqlab.marks import (
    LINES,
    OF_ANYTHING,
    WORDED,
    Mark,
    broken,
    complaints,
    given_up,
    of_events,
    of_symptoms,
    printed_by,
    signs,
    suspected,
    waiting,
    worded,
)
from mqlab.mqtt.ruled_out import MISSING, ruled_out
from mqlab.plugins import remembered
from mqlab.scope import RULES, anything, broker_products
from mqlab.shared.benign_lines import STARTS
from mqlab.shared.reach import is_excerpt
from mqlab.sources import Role
from mqlab.symptoms.unexplained import UNHEARD, Symptom, explained, trouble
from mqlab.traces import traces
from mqlab.wordings import wordings
from mqlab.words import Text, room

say = room("hypotheses")

SHOWN = 4
"""Hypotheses that a reader can weigh against each other."""
_ALTERNATIVES = 2
"""Hypotheses that are told even where a class explains events without a sign of its own."""
_LOGS = {"broker-log": Role.BROKER_LOG, "client-log": Role.CLIENT_LOG}
"""Commands that fetch logs, by a part of their names."""
_TAKING_OVER = (FAILOVER, UNCLEAN)
"""Classes in which another broker takes over."""
_SAID_AGAIN = 3
"""Lines of a known error from which it is no refused try, however little it says (``detectors.known_errors``)."""


_LOUD = ("WARN", "ERROR", "FATAL")
_SAYS_LOUD = re.compile(r"\b(?:WARN(?:ING)?|ERROR|FATAL|SEVERE|CRITICAL)\b", re.IGNORECASE)
"""Levels as lines write them that events were made of."""
_NO_TRY = "resource-limit"
"""The class of which one line is no refused try: a process got no more, or was killed."""
_TRIES = ("reconnect-waiting",)
"""Events that are trouble only where they come again and again."""


@dataclass(frozen=True, slots=True)
class Settle:
    """One thing that would decide, and the command that fetches it."""

    missing: str
    fetch: str


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A class that explains some of what was seen."""

    incident: str
    weight: float
    """Share of the lines of all symptoms and signs that it explains, 0 to 1."""
    explains: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    against: tuple[str, ...]
    unexplained: tuple[str, ...]
    settle: tuple[Settle, ...]


_Ranked = tuple[tuple[float, ...], Hypothesis]
"""A hypothesis behind what it is ordered by."""


def hypotheses(
    facts: Facts,
    findings: Sequence[Finding],
    symptoms: Sequence[Symptom],
    results: Mapping[str, Result],
    systems: frozenset[str],
) -> tuple[Hypothesis, ...]:
    """Classes of these *systems* that explain the *symptoms* and other signs, the most likely first.

    Args:
        facts: the material.
        findings: what was found; what they explain is no sign of anything else.
        symptoms: what no finding explains.
        results: what each class's detector answered.
        systems: those that the material is of.
    """
    known = [f for f in findings if f.certainty > Certainty.POSSIBLE]
    told = (*of_events(facts, known), *waiting(facts, known), *suspected(results), *broken(facts, known))
    seen = traced(facts, known)
    kinds = {mark.kind for mark in told} | {mark.kind.partition(": ")[0] for mark in seen}
    named = (
        *told,
        *seen,
        *of_symptoms(symptoms, kinds | {UNHEARD} | given_up(facts.of_kind("record-failed", "listener-failed"))),
    )
    marks = (*named, *worded(facts))
    ranked = _ranked(facts, marks, results, systems)
    ranked = sorted(
        (*_noticed(facts, findings, sum(mark.lines for mark in marks), systems), *ranked), key=lambda entry: entry[0]
    )
    slugs = [hypothesis.incident for _, hypothesis in ranked]
    ranked = [entry for place, entry in enumerate(ranked) if entry[1].incident not in slugs[:place]]
    with_signs = sum(rank[0] <= 0 for rank, _ in ranked)
    most = max(with_signs, _ALTERNATIVES - len(ruled_out(facts)))  # none without a sign instead of what is ruled out
    likely = tuple(hypothesis for _, hypothesis in ranked[: min(SHOWN, most)])
    often = any(f.measures.get("lines", 0) >= _SAID_AGAIN or f.incident == _NO_TRY for f in findings)
    loud = any(_is_loud(facts, mark) or _points_to_harm(mark) for mark in named)
    is_calm = not (symptoms or often or loud or complaints(facts))
    if not (is_calm and anything(facts)):
        return likely
    first = [h for h in likely[:1] if not INCIDENTS[h.incident].benign]
    return (*first, _quiet(facts, results, systems, beside=bool(likely)), *likely[len(first) :])[:SHOWN]


def traced(facts: Facts, known: Sequence[Finding]) -> tuple[Mark, ...]:
    """What listings, samples and ledgers show that is no sign of what is *known*, and that nothing benign explains."""
    harmless = [f for f in known if INCIDENTS[f.incident].benign]
    accounted = {kind for f in known for kind in signs(f.incident)}
    return tuple(m for m in traces(facts) if m.kind not in accounted and not explained(m.at, harmless, None))


def beside(
    facts: Facts, findings: Sequence[Finding], results: Mapping[str, Result], systems: frozenset[str]
) -> tuple[Hypothesis, ...]:
    """What may be behind what was found, or have come of it, and could not be checked."""
    found = {f.incident for f in findings if f.severity > Severity.NOTICE and f.certainty > Certainty.POSSIBLE}
    unchecked = {
        slug: result for slug, result in results.items() if result.missing and not (result.findings or result.silent)
    }
    behind = {slug for slug, incident in INCIDENTS.items() if found.intersection(incident.may_bring)}
    marks = [*suspected(unchecked)]
    marks += [mark for mark in traces(facts) if any(mark.kind in signs(slug) for slug in behind & unchecked.keys())]
    marks += [
        Mark(slug, len(f.evidence), say("may-bring", incident=f.incident, subject=f.subject), f.evidence[:LINES], None)
        for f in findings
        if f.incident in found
        for slug in INCIDENTS[f.incident].may_bring
        if slug in unchecked
    ]
    ranked = _ranked(facts, marks, unchecked, systems)
    likely = [hypothesis for rank, hypothesis in ranked if not (rank[0] or INCIDENTS[hypothesis.incident].benign)]
    return tuple(likely)[:_ALTERNATIVES]


def _ranked(
    facts: Facts, marks: Sequence[Mark], results: Mapping[str, Result], systems: frozenset[str]
) -> list[_Ranked]:
    """Classes that *marks* tell of, each with its rank, the likeliest first."""
    every, excluded = sum(mark.lines for mark in marks), ruled_out(facts)
    ranked: list[_Ranked] = []
    for slug, incident in INCIDENTS.items():
        result = results.get(slug, Result())
        own = [mark for mark in marks if mark.kind in (slug, *signs(slug))]
        ours = [mark for mark in marks if mark in own or mark.kind in incident.accounts_for]
        if slug in excluded and {mark.kind for mark in own} <= {MISSING}:
            continue
        outright = any(mark.kind.startswith((PREFIX, WORDED, *OF_ANYTHING)) for mark in own)
        if ours and (outright or systems & incident.anywhere) and not (slug in _TAKING_OVER and one_broker(facts)):
            settled = bool(result.rejected) or found_nothing(result)
            weight = sum(mark.lines for mark in ours) / every
            asked = result.missing if systems & RULES.get(slug, frozenset()) and not result.silent else ()
            read = settled and not is_excerpt(facts)
            settle = () if read else _settle(facts, incident, asked or incident.needs, systems)
            hypothesis = _hypothesis(incident, result, ours, [m for m in marks if m not in ours], weight, settle)
            rank = _rank(incident, own, weight, settled=settled)
            ranked.append((rank, hypothesis))
    return sorted(ranked, key=lambda entry: entry[0])


@remembered
def _vague() -> frozenset[str]:
    """Kinds of known errors whose words have other causes too."""
    return frozenset(error.kind for error in known_errors().values() if error.vague)


def _rank(incident: Incident, own: Sequence[Mark], weight: float, *, settled: bool) -> tuple[float, ...]:
    """What a class is ordered by, the likeliest least: *own* are its own signs, *settled* says that its rule denied it.

    Classes without a sign of their own come last; signs that a rule found no more than come after others that are as
    clear. Of those that explain as much, the benign look-alikes go first.
    """
    if not own:
        return (1, -weight, not incident.benign, settled)
    loud = sum(mark.lines for mark in own if mark.kind in trouble())
    is_worded = all(mark.kind.startswith(WORDED) for mark in own)
    is_faint = all(mark.kind.startswith(WORDED) or mark.kind in _vague() for mark in own)
    sure = {incident.slug, *incident.alone}  # a rule's or line's own words say more
    vague = not any(": " in mark.kind or mark.kind in sure for mark in own)
    shared = not any(mark.kind in incident.alone for mark in own)  # others print such lines, too
    place = [*wordings()].index(incident.slug) if is_worded else 0
    lines = sum(mark.lines for mark in own)
    breadth = min(sum(mark.kind in signs(slug) for slug in INCIDENTS) for mark in own)  # classes that share a sign
    denied = settled and not is_worded
    return (0, is_faint, is_worded, denied, vague, shared, -loud, place, breadth, -lines, -weight)


def _is_loud(facts: Facts, mark: Mark) -> bool:
    """Trouble; one refused try among other lines is none."""
    if mark.kind.startswith(PREFIX) and mark.lines == 1 and sum(c.lines for c in facts.coverage) > 1:
        return any(error.fatal for error in known_errors().values() if error.kind == mark.kind)
    if mark.kind in INCIDENTS:
        return not INCIDENTS[mark.kind].benign
    if mark.kind in _TRIES:
        return mark.lines >= _SAID_AGAIN
    return mark.kind in trouble() or mark.kind not in words()


def _points_to_harm(mark: Mark) -> bool:
    """What happened, and no error of few lines, is a sign of one class only, and that is none of the harmless ones."""
    own = [incident for slug, incident in INCIDENTS.items() if mark.kind in signs(slug)]
    return len(own) == 1 and not own[0].benign and not mark.kind.startswith(PREFIX)


def _noticed(facts: Facts, findings: Sequence[Finding], others: int, systems: frozenset[str]) -> Iterator[_Ranked]:
    """Classes of which too little was seen for more than a notice, beside *others*: lines of the other signs.

    Vague words are a sign among others.
    """
    for number, finding in enumerate(findings):
        incident = INCIDENTS[finding.incident]
        if finding.severity is Severity.NOTICE and finding.certainty > Certainty.POSSIBLE and not incident.benign:
            settle = _settle(facts, incident, incident.needs, systems & incident.anywhere or incident.anywhere)
            told = printed_by(finding.facts.get("software", ""), finding.facts.get("versions", "all"))
            explains = (say("noticed", statement=finding.statement, printed=told or None),)
            error = known_errors().get(finding.facts.get("error", ""))
            lines = finding.measures.get("lines", 0)
            weight = round(max(lines, 1) / (max(lines, 1) + others), 2)
            rank = (0.0, False, False, False, True, True, -lines) if error and error.vague else (-1.0, number)
            yield (
                rank,
                Hypothesis(incident.slug, weight, explains, finding.evidence[:LINES], (say("seldom"),), (), settle),
            )


def _quiet(facts: Facts, results: Mapping[str, Result], systems: frozenset[str], *, beside: bool) -> Hypothesis:
    """Nothing unusual *beside* other hypotheses or at all, in material that does not suffice to say more."""
    started = facts.of_kind(*STARTS, "app-started", "client-created")
    lines = sum(c.lines for c in facts.coverage)
    start = words().get(started[0].kind, started[0].kind) if started else None
    loud = [s for s in facts.shapes if s.level in _LOUD]
    leveled = any(s.level for s in facts.shapes)
    mild = leveled and not (loud or any(_SAYS_LOUD.search(e.first.text) for e in facts.episodes))
    told = say("quiet", start=start, lines=lines, warns=sum(s.lines for s in loud), beside=beside, mild=mild)
    ours = {slug for slug, incident in INCIDENTS.items() if not systems or systems & incident.anywhere}
    open_ = [(slug, result.missing) for slug, result in results.items() if result.missing and slug in ours]
    unchecked = next(((slug, missing) for slug, missing in open_ if not results[slug].silent), None)
    return Hypothesis(
        incident="healthy",
        weight=1.0,
        explains=(told,),
        evidence=tuple(episode.first for episode in started[:1]),
        against=(say("too-little"),),
        unexplained=(),
        settle=_settle(facts, INCIDENTS[unchecked[0]], unchecked[1], systems) if unchecked else (),
    )


_HALF = 0.5
"""Share of the signs from which the rest do not outweigh them."""


def is_likely(ranked: Sequence[Hypothesis]) -> bool:
    """Whether the first hypothesis explains most of what was seen, more than any other that nothing speaks against."""
    first, *others = ranked
    if first.incident == "healthy":
        return True
    rivals = [one for one in others if one.incident != "healthy" and stands(one) and one.weight >= first.weight]
    return first.weight > _HALF and stands(first) and not rivals


def has_sign(hypothesis: Hypothesis) -> bool:
    """Something was seen that its mechanism prints itself."""
    return not any(isinstance(told, Text) and told.key == "no-sign" for told in hypothesis.against)


def stands(hypothesis: Hypothesis) -> bool:
    """Nothing speaks against it but that it was seen too rarely."""
    return set(hypothesis.against) <= {say("seldom")}


def sentence(ranked: Sequence[Hypothesis]) -> str:
    """The hypotheses in one sentence; empty where there is none."""
    if not ranked:
        return ""
    first, *others = ranked
    if first.incident == "healthy":
        return say("healthy", told=first.explains[0])
    return say(
        "sentence",
        likely=is_likely(ranked),
        incident=first.incident,
        why=first.explains[0],
        others=[one.incident for one in others] or None,
    )


def _hypothesis(
    incident: Incident,
    result: Result,
    ours: Sequence[Mark],
    others: Sequence[Mark],
    weight: float,
    settle: tuple[Settle, ...],
) -> Hypothesis:
    own = [mark for mark in ours if mark.kind in (incident.slug, *signs(incident.slug))]
    first = sorted(ours, key=lambda mark: (mark not in own, -mark.lines))
    against: list[str] = []
    if incident.signs and not own:
        against.append(say("no-sign", signs=[words().get(kind, kind) for kind in incident.signs]))
    if result.rejected:
        against.append(result.rejected)
    elif found_nothing(result):
        against.append(say("nothing-found"))
    return Hypothesis(
        incident=incident.slug,
        weight=round(weight, 2),
        explains=tuple(mark.text for mark in first),
        evidence=tuple(place for mark in first for place in mark.evidence)[:LINES],
        against=tuple(against),
        unexplained=tuple(mark.text for mark in others),
        settle=settle,
    )


def _settle(facts: Facts, incident: Incident, missing: Sequence[str], systems: frozenset[str]) -> tuple[Settle, ...]:
    """What is *missing*, with the first commands of the class that do not fetch what is there already, whole."""
    read = frozenset() if is_excerpt(facts) else frozenset(c.role for c in facts.coverage)
    there = {name for name, role in _LOGS.items() if role in read}
    commands = [
        command.line
        for command in incident.commands
        if usable(command, systems, broker_products(facts)) and not any(name in command.name for name in there)
    ]
    return tuple(Settle(what, command) for what, command in zip(missing[:2], commands, strict=False))
