"""Logs that grew by more than was sent to them, while requests were sent again: copies without ids, as an interval.

It takes one producer that alone writes one topic, not idempotent, that notes each record or counts it, and offsets of
every partition before its first record and after its last. Transactions and other producers add records of their own,
and where a record failed the application may have sent it again.
"""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.amplification import resending
from mqlab.delivery_log import durability
from mqlab.delivery_log.cases import topics
from mqlab.delivery_log.doubles import lost_answers
from mqlab.facts import Facts, Position
from mqlab.findings import Evidence
from mqlab.memo import per_facts


@dataclass(frozen=True, slots=True)
class Growth:
    """How far one topic's log grew, against what its producer sent."""

    topic: str
    grown: int
    sent: int
    """Messages that its ledger notes as sent, each once."""
    least: int
    most: int
    since: float | None
    until: float | None
    evidence: tuple[Evidence, ...]


@per_facts
def growths(facts: Facts) -> tuple[Growth, ...]:
    """One for each topic of which all that is known, and whose producer repeated itself; by name."""
    found = [_of_topic(facts, topic) for topic in topics(facts)]
    return tuple(one for one in found if one is not None)


def _of_topic(facts: Facts, topic: str) -> Growth | None:
    clients = durability.producers(facts, topic)
    retries = [e for e in lost_answers(facts, topic, None) if e.topic == topic]
    if len(clients) != 1 or clients[0] is None or not retries:
        return None
    if resending.idempotent(facts, clients[0], retries[0].first_at) is not False:
        return None
    ledgers = [p for p in facts.parts if p.role == "sent" and p.topic == topic]
    own = [f for f in facts.fates if f.topic == topic and f.sent]
    if not own or len({p.source for p in ledgers}) != 1 or any(f.failed or f.sent > 1 or f.acked > 1 for f in own):
        return None
    sent, answered = sum(f.messages for f in own), sum(f.messages for f in own if f.acked)
    ends = _ends(facts, topic)
    if not ends or any(f.overwritten for f in own) or not _covered(facts, topic, ends, own[-1].last_at):
        return None
    grown = sum(end.end or 0 for end in ends)
    evidence = (retries[0].first, retries[-1].last, ledgers[0].first, *(_place(p) for p in ends[:3]))
    times = (min(e.first_at or 0.0 for e in retries), max(e.last_at or 0.0 for e in retries))
    return Growth(topic, grown, sent, grown - sent, grown - answered, *times, evidence)


def _ends(facts: Facts, topic: str) -> list[Position]:
    """The last end of each partition, of topics whose logs began at 0 within the material."""
    own = [p for p in facts.positions if p.topic == topic and p.end is not None and p.at is not None]
    first: dict[str, Position] = {}
    last: dict[str, Position] = {}
    for one in sorted(own, key=lambda p: (p.at or 0.0, p.end or 0)):
        first.setdefault(one.queue, one)
        last[one.queue] = one
    if any(p.end for p in first.values()):
        return []
    return [last[queue] for queue in sorted(last)]


def _covered(facts: Facts, topic: str, ends: list[Position], until: float | None) -> bool:
    """Every partition that was written to has its end after the last message, and nothing compacts the topic."""
    written = {p.queue for p in facts.parts if p.topic == topic and p.role == "acked" and p.queue}
    later = all(until is not None and (p.at or 0.0) > until for p in ends)
    return bool(written) and written <= {p.queue for p in ends} and later and not durability.compacted(facts, topic)


def _place(one: Position) -> Evidence:
    return Evidence(one.source, one.line, one.text, "the end of the log afterwards")
