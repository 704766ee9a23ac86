"""The audit from the producer to the log: what each partition was sent, acknowledged, stores, lost and has twice.

A retry is acknowledged once; an application that submits a message again has two rows of it as sent, acknowledged or
failed. Copies of which the log lost one later are left to the loss.
Without ids, a log that grew by more than was sent to it while requests were sent again holds copies, as an interval.
That takes one producer that alone writes one topic, not idempotent, that notes each record, and offsets of every
partition before its first record and after its last. Transactions and other producers add records of their own, and
where a record failed the application may have sent it again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from mqlab.delivery import durability
from mqlab.delivery.leaders import last_end, last_start
from mqlab.delivery.loss_mechanisms import cases
from mqlab.delivery.path import by_number
from mqlab.delivery.refused_writes import kept, producer_losses
from mqlab.delivery.rows import Doubled, LogRow, Loss, Side
from mqlab.facts import Episode, Facts, Position, span
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.rows import Fate
from mqlab.shared import actors
from mqlab.shared.failures import noted
from mqlab.traffic import resending
from mqlab.words import room

ways = room("delivery-ways")

INCIDENT = "producer-duplicates"
LOST_ANSWER = frozenset({"NETWORK_EXCEPTION", "REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"})
"""Errors after which the broker may have stored the batch already."""


@per_facts
def log_rows(facts: Facts, topic: str) -> tuple[LogRow, ...]:
    """One row a partition of *topic*, by number; one more for messages of which nothing tells the partition."""
    own = [f for f in facts.fates if f.topic == topic]
    queues = {f.queue for f in own} | {loss.queue for loss in log_losses(facts, topic)}
    queues |= {p.queue for p in facts.parts if p.topic == topic and p.queue and p.role != "committed"}
    return tuple(
        _row(facts, topic, queue, [f for f in own if f.queue == queue]) for queue in sorted(queues, key=by_number)
    )


@per_facts
def log_losses(facts: Facts, topic: str) -> tuple[Loss, ...]:
    """What the log of *topic* lost, and what never entered it (side PRODUCER: told as failed, no loss of the log)."""
    return (*(case.loss for case in cases(facts, topic)), *producer_losses(facts, topic))


@per_facts
def log_doubled(facts: Facts, topic: str) -> tuple[Doubled, ...]:
    """Messages that the log of *topic* has more than once."""
    return tuple(double.doubled for double in doubles(facts, topic))


def _row(facts: Facts, topic: str, queue: str, fates: Sequence[Fate]) -> LogRow:
    roles = {p.role for p in facts.parts if p.topic == topic}
    given_up = noted(fates)
    failures_told = "failed" in roles or bool(given_up)
    answers_told, each_answered = _answers_told(facts, topic, roles)

    def messages(rows: Iterable[Fate]) -> int:
        return sum(f.messages for f in rows)

    return LogRow(
        topic,
        queue,
        # Who was answered had sent it, whether or not that line was written before the material ended.
        sent=messages(f for f in fates if f.sent or f.acked or f.failed) if "sent" in roles else None,
        acked=messages(f for f in fates if f.acked) if answers_told else None,
        failed=messages(given_up) if failures_told else None,
        failed_stored=kept(given_up) if failures_told else None,
        unanswered=messages(f for f in fates if f.sent and not (f.acked or f.failed)) if each_answered else None,
        stored=messages(f for f in fates if f.acked or f.stored or f.handled) if queue and fates else None,
        lost=sum(case.piece.records for case in cases(facts, topic) if case.piece.queue == queue),
        doubled=sum(row.extra for row in log_doubled(facts, topic) if row.queue == queue),
        start=last_start(facts, (topic, queue)) if queue else None,
        end=last_end(facts, (topic, queue)) if queue else None,
    )


def _answers_told(facts: Facts, topic: str, roles: Collection[str]) -> tuple[bool, bool]:
    """Whether ledgers note acknowledgements of *topic*, and whether for all that they note as sent.

    A ledger of what was sent may hold the answer in its own rows: ``SEND_OK`` of RocketMQ.
    """
    if "acked" in roles:
        return True, "sent" in roles
    answered = {f.first.source for f in facts.fates if f.topic == topic and f.sent and f.acked}
    sent = {p.source for p in facts.parts if p.topic == topic and p.role == "sent"}
    return bool(answered), bool(answered) and sent <= answered


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
    copies: dict[tuple[str, bool], list[Fate]] = defaultdict(list)
    for fate in facts.fates:
        if fate.topic == topic and fate.offsets > 1 and not fate.overwritten and fate.keyed:
            again = fate.sent > 1 or fate.acked > 1 or fate.failed > 1 or bool(fate.failed and fate.acked)
            copies[fate.queue, again].append(fate)
    return tuple(_double(facts, topic, queue, again, copies[queue, again]) for queue, again in sorted(copies))


def _double(facts: Facts, topic: str, queue: str, again: bool, rows: Sequence[Fate]) -> Double:
    retries = tuple(lost_answers(facts, topic, queue))
    idempotent = _idempotent(facts, topic, rows[0].first_at)
    extra = sum(f.messages * (f.offsets - 1) for f in rows)
    incident = INCIDENT if not again and retries and idempotent is not True else None
    doubled = Doubled(
        incident, Side.LOG, topic, queue, None, sum(f.messages for f in rows), extra, extra, extra,
        span(f.first_at for f in rows)[0], span(f.last_at for f in rows)[1],
        ways("ids-again" if again else "ids-doubled"), (rows[0].first, rows[-1].last),
    )  # fmt: skip
    dumps = [p for p in facts.parts if p.role == "stored" and (p.topic, p.queue) == (topic, queue)]
    lines = (line for p in dumps for line in (p.first, p.last))
    unnumbered = (line for line in lines if "producerId: -1" in line.text or "sequence: -1" in line.text)
    return Double(doubled, again, retries, idempotent, next(unnumbered, None))


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
    return tuple(growth for topic in durability.topics(facts) if (growth := _growth(facts, topic)) is not None)


def _growth(facts: Facts, topic: str) -> Growth | None:
    clients = durability.producers(facts, topic)
    retries = [e for e in lost_answers(facts, topic, None) if e.topic == topic]
    if len(clients) != 1 or clients[0] is None or not retries:
        return None
    if resending.idempotent(facts, clients[0], retries[0].first_at) is not False:
        return None
    ledgers = [p for p in facts.parts if p.role == "sent" and p.topic == topic]
    own = [f for f in facts.fates if f.topic == topic and f.sent]
    unusable = any(f.failed or f.sent > 1 or f.acked > 1 or f.overwritten for f in own)
    if not own or len({p.source for p in ledgers}) != 1 or unusable:
        return None
    sent, answered = sum(f.messages for f in own), sum(f.messages for f in own if f.acked)
    ends = _ends_after(facts, topic, own[-1].last_at)
    if not ends or durability.compacted(facts, topic):
        return None
    grown = sum(end.end or 0 for end in ends)
    places = [Evidence(end.source, end.line, end.text, ways("end-after")) for end in ends[:3]]
    evidence = (retries[0].first, retries[-1].last, ledgers[0].first, *places)
    since, until = span(at for e in retries for at in (e.first_at, e.last_at))
    return Growth(topic, grown, sent, grown - sent, grown - answered, since, until, evidence)


def _ends_after(facts: Facts, topic: str, until: float | None) -> list[Position]:
    """The end of each partition after *until*, where all logs began at 0 within the material; else nothing."""
    own = [p for p in facts.positions if p.topic == topic and p.end is not None and p.at is not None]
    own.sort(key=lambda p: (p.at or 0.0, p.end or 0))
    first, last = {p.queue: p for p in reversed(own)}, {p.queue: p for p in own}
    written = {p.queue for p in facts.parts if p.topic == topic and p.role == "acked" and p.queue}
    later = until is not None and all((p.at or 0.0) > until for p in last.values())
    if any(p.end for p in first.values()) or not written or not written <= last.keys() or not later:
        return []
    return [last[queue] for queue in sorted(last)]
