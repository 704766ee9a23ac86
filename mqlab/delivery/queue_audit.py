"""What became of the messages of a topic in each RocketMQ group that reads it: handled, waiting, doubled.

A push consumer that fails moves a message to the group's retry topic and the position goes past it, a member whose
subscription does not match skips it, and one that knew no offset began behind it. So what lies before the position and
is in no ledger is neither lost nor handled: it is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mqlab.delivery.missing import behind, fates, in_log
from mqlab.delivery.rows import Doubled, GroupRow, doubled
from mqlab.facts import Facts
from mqlab.findings import Certainty
from mqlab.memo import per_facts
from mqlab.rocketmq import members, shared_client_ids
from mqlab.rocketmq.slots import SETTLING, topics_of
from mqlab.rows import times, too_often
from mqlab.shared.copies import ledgers_of, party
from mqlab.shared.queues import TOGETHER
from mqlab.words import room

ways = room("delivery-ways")

_SHARED = "duplicate-client-id"
"""The class of several processes with one client id."""


@per_facts
def queue_rows(facts: Facts, topic: str) -> tuple[GroupRow, ...]:
    """A row for each group that reads *topic* and queue, by name; a queue is one that ledgers or dumps tell of."""
    queues = sorted({f.queue for f in facts.fates if f.topic == topic and "/" in f.queue})
    return tuple(_row(facts, group, topic, queue) for group in _readers(facts, topic) for queue in queues)


@per_facts
def queue_doubled(facts: Facts, topic: str) -> tuple[Doubled, ...]:
    """Messages of *topic* that groups handled more than once; what did it is told by no ledger, but by proven hands."""
    return tuple(_doubled(facts, topic))


@per_facts
def unowned(facts: Facts, topic: str) -> tuple[str, ...]:
    """Ledgers of consumers of *topic* in RocketMQ of which nothing tells in which of the groups with a position.

    A broadcasting member keeps its position itself: what it did not get is in no row.
    """
    noted = {source for f in facts.fates if f.topic == topic and "/" in f.queue for source in f.handled}
    known = {source for group in _readers(facts, topic) for source in ledgers_of(facts, group, topic)}
    return tuple(sorted(noted - known))


def broadcast_group(facts: Facts, ledger: str) -> str | None:
    """The broadcast group of which a member's log beside *ledger*, in a folder of the same name, tells."""
    started = facts.of_kind("consumer-starting")
    own = (e.group for e in started if e.group and party(e.source) == party(ledger))
    return next((group for group in own if members.broadcast(facts, group)), None)


def _filters(facts: Facts, group: str, topic: str) -> tuple[str, ...]:
    """The expressions with which all members of *group* that tell it read a part of *topic* only, sorted."""
    told = {topics_of(c.subscription).get(topic) for c in facts.clients if c.group == group and c.subscription}
    return tuple(sorted(one for one in told if one)) if told and not told & {"*", "", None} else ()


def _readers(facts: Facts, topic: str) -> list[str]:
    told = {p.group for p in facts.positions if p.topic == topic and p.group and p.committed is not None}
    return sorted(group for group in told & set(members.groups(facts)) if not members.broadcast(facts, group))


def _row(facts: Facts, group: str, topic: str, queue: str) -> GroupRow:
    own, rows = frozenset(ledgers_of(facts, group, topic)), fates(facts, topic, queue)
    left = [f for f in rows if in_log(f) and not times(f, own)]
    seen = [p for p in facts.positions if (p.group, p.topic, p.queue) == (group, topic, queue) and p.at is not None]
    last = max((p for p in seen if p.committed is not None), key=lambda p: p.at or 0, default=None)
    committed = last.committed if last else None
    waiting = None if committed is None else sum(behind(f, committed) for f in left)
    return GroupRow(
        group, topic, queue,
        handled=sum(f.messages for f in rows if times(f, own)) if own else None,
        times=sum(f.messages * times(f, own) for f in rows) if own else None,
        committed=committed,
        pending=waiting,
        lost=0,
        doubled=sum(f.messages * too_often(f, own) for f in rows),
        unknown=sum(f.messages for f in left) - (waiting or 0),
        filters=_filters(facts, group, topic),
    )  # fmt: skip


def _doubled(facts: Facts, topic: str) -> Iterator[Doubled]:
    for row in queue_rows(facts, topic):
        own = frozenset(ledgers_of(facts, row.group, topic))
        incident = _SHARED if row.queue in _in_several_hands(facts, row.group, topic) else None
        again = [fate for fate in fates(facts, topic, row.queue) if too_often(fate, own)]
        counts = sum(fate.messages for fate in again), sum(fate.messages * too_often(fate, own) for fate in again)
        for one in doubled((row.group, topic, row.queue), counts, incident, again):
            yield replace(one, at_changes=0 if incident else min(one.extra, _at_changes(facts, row, own)))


def _at_changes(facts: Facts, row: GroupRow, own: frozenset[str]) -> int:
    """Copies in one queue that came until the members had settled after a change; those without a moment are none."""
    views = [view for view in members.streams(facts, row.group) if view.lasting]
    moments = [after.at for view in views for _, after in view.changes()]
    extra = 0
    for delivery in facts.deliveries:
        if (delivery.topic, delivery.queue) == (row.topic, row.queue) and delivery.times:
            handled = sorted(at for source, at in zip(delivery.sources, delivery.times, strict=True) if source in own)
            near = [at for at in handled[1:] if any(moment - TOGETHER <= at <= moment + SETTLING for moment in moments)]
            extra += len(near) * delivery.messages
    return extra


@per_facts
def _in_several_hands(facts: Facts, group: str, topic: str) -> frozenset[str]:
    """Queues that several processes of one client id read at once, for certain."""
    proven = (case for case in shared_client_ids.cases(facts, group) if case.certainty is Certainty.PROVEN)
    return frozenset(queue for case in proven if topic in case.doubles for queue in case.doubles[topic].queues)
