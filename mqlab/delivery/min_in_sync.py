"""Partitions with fewer replicas in sync than ``min.insync.replicas``, and the writes that were refused for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mqlab.delivery import durability, log_audit
from mqlab.delivery.leaders import in_sync
from mqlab.delivery.log_audit import UNDER_MIN_ISR, expired, failed, kept, refusals
from mqlab.delivery.loss_mechanisms import cases
from mqlab.facts import Episode, Facts, Series, span
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.shared import actors
from mqlab.shared.wording import sample

_METRIC = "broker.under_min_isr_partitions"
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Refusal:
    """Writes to one topic that were refused for want of replicas in sync."""

    topic: str
    """Empty where no line names it."""
    queues: tuple[str, ...]
    requests: int
    """Refused requests, by the lines of brokers or of producers, whichever tell of more."""
    failed: int
    """Records that were reported as failed and never acknowledged."""
    stored: int | None
    """Of those, the ones in the log; None where no ids tell."""
    dropped: int
    """Of those, the ones that are not in the log, at least."""
    blocked: int
    """Times that an application could hand over nothing more meanwhile, its producer's buffer being full."""
    counted: bool
    """Ledgers cover what was acknowledged, and the log lost nothing of it."""
    short: str | None
    """Replicas in sync meanwhile; None where nothing tells them."""
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
    by_ids = [f for f in failed(facts.fates) if f.topic == topic]
    late = [e for e in facts.of_kind("record-expired") if e.topic in (topic, None) and _within(e, since)]
    full = [e for e in facts.of_kind("buffer-exhausted") if _within(e, since)]
    queues = tuple(sorted({e.queue for e in own if e.queue}, key=lambda q: (len(q), q)))
    said = list(_short(facts, topic, queues, own))
    return Refusal(
        topic,
        queues,
        requests=max(sum(e.count for e in own if by_broker(e)), sum(e.count for e in own if not by_broker(e))),
        failed=sum(f.messages for f in by_ids) or expired(late)[0],
        stored=kept(by_ids) if by_ids else None,
        dropped=sum(loss.least for loss in log_audit.log_losses(facts, topic) if loss.incident == UNDER_MIN_ISR),
        blocked=sum(e.count for e in full),
        counted=any(p.role == "acked" and p.topic == topic for p in facts.parts) and not cases(facts, topic),
        short=said[0][0] if said else None,
        required=_required(facts, topic, own),
        since=since,
        until=until,
        evidence=_evidence(facts, own, [*late, *full], [place for _, place in said]),
    )


def by_broker(episode: Episode) -> bool:
    """A broker says it, not a client."""
    return episode.kind == "not-enough-replicas"


def _within(episode: Episode, since: float | None) -> bool:
    return since is None or episode.first_at is None or episode.first_at >= since


def _required(facts: Facts, topic: str, lines: Sequence[Episode]) -> int | None:
    told = [e.value_max for e in lines if by_broker(e) and e.value_max]
    return round(told[0]) if told else durability.min_in_sync(facts, topic)


def _short(facts: Facts, topic: str, queues: Sequence[str], lines: Sequence[Episode]) -> Iterator[tuple[str, Evidence]]:
    """Sets of replicas in sync during the refusals that are smaller than required, the brokers' own words first."""
    for episode in lines:
        if by_broker(episode) and episode.reason:
            yield episode.reason, episode.first
    required = _required(facts, topic, lines)
    since, until = span(t for e in lines for t in (e.first_at, e.last_at))
    for queue in queues:
        rows = [r for r in in_sync(facts).get((topic, queue), ()) if r.at is not None and r.at <= (until or 0.0)]
        before = [r for r in rows if since is not None and (r.at or 0.0) < since]
        for row in rows[max(0, len(before) - 1) :]:
            if required is not None and len(row.isr) < required:
                yield ",".join(row.isr), row.evidence


@per_facts
def below(facts: Facts) -> tuple[Series, ...]:
    """Metrics of partitions below their minimum that were above zero."""
    return tuple(s for s in facts.named(_METRIC) if any(value > 0 for _, value in s.points))


def producers_seen(facts: Facts) -> bool:
    """A producer's log or its counters of errors and retries would show refusals."""
    return actors.producers_told(facts) or bool(facts.named("producer.record_retries", "producer.record_errors"))


def _evidence(
    facts: Facts, own: Sequence[Episode], late: Sequence[Episode], sets: Sequence[Evidence]
) -> tuple[Evidence, ...]:
    brokers = [e.first for e in own if by_broker(e)][:1]
    clients = [e for e in own if not by_broker(e)]
    found = [*brokers, *(e.first for e in clients[:1]), *(e.last for e in clients[-1:])]
    found += [replace(e, why="replicas in sync") for e in sets[:_SHOWN]]
    found += [e.first for e in late[:1]]
    metrics = [s for s in below(facts) if s.points]
    found += [
        sample(facts, s, max(s.points, key=lambda point: point[1])[0], "partitions below min.insync.replicas")
        for s in metrics[:1]
    ]
    return tuple(dict.fromkeys(found))
