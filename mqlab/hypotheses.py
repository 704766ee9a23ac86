"""What it may be where no finding leads: classes of the catalogue that explain what was seen, most likely first.

A hypothesis accuses nobody: it has no severity and changes no exit code. It is built from what is there already: the
events that a class accounts for or prints itself (the catalogue), and what its detector answered. Sample, as a verdict
says it:

    Most likely session-timeout (members expelled after session.timeout.ms without a heartbeat, 2 times: console-1), or
    rolling-restart. To tell: the consumers' logs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from mqlab.catalogue import INCIDENTS, Incident
from mqlab.facts import Episode, Facts
from mqlab.findings import Certainty, Evidence, Finding, Result, Severity
from mqlab.known_errors import PREFIX, known_errors, of_class, words
from mqlab.rows import Shape
from mqlab.shared.benign_lines import STARTS, remark, starts
from mqlab.shared.queues import lag
from mqlab.shared.wording import clock, few
from mqlab.sources import Role
from mqlab.symptoms.unexplained import Symptom, abnormal, explained, trouble
from mqlab.units import counted, number

SHOWN = 4
"""Hypotheses that a reader can weigh against each other."""
_ALTERNATIVES = 2
"""Hypotheses that are told even where a class explains events without a sign of its own."""
_SEVERE = frozenset({"WARN", "ERROR", "FATAL"})
_FAILURE = re.compile(
    r"exception|error|fail|refus|denied|reject|unable|can ?not|can't|could not|timed? ?out|killed|corrupt|lost"
    r"|unavailable|expired|unknown|invalid|missing|not (?:found|available|connected|authori[sz]ed)|no such|no space"
    r"|too (?:many|large)",
    re.IGNORECASE,
)
"""How lines of any program tell of a failure; only what holds none of these words may be called quiet."""
_LOGS = {"broker-log": Role.BROKER_LOG, "client-log": Role.CLIENT_LOG}
"""Commands that fetch logs, by a part of their names."""
_AGAIN = {"coordinator-lost": 3, "no-controller": 3}
"""Events that every failover prints once or twice, and from how many on they are a sign."""
_BEHIND = 500
"""Messages in a queue that wait in health: as many as one poll takes (max.poll.records)."""
_LINES = 3
"""Lines that are cited for each."""


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


@dataclass(frozen=True, slots=True)
class Mark:
    """All that was seen of one kind."""

    kind: str
    lines: int
    text: str
    evidence: tuple[Evidence, ...]
    at: float | None


@cache
def signs(slug: str) -> frozenset[str]:
    """Kinds of events that the mechanism of a class prints itself, and the known errors that are signs of it."""
    return frozenset((*INCIDENTS[slug].signs, *(kind for kind in of_class(slug) if kind.startswith(PREFIX))))


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
    marks = (*_signs(facts, known), *_others(symptoms), *_backlog(facts, known))
    every = sum(mark.lines for mark in marks)
    ranked = []
    for slug, incident in INCIDENTS.items():
        result = results.get(slug, Result())
        own = [mark for mark in marks if mark.kind in signs(slug)]
        ours = [mark for mark in marks if mark in own or mark.kind in incident.accounts_for]
        outright = any(mark.kind.startswith(PREFIX) for mark in own)
        if ours and (outright or systems & frozenset(incident.systems)):
            settled = bool(result.rejected) or not (result.missing or result.findings)
            weight = sum(mark.lines for mark in ours) / every
            settle = _settle(facts, incident, result.missing or incident.needs, systems)
            hypothesis = _hypothesis(incident, result, ours, [m for m in marks if m not in ours], weight, settle)
            loud = sum(mark.lines for mark in own if mark.kind in trouble())
            is_other = not own and not incident.benign  # what is to be told apart is the benign look-alike
            vague = not any(": " in mark.kind for mark in own)  # a line's own words say more than its kind
            shared = not any(mark.kind in incident.alone for mark in own)  # others print such lines, too
            rank = (not own, is_other, vague, settled, shared, -loud, -sum(mark.lines for mark in own), -weight)
            ranked.append((rank, hypothesis))
    ranked.sort(key=lambda entry: entry[0])
    with_signs = sum(not rank[0] for rank, _ in ranked)
    likely = tuple(hypothesis for _, hypothesis in ranked[: min(SHOWN, max(with_signs, _ALTERNATIVES))])
    likely = (*_noticed(facts, findings), *likely)[:SHOWN]
    is_calm = not any(_is_loud(facts, mark) for mark in marks) and not complaints(facts)
    is_read = any(c.data + c.noise > 0 and c.role is not Role.UNKNOWN for c in facts.coverage)
    return (*likely[:1], _quiet(facts, results, systems), *likely[1:]) if is_calm and is_read else likely


def _is_loud(facts: Facts, mark: Mark) -> bool:
    """Trouble; one refused try among other lines is none."""
    if mark.kind.startswith(PREFIX) and mark.lines == 1 and sum(c.lines for c in facts.coverage) > 1:
        return any(error.fatal for error in known_errors().values() if error.kind == mark.kind)
    return mark.kind in trouble() or mark.kind not in words()


def _is_said(episode: Episode) -> bool:
    """The table of known errors does not leave it out."""
    errors = [error for error in known_errors().values() if error.kind == episode.kind]
    return any(error.says(episode.reason, episode.first.text) for error in errors)


def _noticed(facts: Facts, findings: Sequence[Finding]) -> Iterator[Hypothesis]:
    """Classes of which too little was seen for more than a notice."""
    for finding in findings:
        incident = INCIDENTS[finding.incident]
        if finding.severity is Severity.NOTICE and finding.certainty > Certainty.POSSIBLE and not incident.benign:
            settle = _settle(facts, incident, incident.needs, frozenset(incident.systems))
            against = ("it was seen too seldom, or was over too soon, to be sure",)
            yield Hypothesis(incident.slug, 1.0, (finding.statement,), finding.evidence[:_LINES], against, (), settle)


def complaints(facts: Facts) -> tuple[Shape, ...]:
    """Lines of WARN or worse, or that tell of a failure, and that are no event; most frequent first."""
    loud = [
        s for s in facts.shapes if ((s.level or "") in _SEVERE or _FAILURE.search(s.shape)) and not remark(facts, s)
    ]
    return tuple(sorted(loud, key=lambda s: (-s.lines, s.source, s.first_line)))


def _quiet(facts: Facts, results: Mapping[str, Result], systems: frozenset[str]) -> Hypothesis:
    """Nothing unusual, in material that does not suffice to say more."""
    started = facts.of_kind(*STARTS, "app-started", "client-created")
    lines = sum(c.lines for c in facts.coverage)
    what = f"a start ({words().get(started[0].kind, started[0].kind)})" if started else "nothing unusual"
    remarks = sum(s.lines for s in facts.shapes if s.level == "WARN" and remark(facts, s))
    loud = f"{counted(remarks, 'remark')} of WARN that health prints too" if remarks else "none of them WARN or worse"
    told = f"{what} and no trouble in {counted(lines, 'line')}, {loud}"
    open_ = sum(bool(result.missing) for result in results.values())
    unchecked = next(((slug, r.missing) for slug, r in results.items() if r.missing), None)
    return Hypothesis(
        incident="healthy",
        weight=1.0,
        explains=(told,),
        evidence=tuple(episode.first for episode in started[:1]),
        against=(f"too little to call the whole healthy: {open_} classes could not be checked",),
        unexplained=(),
        settle=_settle(facts, INCIDENTS[unchecked[0]], unchecked[1], systems) if unchecked else (),
    )


def sentence(ranked: Sequence[Hypothesis]) -> str:
    """The hypotheses in two sentences; empty where there is none."""
    if not ranked:
        return ""
    first, *others = ranked
    rest = f", or {few([h.incident for h in others], 2, 'others')}" if others else ""
    if first.incident == "healthy":
        return f"{first.explains[0][:1].upper()}{first.explains[0][1:]}; {first.against[0]}."
    told = f"Most likely {first.incident} ({first.explains[0]}){rest}."
    return f"{told} To tell: {first.settle[0].missing}." if first.settle else told


def _hypothesis(
    incident: Incident,
    result: Result,
    ours: Sequence[Mark],
    others: Sequence[Mark],
    weight: float,
    settle: tuple[Settle, ...],
) -> Hypothesis:
    own = [mark for mark in ours if mark.kind in signs(incident.slug)]
    first = sorted(ours, key=lambda mark: (mark not in own, -mark.lines))
    against = []
    if incident.signs and not own:
        against.append(f"no sign of its own is there: {few([words()[kind] for kind in incident.signs], 2)}")
    if result.rejected:
        against.append(result.rejected)
    elif not (result.missing or result.findings):
        against.append("its rule looked at this material and found nothing")
    return Hypothesis(
        incident=incident.slug,
        weight=round(weight, 2),
        explains=tuple(mark.text for mark in first),
        evidence=tuple(place for mark in first for place in mark.evidence)[:_LINES],
        against=tuple(against),
        unexplained=tuple(mark.text for mark in others),
        settle=settle,
    )


def _settle(facts: Facts, incident: Incident, missing: Sequence[str], systems: frozenset[str]) -> tuple[Settle, ...]:
    """What is *missing*, with the first commands of the class that do not fetch what is there already."""
    there = {name for name, role in _LOGS.items() if any(c.role is role for c in facts.coverage)}
    commands = [
        command.line
        for command in incident.commands
        if command.system in (*systems, "any") and not any(name in command.name for name in there)
    ]
    return tuple(Settle(what, command) for what, command in zip(missing[:2], commands, strict=False))


def _signs(facts: Facts, findings: Sequence[Finding]) -> Iterable[Mark]:
    """Events that are trouble or a class's own sign, and that no finding explains; the most frequent first."""
    begun = starts(facts)
    marks = []
    for sign in sorted({kind for slug, i in INCIDENTS.items() for kind in (*signs(slug), *i.accounts_for)}):
        kind, _, reason = sign.lower().partition(": ")
        classes = (*trouble().get(sign, ()), *(slug for slug in INCIDENTS if sign in signs(slug)))
        told = [e for e in facts.of_kind(kind) if reason in (e.reason or "").lower()]
        told = [
            e for e in told if (_is_said(e) and not begun.around(e) if kind.startswith(PREFIX) else abnormal(facts, e))
        ]
        left = [e for e in told if not explained(e.first_at, findings, classes)]
        if sum(e.count for e in left) >= _AGAIN.get(kind, 1):
            marks.append(_mark(sign, left))
    return sorted(marks, key=lambda mark: (-mark.lines, mark.kind))


