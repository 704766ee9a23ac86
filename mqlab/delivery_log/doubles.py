"""Messages that the log holds more than once, and whether a producer's retry or the application put them there.

A retry is acknowledged once; an application that submits a message again has two rows of it as sent, acknowledged or
failed. Copies of which the log lost one later are left to the loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab.amplification import resending
from mqlab.delivery.rows import Doubled, Side
from mqlab.delivery_log import durability
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.questions import actors
from mqlab.rows.messages import Fate

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
