"""Writes that never entered the log: refused for want of replicas in sync or for their size, or given up by a producer.

A failure that the producer was told of is no loss of an acknowledged record. Some of these records were stored before
the answer was lost or the in-sync set fell: failed is not absent.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mqlab.delivery import durability
from mqlab.delivery.leaders import in_sync
from mqlab.delivery.rows import Loss, Side
from mqlab.facts import Episode, Facts, Series, span
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.rows import Fate
from mqlab.shared import actors, counters, failures
from mqlab.shared.failures import GIVEN_UP, noted
from mqlab.shared.wording import sample
from mqlab.words import room

ways = room("delivery-ways")

UNDER_MIN_ISR = "under-min-isr"
OVERSIZE = "oversize-record-rejected"
_TOO_FEW = "NOT_ENOUGH_REPLICAS"
_REPLICA = re.compile(r"\d+")
"""How the errors begin with which a partition below min.insync.replicas answers."""


def kept(fates: Sequence[Fate]) -> int:
    """Messages among *fates* that the log holds or that a consumer read."""
    return sum(f.messages for f in fates if f.stored or f.handled)


def producer_losses(facts: Facts, topic: str) -> tuple[Loss, ...]:
    """Failed messages of *topic* that no dump and no consumer has, by partition; else what the client's log counts."""
    own = [f for f in noted(facts.fates) if f.topic == topic and not (f.stored or f.handled)]
    if own:
        return tuple(_of_ids(facts, topic, queue, [f for f in own if f.queue == queue])
                     for queue in sorted({f.queue for f in own}))  # fmt: skip
    if any(p.role == "failed" and p.topic == topic for p in facts.parts):
        return ()
    lines: dict[str, list[Episode]] = defaultdict(list)
    for line in facts.of_kind("record-expired"):
        if line.topic == topic:
            lines[line.queue or ""].append(line)
    return tuple(_of_lines(facts, topic, queue, rows) for queue, rows in sorted(lines.items()))


def refused_as_too_large(facts: Facts, topic: str) -> int:
    """Records of *topic* of which lines of clients say so; a line without a topic is of the only one that was sent."""
    only = {p.topic for p in facts.parts if p.role == "sent"} == {topic}
    return sum(e.count for e in failures.oversize(facts) if e.topic == topic or (only and e.topic is None))


def never_stored(facts: Facts, incident: str, topic: str | None) -> int:
    """Records of *topic* (of any where it is None) that *incident* refused and that are known to be nowhere."""
    topics = sorted({f.topic for f in noted(facts.fates) if f.topic and topic in (None, f.topic)})
    return sum(loss.least for name in topics for loss in producer_losses(facts, name) if loss.incident == incident)


def _of_ids(facts: Facts, topic: str, queue: str, fates: Sequence[Fate]) -> Loss:
    records = sum(f.messages for f in fates)
    since, until = span(t for f in fates for t in (f.first_at, f.last_at))
    return Loss(
        _why(facts, topic, queue), Side.PRODUCER, topic, queue, None, records,
        records if until is not None and _seen_whole(facts, topic, until) else 0, records,
        None, None, since, until, ways("failed-ids"),
        (fates[0].first, fates[-1].last),
    )  # fmt: skip


def _seen_whole(facts: Facts, topic: str, until: float) -> bool:
    """Every partition was dumped from its begin, or read up to its last acknowledged message, after all of it."""
    parts = [p for p in facts.parts if p.topic == topic and p.queue]
    ends = {p.queue: p.last_offset or 0 for p in parts if p.role == "acked"}
    whole = {p.queue for p in parts if p.role == "stored" and not p.first_offset and (p.taken_at or 0.0) > until}
    whole |= {
        p.queue for p in parts
        if p.role in ("received", "consumed", "processed") and (p.last_at or 0.0) > until
        and p.queue in ends and (p.last_offset or 0) >= ends[p.queue]
    }  # fmt: skip
    return bool(ends) and whole >= ends.keys()


def _of_lines(facts: Facts, topic: str, queue: str, rows: Sequence[Episode]) -> Loss:
    likely, most = failures.expired(rows)
    return Loss(
        _why(facts, topic, queue), Side.PRODUCER, topic, queue, None, likely, 0, most, None, None,
        *span(t for e in rows for t in (e.first_at, e.last_at)),
        ways("expired"), (rows[0].first, rows[-1].last),
    )  # fmt: skip


def _why(facts: Facts, topic: str, queue: str) -> str | None:
    """The class that refused them, where one alone was at work."""
    few = any(e.topic in (topic, None) and (not queue or e.queue in (queue, None)) for e in refusals(facts))
    large = any(e.topic in (topic, None) for e in facts.of_kind("record-too-large"))
    if few == large:
        return None
    return UNDER_MIN_ISR if few else OVERSIZE


def refusals(facts: Facts) -> list[Episode]:
    """Lines of brokers and clients about writes that were refused for want of replicas in sync, by time."""
    lines = [e for e in facts.of_kind("produce-retry", "send-failed") if (e.reason or "").startswith(_TOO_FEW)]
    lines += facts.of_kind("not-enough-replicas")
    return sorted(lines, key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0))


@dataclass(frozen=True, slots=True)
class Refusal:
    """Writes to one topic that were refused for want of replicas in sync."""

    topic: str
    """Empty where no line names it."""
    queues: tuple[str, ...]
    requests: int
    """Refused requests, by the lines of brokers or of producers, whichever tell of more."""
    failed: failures.Failed
    """Records that were reported as failed and never acknowledged."""
    stored: int | None
    """Of those, the ones in the log; None where no ids tell."""
    dropped: int
    """Of those, the ones that are not in the log, at least."""
    blocked: int
    """Times that an application could hand over nothing more meanwhile, its producer's buffer being full."""
    taken: bool
    """Ledgers or counters of all its producers show that none was given up later."""
    short: tuple[int, ...]
    """How many replicas were in sync meanwhile, each number once; none where nothing tells it."""
    required: int | None
    since: float | None
    until: float | None
    evidence: tuple[Evidence, ...]


