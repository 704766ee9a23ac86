"""Cooperative rebalances: which rebalance is the second half of the one before it.

A cooperative member gives up what it is to lose only after it has its new assignment, and joins again so that others
can have it: one change, two rebalances (KIP-429). Before 3.2 a member does not tell the coordinator why it joins again.
"""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.rebalances.index import between, lines
from mqlab.rebalances.kinds import CLIENT
from mqlab.rebalances.lines import FOLLOW_UP, rejoined, trigger_of
from mqlab.rebalances.rows import Trigger
from mqlab.rebalances.starts import Begun

_SOON = 10.0
"""Seconds after an assignment in which members that gave up partitions have joined again: a heartbeat, and a poll."""
_GIVEN_UP = frozenset({"partitions-revoked", "partitions-lost"})


@per_facts
def cooperative(facts: Facts, group: str) -> bool | None:
    """True where the group keeps its partitions during a rebalance, False where it gives up all, None if untold."""
    known = lines(facts, group)
    if any(line.kind == "group-epoch-bumped" for line in known.coordinator):
        return True
    for these in known.clients.values():
        for line in these:
            if line.kind in CLIENT and ("protocol='cooperative" in line.first.text or FOLLOW_UP in (line.reason or "")):
                return True
            if "protocol='" in line.first.text:
                return False
    told = [s.value for s in facts.settings if s.key == "partition.assignment.strategy" and s.owner in known.clients]
    return all("ooperative" in value and "," not in value for value in told) if told else None


def follow_up(facts: Facts, group: str, old: Begun | None, begun: Begun) -> str:
    """How *begun* is known to be the second half of *old*; empty where it is not, or the line itself says so."""
    if old is None or begun.trigger is not Trigger.UNKNOWN or not rejoined(begun.reason) or old.stabilised is None:
        return ""
    if begun.started - old.stabilised > _SOON:
        return ""
    near = [e for e in _own(facts, group, begun) if old.started <= (e.first_at or 0.0) <= begun.started + 1]
    if any(e.kind == "join-requested" and FOLLOW_UP in (e.reason or "") for e in near):
        return "the client says that it gave up partitions and joins again"
    if any(e.kind in _GIVEN_UP and e.value_max for e in near) and cooperative(facts, group):
        return "the client gave up partitions just before it joined again"
    if cooperative(facts, group) and not near:
        return "a member joined again right after a cooperative rebalance"
    return ""


def own_reason(facts: Facts, group: str, begun: Begun) -> Trigger:
    """Why the member joined again that the coordinator names without a reason, as its own log says; else UNKNOWN."""
    if begun.trigger is not Trigger.UNKNOWN or not rejoined(begun.reason):
        return Trigger.UNKNOWN
    near = [e for e in _own(facts, group, begun) if (e.first_at or 0.0) >= begun.started - _SOON]
    said = [trigger_of(e.reason) for e in near if e.kind == "join-requested"]
    return said[-1] if said else Trigger.UNKNOWN


def _own(facts: Facts, group: str, begun: Begun) -> Sequence[Episode]:
    own = lines(facts, group).clients.get(begun.client_id or "", ())
    return between(own, begun.started - 60, begun.started + 1)
