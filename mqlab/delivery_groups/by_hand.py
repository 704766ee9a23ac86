"""Positions of a Kafka group that somebody moved: by kafka-consumer-groups --reset-offsets, or by a seek.

The tool works only on a group without members, and nobody else commits for one then.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from mqlab.delivery_groups.offsets import Mark, Offsets, after, before, offsets
from mqlab.delivery_groups.ranges import Skip, Why
from mqlab.delivery_groups.vacant import vacant
from mqlab.facts import Episode, Facts
from mqlab.groups.presence import commits_alone
from mqlab.groups.queues import of_groups
from mqlab.memo import per_facts
from mqlab.rebalances.index import lines


def by_hand(facts: Facts, known: Offsets) -> Iterator[Skip]:
    """Ranges that such a move passed over; one that goes back is none."""
    for one, later in moves(facts, known):
        if later.offset > one.offset:
            yield Skip(Why.HAND, one.offset, later.offset, later.at, (one.place, later.place))
    yield from _by_tool(facts, known)
    failed = {int(e.value_max) for e in facts.of_kind("record-failed") if _same(e, known) and e.value_max is not None}
    for line in known.lines:
        stood = before(known.committed, line.first_at or 0.0)
        if line.kind != "offset-sought" or line.value_max is None or stood is None:
            continue
        if int(line.value_max) > stood.offset and int(line.value_max) not in failed:
            yield Skip(Why.HAND, stood.offset, int(line.value_max), line.first_at or 0.0, (line.first,))


def _by_tool(facts: Facts, known: Offsets) -> Iterator[Skip]:
    """Where no log tells that nobody was there: the tool printed an offset, and the group stood there next.

    A dry run prints the same, and leaves the group where it is.
    """
    told = {later.at for _, later in moves(facts, known)}
    for line in facts.of_kind("offsets-set"):
        if (line.group, line.topic, line.queue) != (known.group, known.topic, known.queue):
            continue
        at = line.first_at or 0.0
        one, later = before(known.committed, at), after(known.committed, at)
        if one is None or later is None or later.at in told:
            continue
        if one.offset < later.offset == line.value_max:
            yield Skip(Why.HAND, one.offset, later.offset, at, (one.place, line.first))


def moved(facts: Facts, place: tuple[str, str, str]) -> Iterator[str]:
    """In words, what somebody moved in *place*: a group, a topic and a partition."""
    group, topic, queue = place
    known = offsets(facts, *place)
    for one, later in moves(facts, known):
        span = f"from {one.offset} to {later.offset}"
        yield f"{group} had no members when its offset of {topic}-{queue} went {span}: it was set by hand"
    for skip in by_hand(facts, known):
        if len(skip.places) == 1:
            yield f"a member of {group} sought from {skip.low} to {skip.high} in {topic}-{queue}"


def moves(facts: Facts, known: Offsets) -> Iterator[tuple[Mark, Mark]]:
    """Committed offsets before and after somebody moved them, forward or back.

    The next member that begins to read shows where they are as well as a snapshot does. Where neither the coordinator's
    log nor one of a client is there, members may have come and gone between two snapshots.
    """
    told = lines(facts, known.group)
    if not (told.coordinator or told.clients) or _alone(facts, known.group, known.topic):
        return
    spans = vacant(facts, known.group)
    begun = {(e.source, e.first.line) for e in known.lines if e.kind == "offset-set"}
    for one, later in pairwise(known.committed):
        if one.offset == later.offset:
            continue
        inside = [span for span in spans if span[0] <= one.at < span[1]]
        first = (later.place.source, later.place.line) in begun
        if any(later.at < until or first for _, until in inside):
            yield one, later


def _same(line: Episode, known: Offsets) -> bool:
    """It is about a record of this partition, which an application seeks again to try it once more."""
    return (line.topic, line.queue) == (known.topic, known.queue)


@per_facts
def _alone(facts: Facts, group: str, topic: str) -> bool:
    return commits_alone(facts, group, of_groups(facts).get((group, topic), {}))