@per_facts
def refusals_by_topic(facts: Facts) -> tuple[Refusal, ...]:
    """One for each topic that lines name, by name."""
    lines = refusals(facts)
    named = sorted({e.topic for e in lines if e.topic})
    return tuple(_refusal(facts, topic, lines) for topic in (named or [""] if lines else []))


def _refusal(facts: Facts, topic: str, lines: Sequence[Episode]) -> Refusal:
    own = [e for e in lines if e.topic in (topic, None) or not topic]
    since, until = span(t for e in own for t in (e.first_at, e.last_at))
    by_ids = [f for f in noted(facts.fates) if f.topic == topic]
    late = [e for e in facts.of_kind("record-expired") if e.topic in (topic, None) and _within(e, since)]
    full = [e for e in facts.of_kind("buffer-exhausted") if _within(e, since)]
    queues = tuple(sorted({e.queue for e in own if e.queue}, key=lambda q: (len(q), q)))
    sets = list(_short(facts, topic, queues, own))
    return Refusal(
        topic,
        queues,
        requests=max(sum(e.count for e in own if by_broker(e)), sum(e.count for e in own if not by_broker(e))),
        failed=failures.failed(facts, None, {topic} - {""}, since, until and until + GIVEN_UP) or failures.NONE,
        stored=kept(by_ids) if by_ids else None,
        dropped=never_stored(facts, UNDER_MIN_ISR, topic),
        blocked=sum(e.count for e in full),
        taken=_taken(facts, topic, own, until),
        short=tuple(dict.fromkeys(size for size, _ in sets)),
        required=_required(facts, topic, own),
        since=since,
        until=until,
        evidence=_evidence(facts, own, [*late, *full], [place for _, place in sets]),
    )


def _taken(facts: Facts, topic: str, lines: Sequence[Episode], until: float | None) -> bool:
    """Counters of every refused client stand still until it must have given up, or a ledger has an answer for each."""
    clients = {e.client_id for e in lines if not by_broker(e)}
    if until is None or not clients or None in clients:
        return False
    names = ("producer.topic_record_errors", "producer.record_errors")
    counted = [[s for name in names for s in counters.of_client(facts, name, client or "")] for client in clients]
    own = [[s for s in series if s.labels.get("topic") in (topic, None)] for series in counted]
    if all(any(s.points and s.points[-1][0] >= until + GIVEN_UP for s in series) for series in own):
        return not any(
            told.records
            for client in clients
            if (told := failures.failed(facts, client, {topic}, lines[0].first_at, until + GIVEN_UP))
        )
    sent = [p for p in facts.parts if p.role == "sent" and p.topic == topic and (p.last_at or 0.0) >= until]
    answered = [f.acked and not f.failed for f in facts.fates if f.topic == topic and f.sent]
    alone = all(actors.sole_producer(facts, client or "", topic) for client in clients)
    return bool(sent and answered) and alone and all(answered)


def by_broker(episode: Episode) -> bool:
    """A broker says it, not a client."""
    return episode.kind == "not-enough-replicas"


def _within(episode: Episode, since: float | None) -> bool:
    return since is None or episode.first_at is None or episode.first_at >= since


def _required(facts: Facts, topic: str, lines: Sequence[Episode]) -> int | None:
    required = [e.value_max for e in lines if by_broker(e) and e.value_max]
    return round(required[0]) if required else durability.min_in_sync(facts, topic)


def _short(facts: Facts, topic: str, queues: Sequence[str], lines: Sequence[Episode]) -> Iterator[tuple[int, Evidence]]:
    """How many replicas were in sync during the refusals, fewer than required, by the brokers' own words first."""
    for episode in lines:
        if by_broker(episode) and episode.reason:
            yield len(_REPLICA.findall(episode.reason)), episode.first
    required = _required(facts, topic, lines)
    since, until = span(t for e in lines for t in (e.first_at, e.last_at))
    for queue in queues:
        rows = [r for r in in_sync(facts).get((topic, queue), ()) if r.at is not None and r.at <= (until or 0.0)]
        before = [r for r in rows if since is not None and (r.at or 0.0) < since]
        for row in rows[max(0, len(before) - 1) :]:
            if required is not None and len(row.isr) < required:
                yield len(row.isr), row.evidence


@per_facts
def below(facts: Facts) -> tuple[Series, ...]:
    """Metrics of partitions below their minimum that were above zero."""
    return tuple(s for s in facts.named("broker.under_min_isr_partitions") if any(value > 0 for _, value in s.points))


def producers_seen(facts: Facts) -> bool:
    """A producer's log or its counters of errors and retries would show refusals."""
    return actors.producers_told(facts) or bool(facts.named("producer.record_retries", "producer.record_errors"))


def _evidence(
    facts: Facts, own: Sequence[Episode], late: Sequence[Episode], sets: Sequence[Evidence]
) -> tuple[Evidence, ...]:
    brokers = [e.first for e in own if by_broker(e)][:1]
    clients = [e for e in own if not by_broker(e)]
    lines = [*brokers, *(e.first for e in clients[:1]), *(e.last for e in clients[-1:])]
    lines += [replace(e, why=ways("in-sync")) for e in sets[:3]]
    lines += [e.first for e in late[:1]]
    metrics = [s for s in below(facts) if s.points]
    lines += [sample(facts, s, max(s.points, key=lambda point: point[1])[0], ways("below")) for s in metrics[:1]]
    return tuple(dict.fromkeys(lines))
