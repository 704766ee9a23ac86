"""Kafka: two processes with one ``group.instance.id`` fence each other and take turns.

Fires: processes are fenced again and again. Proven where two processes are seen with the id and one that had lost it
took it back, so that both were alive.
Quiet: a static member that restarts (it is replaced, nobody is fenced), a deploy in which the new process starts before
the old one stops (one hand-over of each id), one id in two groups, processes that share a ``client.id`` only.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.groups.backlog import backlog
from mqlab.kafka import fencing
from mqlab.kafka.fencing import Fencing
from mqlab.sources import Role

INCIDENT = "static-member-fenced"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)

SOON = 300.0
"""Seconds between two hand-overs of one id that are no two deploys: a supervisor's longest wait (CrashLoopBackOff of
Kubernetes)."""
_STEADY = 3
"""Fencings from which their pace is known."""
_PERIODS = 4
"""Times that pace without another one from which it is over. Judgement, no default behind it."""
_SHORT = 20.0
"""Seconds of quiet at least: who was fenced starts again within seconds, and its group takes some more to form."""
QUIET = 120.0
"""Seconds without a further fencing after which it is over, at least. Judgement, no default behind it."""
_SHOWN = 4


def detect(facts: Facts) -> Result:
    """One finding for each instance id."""
    found = fencing.fencings(facts)
    taken = [fenced for fenced in found if fenced.returned or _often(fenced)]
    if taken:
        names = Counter(fenced.instance for fenced in taken)
        return Result(tuple(_finding(facts, fenced, alone=names[fenced.instance] == 1) for fenced in taken))
    if found:
        each = [say("each", instance=fenced.instance, times=len(fenced.at)) for fenced in found]
        return Result(rejected=say("handed-over", each=each))
    shared = fencing.namesakes(facts)
    if shared:
        each = [say("namesake", client=client, processes=count) for client, count in shared.items()]
        return Result(rejected=say("shared-name", each=each))
    known = facts.logs_of("kafka", Role.CLIENT_LOG, Role.BROKER_LOG)
    return CLEAR if known else Result(missing=(say("no-logs"),))


def _often(fenced: Fencing) -> bool:
    """Fenced again sooner than anybody deploys twice."""
    return any(b - a <= SOON for a, b in pairwise(fenced.at))


def _finding(facts: Facts, fenced: Fencing, *, alone: bool) -> Finding:
    twice = len(fenced.processes) > 1
    proven = twice and fenced.returned
    ongoing = _goes_on(facts, fenced)
    return finding(
        INCIDENT,
        say("subject", group=fenced.group, instance=fenced.instance),
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (
            min([fenced.at[0], *(e.first_at for e in fenced.swaps if e.first_at is not None)]),
            None if ongoing else fenced.at[-1],
        ),
        severity=Severity.CRITICAL if proven else Severity.WARNING,
        ongoing=ongoing,
        name=fenced.instance if alone else None,
        slots={
            "names": fenced.processes,
            "group": fenced.group,
            "instance": fenced.instance,
            "ongoing": ongoing,
            "period": _period(fenced) if len(fenced.at) > 1 else None,
        },
        measures={
            "fencings": len(fenced.at),
            "swaps": len(fenced.swaps),
            "processes": len(fenced.processes) if twice else None,
            **(backlog(facts, fenced.group, fenced.at[0], fenced.at[-1] + _rest(fenced)) if fenced.group else {}),
        },
        evidence=_evidence(facts, fenced),
        explains=("reprocess-duplicates", "group-churn"),
    )


def _period(fenced: Fencing) -> float:
    gaps = sorted(b - a for a, b in pairwise(fenced.at))
    return gaps[len(gaps) // 2]


def _goes_on(facts: Facts, fenced: Fencing) -> bool:
    """The material ends before the next fencing would have come, by the pace of those that were seen."""
    last = facts.covered_until() or fenced.at[-1]
    return last - fenced.at[-1] < _rest(fenced) and not _given_up(facts, fenced)


def _rest(fenced: Fencing) -> float:
    """Seconds after the last fencing within which another one would have come; its lag is of them, too."""
    usual = _PERIODS * _period(fenced) if len(fenced.at) > 1 else 0.0
    return max(_SHORT, usual) if len(fenced.at) >= _STEADY else max(QUIET, usual)


def _given_up(facts: Facts, fenced: Fencing) -> bool:
    """After the last fencing a process that had the id printed another one."""
    later = [
        s
        for s in fencing.printed_ids(facts, fenced.group)
        if fencing.log_of(s.source) in fenced.processes and s.at is not None and s.at > fenced.at[-1]
    ]
    return any(s.value != fenced.instance for s in later)


def _evidence(facts: Facts, fenced: Fencing) -> tuple[Evidence, ...]:
    own = [
        s.evidence.because(say("printed"))
        for s in fencing.printed_ids(facts, fenced.group)
        if s.value == fenced.instance
    ]
    first_of_each = list({e.source: e for e in reversed(own)}.values())
    swaps = [e.first.because(say("swap")) for e in fenced.swaps]
    lines = [e.first.because(say("fenced")) for e in fenced.told]
    return (*reversed(first_of_each), *swaps[:_SHOWN], *lines[: 2 * _SHOWN])
