"""Consumer groups of Kafka that the material tells of, and what they read."""

from __future__ import annotations

from collections.abc import Mapping

from mqlab.errors import UnknownGroupError
from mqlab.facts import Facts
from mqlab.groups.queues import Points, of_groups
from mqlab.memo import per_facts
from mqlab.rocketmq import members

_KINDS = frozenset(
    {
        "rebalance-started", "rebalance-stabilized", "rebalance-assigned", "group-emptied", "group-epoch-bumped",
        "member-joined", "member-left", "member-expired", "member-dropped", "join-completed", "partitions-assigned",
        "partitions-revoked", "partitions-lost", "poll-timeout", "leave-sent", "commit-failed",
    }
)  # fmt: skip
"""Events in the life of a group; the word "group" in other lines may be about anything."""


@per_facts
def groups(facts: Facts) -> tuple[str, ...]:
    """Names of the groups, sorted; of rows that name a queue only those of partitions, which are plain numbers."""
    named = {e.group for e in facts.episodes if e.system == "kafka" and e.kind in _KINDS}
    named |= {c.group for c in facts.clients if c.system == "kafka"}
    named |= {a.group for a in facts.assignments if a.queue.isdigit()}
    named |= {p.group for p in facts.positions if p.queue.isdigit()}
    return tuple(sorted({name for name in named if name} - set(members.groups(facts))))


def chosen(facts: Facts, wanted: str | None) -> tuple[str, ...]:
    """The group that is *wanted*, or all where none is named.

    Raises:
        UnknownGroupError: the material does not tell of it.
    """
    known = groups(facts)
    if wanted is not None and wanted not in known:
        raise UnknownGroupError(wanted, known)
    return known if wanted is None else (wanted,)


@per_facts
def topics(facts: Facts) -> Mapping[tuple[str, str], Mapping[str, Points]]:
    """Positions of every (group, topic) by partition; snapshots with a committed offset and an end only."""
    known = set(groups(facts))
    return {key: queues for key, queues in of_groups(facts).items() if key[0] in known}
