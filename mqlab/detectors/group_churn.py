"""Kafka: members join and die in a loop, and each life costs rebalances.

Fires: the process of one client starts again and again after short lives. Proven where it is seen to end with an error
or to print the same error before each end, and rebalances follow; likely where members come and go under ever new
names.
Quiet: a worker that dies since a database or service does not answer (dependency-down), members that leave because
they poll too late or that are expelled (one process, many member ids), processes that fence each other, releases,
members that are added or taken away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, finding
from mqlab.groups.backlog import backlog
from mqlab.kafka import advised, groups
from mqlab.kafka.lives import lives
from mqlab.kafka.rebalances import history
from mqlab.kafka.redelivery import extra
from mqlab.kafka.restarts import NEAR, Churn, churning, fenced, passing, restarts
from mqlab.kafka.rows import End, Life, Rebalance
from mqlab.shared.outages import outage
from mqlab.shared.restarts import BACKOFF, TAKEN_BACK
from mqlab.sources import Role
from mqlab.words import Text, listed

INCIDENT = "group-churn"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)
_EXPLAINS = ("reprocess-duplicates", "session-timeout", "backlog-drain")
_SHOWN = 3
_LONGEST = 80
"""Characters of an error that are read at a glance."""
_SHORTEST = 8
"""Characters from which it says something: shapes are cut."""
_LAYOUT = re.compile(r"^.*?(?: - | : )")
"""What stands before the message in most layouts."""


def detect(facts: Facts) -> Result:
    """One finding for each group."""
    if not facts.logs_of("kafka", Role.CLIENT_LOG, Role.BROKER_LOG):
        return Result(missing=(say("no-logs"),))
    found, reasons = [], []
    for group in groups.groups(facts):
        every = churning(facts, group)
        if own := [one for one in every if not _lacks(facts, one)]:
            found.append(_dying(facts, group, own))
        elif not every and (short := passing(facts, group)):
            found.append(_passing(facts, group, short))
        elif reason := _other(facts, group, every):
            reasons.append(reason)
    if found:
        return Result(tuple(found))
    off = frozenset(who for group in groups.groups(facts) for who in groups.astray(facts, group))
    if off:
        return Result(missing=(groups.missing(off),))
    return Result(rejected=listed(reasons)) if reasons else _again(facts)


def _again(facts: Facts) -> Result:
    """Members that come again and again without their own logs: not checked; else nothing of it is there."""
    again = any(groups.returning(facts, group) for group in groups.groups(facts))
    return Result(missing=(say("no-own-logs"),)) if again else CLEAR


def _lacks(facts: Facts, one: Churn) -> bool:
    """Its own log says, whenever it dies, that something which it needs does not answer."""
    own = {e.source for e in facts.episodes if e.client_id == one.client_id} - groups.logs(facts)
    return outage(facts, own, one.ends, NEAR) is not None


def _other(facts: Facts, group: str, in_need: Sequence[Churn]) -> Text | None:
    """Why members that joined more than once do not die in a loop, or not by themselves."""
    if in_need:
        return say("in-need", group=group, clients=[one.client_id for one in in_need])
    every = lives(facts, group)
    ends = {life.end for life in every}
    if End.POLL_TIMEOUT in ends:
        return say("late", group=group)
    if any(map(fenced, every)):
        return say("fenced", group=group)
    if restarts(every):
        return say("released", group=group)
    return None


def _dying(facts: Facts, group: str, every: Sequence[Churn]) -> Finding:
    since, until = min(one.since for one in every), max(one.until for one in every)
    rows = _rebalances(facts, group, since, until)
    proven = any(one.failing for one in every) and len(rows) > TAKEN_BACK
    again = extra(facts, group, since - NEAR, until + NEAR)
    lived = min((one.lived for one in every if one.lived is not None), default=None)
    goes_on = _ongoing(facts, until, (one.ends for one in every))
    return finding(
        INCIDENT,
        group,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (since, None if goes_on else until),
        ongoing=goes_on,
        slots={
            "each": [_told(one) for one in every[:_SHOWN]],
            "one": len(every) == 1,
            "clients": [one.client_id for one in every],
            "further": len(every[_SHOWN:]) or None,
            "words": _last_words(every),
            "dynamic": advised.is_dynamic(facts, group),
        },
        measures={
            "members": len(every),
            "deaths": sum(one.deaths for one in every),
            "restarts": sum(len(one.restarts) for one in every),
            "rebalances": len(rows),
            "life_seconds": lived,
            "duplicated_records": again or None,
            **backlog(facts, group, since, until),
        },
        evidence=groups.once(_evidence(every)),
        explains=_EXPLAINS,
        facts=_remarks(every, rows),
    )


def _told(one: Churn) -> Text:
    """How often it died, or only ended where nothing shows that it failed."""
    return say("died" if one.failing else "ended", client=one.client_id, times=one.deaths)


def _last_words(every: Sequence[Churn]) -> str | None:
    """The first error that comes near each end, without the layout of its line."""
    error = next((error for one in every for error in one.errors), None)
    plain = " ".join((error.sample or error.shape).split()) if error else ""
    told = (_LAYOUT.sub("", plain) or plain)[:_LONGEST]
    return told if len(told) >= _SHORTEST else None


def _remarks(every: Sequence[Churn], rows: Sequence[Rebalance]) -> dict[str, str | None]:
    """Who it is, what made the group rebalance, what is behind it."""
    names = {one.client_id.split(" on ")[0] for one in every}
    statuses = sorted({f"{e.value_max:.0f}" for one in every for e in one.exits if e.value_max is not None})
    return {
        "members": ", ".join(one.client_id for one in every),
        "triggers": groups.triggers(rows, [row for row in rows if row.client_id in names], "deaths"),
        "cause": say("exits", statuses=statuses) if statuses else None,
    }


def _evidence(every: Sequence[Churn]) -> Iterator[Evidence]:
    """What ends each process, and its first restarts."""
    for one in every:
        yield from (e.first.because(say("fails")) for e in one.exits[:_SHOWN])
    for one in every:
        yield from (Evidence(e.source, e.first_line, e.sample or e.shape, say("before-end")) for e in one.errors[:1])
    for one in every:
        for restart in one.restarts[:_SHOWN]:
            yield from restart.evidence


def _passing(facts: Facts, group: str, short: Sequence[Life]) -> Finding:
    since = min(life.since or 0.0 for life in short)
    until = max(life.until or 0.0 for life in short)
    rebalances = len(_rebalances(facts, group, since, until))
    goes_on = _ongoing(facts, until, [sorted(life.since or since for life in short)])
    return finding(
        INCIDENT,
        group,
        Certainty.LIKELY,
        (since, None if goes_on else until),
        ongoing=goes_on,
        slots={"longest": BACKOFF},
        measures={"members": len(short), "rebalances": rebalances, **backlog(facts, group, since, until)},
        evidence=(place for life in short for place in life.evidence[:1]),
        explains=_EXPLAINS,
    )


def _rebalances(facts: Facts, group: str, since: float, until: float) -> list[Rebalance]:
    return [one for one in history(facts, group) if since - 1.0 <= one.started <= until + NEAR and not one.empty]


def _ongoing(facts: Facts, until: float, runs: Iterable[Sequence[float]]) -> bool:
    """The material ends before the next one would have come: after the longest time that lay between two of a run."""
    pace = max((later - one for run in runs for one, later in pairwise(run)), default=NEAR)
    return (facts.covered_until() or until) - until <= max(NEAR, pace)
