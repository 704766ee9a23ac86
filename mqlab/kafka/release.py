"""Which rounds of restarts in Kafka groups are releases, and why others are none."""

from __future__ import annotations

from mqlab.facts import Facts
from mqlab.kafka.lives import lives
from mqlab.kafka.renewal import Restart, Round, broken, rounds
from mqlab.kafka.rollout import MEETS
from mqlab.memo import per_facts
from mqlab.ordinary import WANTED
from mqlab.polling import lines
from mqlab.rebalances import index

OFTEN = 2
"""Times that a release restarts each member, at most, unless all stop in good order."""


@per_facts
def every(facts: Facts, group: str) -> tuple[Round, ...]:
    """All rounds of restarts, by time."""
    return rounds(group, lives(facts, group))


@per_facts
def releases(facts: Facts, group: str) -> tuple[Round, ...]:
    """Rounds that are nothing but a release, by time."""
    return tuple(one for one in every(facts, group) if _why_not(facts, one) is None)


def other(facts: Facts, group: str) -> str | None:
    """Why restarts of a group's members are no release; None where there are none or they are one."""
    reasons = [reason for one in every(facts, group) if (reason := _why_not(facts, one))]
    return f"{group}: {reasons[0]}" if reasons else None


def _why_not(facts: Facts, one: Round) -> str | None:
    if broken(lives(facts, one.group), one.since, one.until) or _failing(facts, one):
        return "its members were restarted after they had fallen out"
    if not one.whole:
        return "not all of its members came again, or not equally often"
    if not one.sequence:
        return "its members were stopped together"
    if one.times > OFTEN and not all(restart.orderly for restart in one.restarts):
        return "its members died again and again"
    return None


def _failing(facts: Facts, one: Round) -> bool:
    """Commits failed before the first stop, or a process died with an error."""
    failed = lines.own_lines(facts, one.group, "commit-failed", "poll-timeout")
    before = any(one.since - MEETS <= (e.first_at or 0.0) < one.since for e, _ in failed)
    exits = [e for e, _ in lines.own_lines(facts, one.group, "process-exit")]
    meanwhile = [e for e in exits if one.since - MEETS <= (e.first_at or 0.0) <= one.until]
    if before or any(e.value_max is not None and e.value_max not in WANTED for e in meanwhile):
        return True
    return any(_crashed(facts, restart, one.group) for restart in one.restarts if not restart.orderly)


def _crashed(facts: Facts, restart: Restart, group: str) -> bool:
    """An error stands in its log just before it was gone without a word."""
    homes = index.homes(facts, group)
    own = [s for s in facts.shapes if s.level in ("ERROR", "FATAL") and homes.get(s.source) == restart.client_id]
    times = [at for s in own for at in (s.first_at, s.last_at) if at is not None]
    return any(restart.stopped - MEETS <= at <= restart.started for at in times)
