"""Kafka: the coordinator hears nothing from a member for session.timeout.ms and expels it.

Fires: a member is expelled and was silent for as long, because its process stood still or died, or worked on without
reaching the coordinator. Proven where that silence, a collection that covers it, or the cut network is seen.
Quiet: static members that were stopped (their expiry is the normal trace), members whose new process took over in a
release, those that had left the group before for a late poll, members that die in a loop or fence each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import Certainty, Finding, Result, Severity, finding
from mqlab.groups.backlog import backlog
from mqlab.kafka import groups, heartbeat_loss
from mqlab.kafka.heartbeat_loss import Cause, Expiry, Kind
from mqlab.kafka.rebalances import history, whole
from mqlab.kafka.redelivery import extra
from mqlab.kafka.restarts import dying
from mqlab.kafka.rows import Behind, Rebalance
from mqlab.memo import per_facts
from mqlab.shared.restarts import CLOCKS
from mqlab.sources import Role
from mqlab.words import listed
from mqlab.words.filling import Value

INCIDENT = "session-timeout"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)

AGAIN = 2
"""Expulsions of members that stood still or were cut off, from which it is no single pause."""
ALIVE = 0.6
"""Share of the session timeout that a silence must have lasted: the last heartbeat may be a third of it old when the
silence begins (heartbeat.interval.ms: no higher than that), and two logs' clocks differ by 2 s of 30."""
AFTER = 60.0
"""Seconds after the last expulsion in which its rebalances come, and after which it is over: another session timeout
(45 s) and a join."""
_NAMED = 4
_SHOWN = frozenset({Kind.PAUSE, Kind.NETWORK, Kind.FROZEN})
"""Causes that lines show."""
_STILL = frozenset({Kind.PAUSE, Kind.FROZEN})
"""Those in which the process did nothing: a longer session timeout covers them."""


@dataclass(frozen=True, slots=True)
class Case:
    """All expulsions of one group, each with its cause."""

    group: str
    each: tuple[tuple[Expiry, Cause], ...]
    rebalances: tuple[Rebalance, ...]
    """Those that came of them."""
    spanning: tuple[Rebalance, ...]
    """Those in which a member was expelled: the group works again at their end."""
    repeated: int
    """Times that a record was handled again after them, by the ledgers."""
    ongoing: bool

    @property
    def kind(self) -> Kind:
        """The most frequent cause."""
        return min(Counter(c.kind for _, c in self.each).items(), key=lambda item: (-item[1], item[0].value))[0]


def detect(facts: Facts) -> Result:
    """One finding for each group."""
    if not facts.logs_of("kafka", Role.CLIENT_LOG, Role.BROKER_LOG):
        return Result(missing=(say("no-logs"),))
    every = groups.groups(facts)
    if cases := [case for group in every if (case := _case(facts, group)) is not None]:
        return Result(tuple(_finding(facts, case) for case in cases))
    expelled = [(group, one) for group in every for one in _expelled(facts, group)]
    if expelled:
        off = frozenset(one.client_id for group, one in expelled if one.client_id in groups.astray(facts, group))
        cut = any(one.seen for _, one in expelled)
        return Result(missing=(groups.missing(off) if off else say("no-coordinator" if cut else "no-client-logs"),))
    reasons = [reason for group in every if (reason := _traces(facts, group))]
    return Result(rejected=listed(reasons) or None)


@per_facts
def _expelled(facts: Facts, group: str) -> list[Expiry]:
    """Expulsions that are no trace of anything else."""
    looping = dying(facts, group)
    return [one for one, why in heartbeat_loss.judged(facts, group) if why is None and one.client_id not in looping]


def _case(facts: Facts, group: str) -> Case | None:
    """Those of which the material shows what the member did: a release that kills looks the same to a coordinator."""
    every = [(one, heartbeat_loss.cause(facts, group, one)) for one in _expelled(facts, group) if one.seen]
    each = tuple((one, why) for one, why in every if _is_shown(why) or _all_there(facts, group, one))
    if not each:
        return None
    last = each[-1][0]
    end = facts.covered_until() or last.at
    times = [(one.silent_since if one.silence else one.at, one.at + AFTER) for one, _ in each]
    others = {r.started for r in history(facts, group) if _of_others(r, [one for one, _ in each])}
    rebalances = tuple(
        r for r in history(facts, group)
        if any(a <= r.started <= b for a, b in times) and not r.empty and r.started not in others
    )  # fmt: skip
    spanning = tuple(r for r in history(facts, group) if any(_in_it(r, one.at) for one, _ in each))
    silent = last.silence is not None and last.silence.until is None and last.back is None
    again = extra(facts, group, min(a for a, _ in times), max(b for _, b in times), tuple(others))
    return Case(group, each, rebalances, spanning, again, ongoing=silent and end - last.at <= AFTER)


def _in_it(rebalance: Rebalance, at: float) -> bool:
    """It began by then or with it, and was not done before."""
    return rebalance.started - CLOCKS <= at <= (rebalance.stabilised or rebalance.started)


