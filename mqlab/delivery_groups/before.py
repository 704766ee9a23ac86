"""A Kafka group that took over from another one: the same clients under a new group id, which has no offsets yet."""

from __future__ import annotations

from mqlab.delivery_groups.first import since
from mqlab.delivery_groups.offsets import Offsets, furthest, offsets
from mqlab.facts import Facts
from mqlab.kafka.groups import groups
from mqlab.kafka.ledgers import readers
from mqlab.memo import per_facts


def inherited(facts: Facts, known: Offsets, at: float) -> int:
    """The furthest offset that an earlier group of the same clients had committed in this partition; 0 without one."""
    earlier = predecessors(facts, known.group, known.topic)
    return max((furthest(offsets(facts, one, known.topic, known.queue), at) for one in earlier), default=0)


@per_facts
def predecessors(facts: Facts, group: str, topic: str) -> tuple[str, ...]:
    """Groups with a client of the same id that read *topic* before *group* did and not any more, by name."""
    begun = since(facts, group, topic)
    own = _clients(facts, group)
    others = [one for one in groups(facts) if one != group and one in readers(facts, topic)]
    return tuple(
        one for one in others
        if begun is not None and own & _clients(facts, one) and (last := _last(facts, one, topic)) and last <= begun
    )  # fmt: skip


@per_facts
def _clients(facts: Facts, group: str) -> frozenset[str]:
    named = {e.client_id for e in facts.episodes if e.group == group and e.client_id}
    named |= {p.client_id for p in facts.positions if p.group == group and p.client_id}
    return frozenset(named)


def _last(facts: Facts, group: str, topic: str) -> float | None:
    """When a member of *group* was last seen to own a partition of *topic* or to say where it reads there."""
    told = [p.at for p in facts.positions if (p.group, p.topic) == (group, topic) and p.client_id]
    told += [e.first_at for e in facts.episodes if (e.group, e.topic) == (group, topic)]
    return max((at for at in told if at is not None), default=None)
