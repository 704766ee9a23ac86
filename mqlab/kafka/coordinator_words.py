"""What the coordinator of a Kafka group says about the end of one of its members, as places in its log."""

from __future__ import annotations

from collections.abc import Iterable

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.kafka.lives import lives
from mqlab.memo import per_facts
from mqlab.rebalances.rows import Life

NEAR = 10.0
"""Seconds that the client's word and the coordinator's may lie apart."""
_KINDS = ("member-expired", "member-dropped", "rebalance-started", "member-left")
"""Lines about the end of a member, the most telling first."""


@per_facts
def logs(facts: Facts) -> frozenset[str]:
    """Logs of brokers."""
    return frozenset(c.source for c in facts.coverage if c.format == "kafka-broker-log")


def said(facts: Facts, group: str, client_id: str, at: float) -> tuple[Evidence, ...]:
    """The line about the member of *client_id* that ended at about *at*; none where no coordinator's log tells."""
    ended = [o for o in lives(facts, group) if o.client_id == client_id and abs((o.until or 0.0) - at) <= NEAR]
    life = min(ended, key=lambda o: abs((o.until or 0.0) - at), default=None)
    return of_life(facts, life) if life is not None else ()


def of_life(facts: Facts, life: Life) -> tuple[Evidence, ...]:
    """The line with which the coordinator ended *life*."""
    brokers, at = logs(facts), life.until or 0.0
    found = [e for e in facts.near(at, NEAR, *_KINDS) if e.source in brokers and life.member_id in e.first.text]
    if not found:
        return ()
    place = min(found, key=lambda e: (_KINDS.index(e.kind), abs((e.first_at or 0.0) - at))).first
    return (Evidence(place.source, place.line, place.text, "the coordinator takes it out", place.pointer),)


def once(places: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """*places* in their order, each line once."""
    found: dict[tuple[str, int | None, str | None], Evidence] = {}
    for place in places:
        found.setdefault((place.source, place.line, place.pointer), place)
    return tuple(found.values())