def _of_others(rebalance: Rebalance, expelled: Sequence[Expiry]) -> bool:
    """Somebody started or stopped another member for it before any of the *expelled* was removed."""
    removed = any(abs(rebalance.started - one.at) <= CLOCKS for one in expelled)
    return not removed and rebalance.wanted_by_others({one.client_id for one in expelled})


def _is_shown(cause: Cause) -> bool:
    """Lines tell of it; what only no line contradicts may be a stop in good order of which the lines are missing."""
    return cause.kind in _SHOWN or bool(cause.evidence)


def _all_there(facts: Facts, group: str, one: Expiry) -> bool:
    """No line of the coordinator is missing that might tell of another reason."""
    return whole(facts, group, one.at - one.reach, one.at + one.reach)


def _traces(facts: Facts, group: str) -> str | None:
    """Why expulsions of this group are none."""
    looping = dying(facts, group)
    found = heartbeat_loss.judged(facts, group)
    if not found:
        return None
    reasons = sorted({why or say("dying") for one, why in found if why or one.client_id in looping})
    return say("trace", group=group, expulsions=len(found), reasons=reasons)


def _finding(facts: Facts, case: Case) -> Finding:
    living = [one for one, cause in case.each if cause.kind is not Kind.DEATH]
    proven = any(_measured(one, cause) for one, cause in case.each)
    shown = (place for one, cause in case.each[:_NAMED] for place in (*one.evidence, *one.after, *cause.evidence))
    return finding(
        INCIDENT,
        case.group,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (min(one.silent_since for one, _ in case.each), None if case.ongoing else _ended(case)),
        severity=Severity.CRITICAL if len(living) >= AGAIN else Severity.WARNING,
        ongoing=case.ongoing,
        slots=_slots(case),
        measures=_measures(facts, case),
        evidence=groups.once(e.because(e.why or say("expelled")) for e in shown),
        explains=("reprocess-duplicates", "backlog-drain") if living else ("backlog-drain",),
        facts=_remarks(case),
    )


def _measured(one: Expiry, cause: Cause) -> bool:
    """A coordinator expelled it, and what its process did fits the session timeout."""
    if not one.told or one.timeout is None:
        return False
    if cause.kind in (Kind.PAUSE, Kind.NETWORK):
        return True
    return one.silence is not None and one.silence.telling and one.at - one.silence.since >= ALIVE * one.timeout


def _slots(case: Case) -> dict[str, Value]:
    """Who was expelled how often, what was behind it, and which timeout would have been enough."""
    often = Counter(one.client_id for one, _ in case.each)
    cause = min((c for _, c in case.each if c.kind is case.kind), key=lambda c: (-(c.seconds or 0.0), c.told))
    still = {
        one.client_id: c.seconds
        for one, c in sorted(case.each, key=lambda pair: pair[1].seconds or 0.0)
        if c.kind is case.kind and c.kind in _STILL and c.seconds is not None
    }
    longest = [say("still", client=who, seconds=seconds) for who, seconds in sorted(still.items())]
    return {
        "each": None if len(often) > _NAMED else [say("each", client=who, times=n) for who, n in sorted(often.items())],
        "cause": cause.told,
        "still": longest if 1 < len(still) <= _NAMED else None,
        "kind": case.kind,
        "enough": max(still.values(), default=None),
        "away": sorted({one.client_id for one, c in case.each if c.kind is Kind.DEATH and one.back is None}),
    }


def _ended(case: Case) -> float:
    """When all were members again, or heard of again; or the group worked without those that had died."""
    gone = any(rebalance.empty for rebalance in case.spanning)
    living = [one for one, cause in case.each if gone or cause.kind is not Kind.DEATH]
    heard = [one.silence.until for one in living if one.silence and one.silence.until]
    back = [one.back.since for one in living if one.back and one.back.since is not None]
    at = [one.at for one, _ in case.each]
    moved = [r.stabilised for r in case.spanning if r.stabilised is not None]
    return max(at + heard + back + moved)


def _measures(facts: Facts, case: Case) -> dict[str, float | None]:
    return {
        "members": len({one.client_id for one, _ in case.each}),
        "expired_members": len(case.each),
        "rebalances": len(case.rebalances),
        "duplicated_records": case.repeated or None,
        "session_timeout_seconds": case.each[0][0].timeout,
        "silent_seconds": max((c.seconds for _, c in case.each if c.seconds is not None), default=None),
        **backlog(facts, case.group, min(one.silent_since for one, _ in case.each), _ended(case)),
    }


def _remarks(case: Case) -> dict[str, str | None]:
    """What is behind it, who it is, what made the group rebalance."""
    own = [row for row in case.rebalances if row.behind in (Behind.EXPIRY, Behind.CRASH)]
    kinds = Counter(cause.kind for _, cause in case.each)
    told = sorted(say("kinds" if n > 1 else "kind", kind=kind, times=n) for kind, n in kinds.items())
    return {
        "cause": listed(told, ", "),
        "members": ", ".join(sorted({one.client_id for one, _ in case.each})),
        "triggers": groups.triggers(case.rebalances, own, "expulsions"),
    }
