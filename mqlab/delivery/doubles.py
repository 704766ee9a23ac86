"""Messages that the log holds more than once, and records whose sending failed.

Messages that the log holds more than once, and whether a producer's retry or the application put them there.

A retry is acknowledged once; an application that submits a message again has two rows of it as sent, acknowledged or
failed. Copies of which the log lost one later are left to the loss.

Logs that grew by more than was sent to them, while requests were sent again: copies without ids, as an interval.

It takes one producer that alone writes one topic, not idempotent, that notes each record or counts it, and offsets of
every partition before its first record and after its last. Transactions and other producers add records of their own,
and where a record failed the application may have sent it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab.delivery import durability
from mqlab.delivery.loss_mechanisms import topics
from mqlab.delivery.rows import Doubled, Side
from mqlab.facts import Episode, Facts, Position
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.rows import Fate
from mqlab.shared import actors
from mqlab.traffic import resending

INCIDENT = "producer-duplicates"
LOST_ANSWER = frozenset({"NETWORK_EXCEPTION", "REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"})
"""Errors after which the broker may have stored the batch already."""
BY_IDS = "ids at more than one place of the log"


@dataclass(frozen=True, slots=True)
class Double:
    """Messages of one partition that were stored more than once."""

    doubled: Doubled
    again: bool
    """The application submitted them more than once."""
    retries: tuple[Episode, ...]
    """Lines of the producers about requests that were sent again before the last of them was acknowledged."""
    idempotent: bool | None
    """The broker would have dropped second copies; None where nothing says."""
    numbered: Evidence | None
    """A dump's line with producerId -1: batches were not numbered."""


@per_facts
def doubles(facts: Facts, topic: str) -> tuple[Double, ...]:
    """Messages of *topic* at more than one place, by partition; what the application did itself apart."""
    twice = [f for f in facts.fates if f.topic == topic and f.offsets > 1 and not f.overwritten and f.keyed]
    return tuple(_doubles(facts, topic, twice))


def _doubles(facts: Facts, topic: str, twice: Sequence[Fate]) -> Iterator[Double]:
    for queue in sorted({f.queue for f in twice}):
        own = [f for f in twice if f.queue == queue]
        for again in (False, True):
            rows = [f for f in own if submitted_again(f) is again]
            if rows:
                yield _double(facts, topic, queue, rows)


def submitted_again(fate: Fate) -> bool:
    """The application handed these messages to the producer more than once."""
    return fate.sent > 1 or fate.acked > 1 or fate.failed > 1 or bool(fate.failed and fate.acked)


def _double(facts: Facts, topic: str, queue: str, rows: Sequence[Fate]) -> Double:
    again = submitted_again(rows[0])
    retries = tuple(lost_answers(facts, topic, queue))
    idempotent = _idempotent(facts, topic, rows[0].first_at)
    extra = sum(f.messages * (f.offsets - 1) for f in rows)
    incident = INCIDENT if not again and retries and idempotent is not True else None
    doubled = Doubled(
        incident, Side.LOG, topic, queue, None, sum(f.messages for f in rows), extra, extra, extra,
        min((f.first_at for f in rows if f.first_at is not None), default=None),
        max((f.last_at for f in rows if f.last_at is not None), default=None),
        BY_IDS + (", submitted again by the application" if again else ""), (rows[0].first, rows[-1].last),
    )  # fmt: skip
    return Double(doubled, again, retries, idempotent, _unnumbered(facts, topic, queue))


def _idempotent(facts: Facts, topic: str, at: float | None) -> bool | None:
    """What all producers of *topic* are; None where they differ or nothing says."""
    found = {resending.idempotent(facts, client, at) for client in durability.producers(facts, topic) if client}
    return found.pop() if len(found) == 1 else None


def lost_answers(facts: Facts, topic: str, queue: str | None) -> list[Episode]:
    """Retries to this partition, or to all of the topic, after which the broker may have stored the batch already."""
    clients = set(durability.producers(facts, topic))
    return [
        e for e in facts.of_kind("produce-retry")
        if e.reason in LOST_ANSWER and e.topic in (topic, None) and (queue is None or e.queue in (queue, None))
        and (e.topic == topic or actors.client_of(facts, e) in clients)
    ]  # fmt: skip


def _unnumbered(facts: Facts, topic: str, queue: str) -> Evidence | None:
    """A dump's line that shows batches without a producer id."""
    dumps = [p for p in facts.parts if p.role == "stored" and (p.topic, p.queue) == (topic, queue)]
    lines = [line for p in dumps for line in (p.first, p.last)]
    return next((line for line in lines if "producerId: -1" in line.text or "sequence: -1" in line.text), None)


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