def _mark(kind: str, episodes: Sequence[Episode]) -> Mark:
    lines = sum(episode.count for episode in episodes)
    who = Counter[str]()
    for episode in episodes:
        who[episode.client_id or episode.group or episode.topic or episode.node or ""] += episode.count
    named = few([name for name, _ in who.most_common() if name], 3)
    at = episodes[0].first_at
    since = "" if at is None else f", from {clock(at)} UTC on"
    text = f"{words()[kind]}, {counted(lines, 'time')}{since}{f': {named}' if named else ''}"
    places = tuple(episode.first.because(words()[kind]) for episode in episodes[:_LINES])
    return Mark(kind, lines, text, places, at)


def _others(symptoms: Sequence[Symptom]) -> Iterable[Mark]:
    """Symptoms that are no single events: counters, lag, copies, lines that nobody knows."""
    of_events = {kind for kind in trouble() if "." not in kind}
    return [
        Mark(symptom.kind, symptom.lines, symptom.text, (), symptom.at)
        for symptom in symptoms
        if symptom.kind not in of_events
    ]


def _backlog(facts: Facts, findings: Sequence[Finding]) -> Iterable[Mark]:
    """Queues of which more waits for a group than one poll takes, where the last snapshot shows it."""
    last = {(p.group, p.topic, p.queue): p for p in facts.positions if p.group and None not in (p.committed, p.end)}
    behind = [p for p in last.values() if lag(p) > _BEHIND and not explained(p.at, findings, None)]
    for kind, queues in (
        ("backlog-read", [p for p in behind if p.client_id or p.member_id]),
        ("backlog-unread", [p for p in behind if not (p.client_id or p.member_id)]),
    ):
        if queues:
            groups = few(sorted({p.group or "" for p in queues}), 3)
            waiting = f"{number(sum(map(lag, queues)))} {words()[kind]}, in {counted(len(queues), 'queue')}: {groups}"
            places = tuple(Evidence(p.source, p.line, p.text, words()[kind]) for p in queues[:_LINES])
            yield Mark(kind, len(queues), waiting, places, queues[0].at)
