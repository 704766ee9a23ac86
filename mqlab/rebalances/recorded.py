"""Generations that only a dump of ``__consumer_offsets`` tells of: no coordinator and no client does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from mqlab.facts import Episode
from mqlab.rebalances.index import Lines
from mqlab.rebalances.lines import count_told, number
from mqlab.rebalances.rows import Trigger
from mqlab.rebalances.seen import SAME
from mqlab.rebalances.starts import Begun


def recorded(lines: Lines, told: Sequence[Begun]) -> list[Begun]:
    """Generations that only records of ``__consumer_offsets`` tell of; the coordinator writes one when all is settled.

    Source: GroupMetadataManager.storeGroup, which is called with the leader's assignment and for an empty group.
    """
    known: dict[int | None, list[float]] = defaultdict(list)
    for one in told:
        known[one.generation].append(one.started)
    found = []
    for line in lines.coordinator:
        generation, at = number(line), line.first_at or 0.0
        fresh = all(abs(began - at) > SAME for began in known.get(generation, ()))
        if line.kind == "group-metadata" and generation and fresh:
            known[generation].append(at)
            found.append(_recorded(line, generation, at))
    return found


def _recorded(line: Episode, generation: int, at: float) -> Begun:
    members = count_told(line)
    return Begun(
        started=at,
        stabilised=at if members else None,
        generation=generation,
        trigger=Trigger.UNKNOWN,
        reason="",
        client_id=None,
        member_id=None,
        host=None,
        members=members,
        lines=(line,),
        inferred=True,
        because="a record of the group's state tells of the generation, nobody of its begin",
    )
