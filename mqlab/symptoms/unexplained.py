"""What is out of the ordinary and whether a finding explains it.

A symptom, and whether a finding explains what was seen at a moment.

Events and counters that mean trouble, and the classes that account for them.

Symptoms among counters: those that stand still in health, records sent again, bytes out over bytes in.

Symptoms among events: those that mean trouble, and brokers that died.

What is out of the ordinary and whether a finding explains it.

Symptoms are new ERROR and WARN shapes, events and counters that mean trouble, lag that grows, and a rise of bytes out
over bytes in. Lines that brokers and clients print in every start, restart or hand-over are no symptoms
(``ordinary``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from mqlab.delivery import group_losses, loss_mechanisms
from mqlab.delivery.group_audit import dead_letter_topic
from mqlab.facts import Episode, Facts
from mqlab.findings import Certainty, Finding, Severity
from mqlab.logs import explosion
from mqlab.mqtt import explained as mqtt_explained
from mqlab.mqtt import symptoms
from mqlab.rocketmq import shared_client_ids
from mqlab.rows import LineShape
from mqlab.shared import benign_lines, counters, flows, lag
from mqlab.shared.wording import clock
from mqlab.units import counted, number

NEAR = 120.0
"""Seconds around a finding in which it may explain a line."""


@dataclass(frozen=True, slots=True)
class Symptom:
    """Something that no finding explains."""

    at: float | None
    text: str


def explained(at: float | None, findings: Sequence[Finding], classes: Sequence[str] | None) -> bool:
    """True where a finding of one of these *classes* (None: of any) covers the moment *at*."""
    return any(covers(f, at) for f in findings if classes is None or f.incident in classes)


def covers(finding: Finding, at: float | None) -> bool:
    """True where *at* lies within the finding's time or near it; an unknown time is within every other."""
    if at is None or finding.started_at is None:
        return True
    if at < finding.started_at.timestamp() - NEAR:
        return False
    return finding.ongoing or finding.ended_at is None or at <= finding.ended_at.timestamp() + NEAR


_LEAVING = ("poll-interval-exceeded", "session-timeout", "group-churn", "static-member-fenced", "rolling-restart")
"""Classes in which members fall out of a group and come again."""
FAILING_OVER = ("acks1-failover-loss", "unclean-election-loss", "under-min-isr")
"""Classes in which brokers are away that replicas and producers need."""
TROUBLE: dict[str, tuple[str, ...]] = {
    "batch-split": ("batch-split-loop", "format-inflation"),
    "produce-retry": ("retry-amplification", "batch-split-loop", "format-inflation", "rolling-restart", *FAILING_OVER),
    "record-too-large": ("oversize-record-rejected", "retry-amplification", "batch-split-loop"),
    "record-expired": ("retry-amplification", "batch-split-loop", "under-min-isr"),
    "buffer-exhausted": ("retry-amplification", "batch-split-loop"),
    "producer-stuck": ("batch-split-loop",),
    "sender-error": ("batch-split-loop",),
    "send-failed": ("retry-amplification", "batch-split-loop", "oversize-record-rejected", "under-min-isr"),
    "request-timeout": ("retry-amplification", "rolling-restart"),
    "out-of-memory": ("batch-split-loop",),
    "process-exit": ("batch-split-loop", "group-churn", "session-timeout", "static-member-fenced"),
    "isr-shrunk": ("rolling-restart", "replica-catch-up", *FAILING_OVER),
    "member-expired": _LEAVING,
    "member-dropped": _LEAVING,
    "poll-timeout": ("poll-interval-exceeded",),
    "commit-failed": _LEAVING,
    "record-failed": ("poison-pill-stall", "group-churn"),
    "call-failed": ("poll-interval-exceeded", "poison-pill-stall", "slow-consumer", "group-churn"),
    "static-member-fenced": ("static-member-fenced",),
    "truncation-detected": ("unclean-election-loss",),
    "offset-reset": ("retention-loss", "offset-reset-loss"),
    "session-timeout": _LEAVING,
    "unclean-election": ("unclean-election-loss",),
    "replication-too-large": (),
    "broker-fenced": ("rolling-restart", *FAILING_OVER),
    "offset-moved": ("duplicate-client-id", "consumer-offline"),
    "consumer-disabled": ("slow-consumer", "duplicate-client-id"),
    "message-expired-back": ("slow-consumer",),
    "queue-stuck": ("slow-consumer", "duplicate-client-id"),
    "send-busy": (),
    "disk-full": (),
    **symptoms.TROUBLE,
}
"""Events that mean trouble, and the classes that account for them."""
SINGLE = {"produce-retry": 10, "request-timeout": 3, "call-failed": 3, **symptoms.SINGLE}
"""Events that any disturbance leaves, up to so many."""
NOTICED = frozenset({"produce-retry", "request-timeout", "isr-shrunk", "broker-fenced"}) | symptoms.NOTICED
"""Events that clients and followers print when a broker is restarted in good order."""
DISPROVED = {"batch-split": "batch-split-loop", "member-expired": "session-timeout"}
"""Events that are ordinary where the rule has looked at each of them and found it to be so."""
COUNTED: dict[str, tuple[str, ...]] = {
    "producer.batch_splits": TROUBLE["batch-split"],
    "producer.record_errors": (*TROUBLE["record-too-large"], "rolling-restart"),
    "broker.bytes_rejected": (*TROUBLE["record-too-large"], "format-inflation"),
    "broker.unclean_elections": ("unclean-election-loss",),
}
"""Counters that stand still in health, and the classes that account for them."""


SHARE = 0.02
"""Share of repeats among all transmissions from which they are no remark."""
OF_TRAFFIC = frozenset({"fan-out", "catch-up-read", "replica-catch-up", "replication-traffic"})
"""Benign classes that explain traffic and lag, but no line of trouble."""


def rises(facts: Facts, findings: Sequence[Finding], rejected: Collection[str]) -> Iterator[Symptom]:
    """Counters that stand still in health and rose at a time that no finding covers."""
    for name, classes in COUNTED.items():
        if name in ("producer.batch_splits", "broker.bytes_rejected") and "batch-split-loop" in rejected:
            continue
        totals = flows.all_topics(facts, name) if name.startswith("broker.") else list(facts.named(name))
        rose = [
            (a, v)
            for a, b, v in counters.summed(totals)
            if v > 0 and not any(covers(f, a) or covers(f, b) for f in findings if f.incident in classes)
        ]
        if rose:
            total, original = sum(v for _, v in rose), next(s.original for s in totals)
            yield Symptom(
                rose[0][0], f"{clock(rose[0][0])} UTC: {original} begins to rise, by {number(round(total))} in all"
            )


def repeats(facts: Facts, findings: Sequence[Finding]) -> Iterator[Symptom]:
    """Producers that sent a good part of their records again."""
    for client in sorted({s.labels.get("client_id") or "" for s in facts.named("producer.record_retries")} - {""}):
        again, sends = (
            [s for s in facts.named(name) if s.labels.get("client_id") == client]
            for name in ("producer.record_retries", "producer.record_sends")
        )
        rose = [(a, v) for a, _, v in counters.summed(again) if v > 0]
        total, every = sum(v for _, v in rose), sum(v for _, _, v in counters.summed(sends))
        if total < max(SINGLE["produce-retry"], SHARE * every):
            continue
        if not explained(rose[0][0], findings, TROUBLE["produce-retry"]):
            told = f"{clock(rose[0][0])} UTC: {client} begins to send records again, {number(total)} in all"
            yield Symptom(rose[0][0], told)


def ratio(facts: Facts, findings: Sequence[Finding]) -> Iterator[Symptom]:
    """A rise of bytes out over bytes in, above what the readers account for."""
    pieces = flows.warm(flows.flows(facts))
    shift = counters.shift([(p.since, p.until, p.out_per_in) for p in pieces])
    if shift is None or explained(shift.at, [f for f in findings if f.severity > Severity.NOTICE], None):
        return
    readers = max((flows.readers(facts, p) or 0 for p in pieces), default=0)
    if shift.after > 1.3 * max(1, readers) and not explained(shift.at, findings, tuple(OF_TRAFFIC)):
        levels = f"from {shift.before:.3g} to {shift.after:.3g}"
        yield Symptom(shift.at, f"{clock(shift.at)} UTC: bytes out over bytes in of the brokers rose {levels}")


RESTART = 60.0
"""Seconds around a broker's orderly restart in which clients and followers notice it."""


def troubles(
    facts: Facts, findings: Sequence[Finding], rejected: Collection[str], loud: Collection[LineShape]
) -> Iterator[Symptom]:
    """Kinds of trouble that are left; splits that end by themselves (*rejected*) and lines of *loud* shapes are not."""
    orderly = [e.first_at for e in facts.of_kind("broker-stopping") if e.first_at is not None]
    for kind, classes in TROUBLE.items():
        left = [e for e in facts.of_kind(kind) if not explained(e.first_at, findings, classes) and _abnormal(facts, e)]
        if DISPROVED.get(kind) in rejected:
            continue
        flooded = explosion.accounted_sources(loud, facts.of_kind(kind))
        left = [e for e in left if e.source not in flooded]
        if kind in NOTICED:
            left = [e for e in left if e.first_at is None or not any(abs(e.first_at - r) <= RESTART for r in orderly)]
        count = sum(e.count for e in left)
        if not left or count < SINGLE.get(kind, 1):
            continue
        place = f"{left[0].source}:{left[0].first.line}"
        yield Symptom(
            left[0].first_at, f"{clock(left[0].first_at)} UTC: {kind}, {counted(count, 'time')}, first at {place}"
        )


def _abnormal(facts: Facts, episode: Episode) -> bool:
    if episode.kind == "record-failed" and episode.topic and dead_letter_topic(facts, episode.topic):
        return False
    if episode.kind != "process-exit":
        return symptoms.abnormal(facts, episode)
    if episode.value_max is None:
        return "Killed" in episode.first.text
    return episode.value_max not in benign_lines.ORDERLY


def crashes_of_brokers(facts: Facts, findings: Sequence[Finding]) -> Iterator[Symptom]:
    """Brokers that started again without having stopped in good order."""
    running: set[str] = set()
    told = facts.of_kind("broker-started", "broker-starting", "broker-stopping", "broker-stopped")
    for episode in sorted(told, key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0)):
        if episode.kind not in ("broker-started", "broker-starting"):
            running.discard(episode.source)
        elif episode.source in running and not explained(episode.first_at, findings, FAILING_OVER):
            when, place = clock(episode.first_at), f"{episode.source}:{episode.first.line}"
            yield Symptom(episode.first_at, f"{when} UTC: broker started again without an orderly stop, {place}")
        else:
            running.add(episode.source)


EFFECT = "log-explosion"
"""A class that explains nothing but its own lines: why they are printed, it does not say."""


def unexplained(facts: Facts, findings: Sequence[Finding], rejected: Collection[str] = ()) -> tuple[Symptom, ...]:
    """What remains, earliest first; splits that were found to end by themselves (*rejected*) are explained."""
    known = [f for f in findings if f.certainty > Certainty.POSSIBLE and f.incident != EFFECT]
    loud = [s for f in findings if f.incident == EFFECT for s in explosion.shapes_of(facts, f)]
    found = [
        *troubles(facts, known, rejected, loud),
        *crashes_of_brokers(facts, known),
        *rises(facts, known, rejected),
        *repeats(facts, known),
        *_losses(facts),
        *_shapes(facts, [f for f in known if f.incident not in OF_TRAFFIC], loud),
        *(Symptom(grown.at, grown.told) for grown in lag.grown(facts) if not explained(grown.at, known, None)),
        *(Symptom(at, told) for at, told in lag.stuck(facts) if not explained(at, known, None)),
        *(Symptom(at, told) for at, told in shared_client_ids.doubtful(facts)),
        *(Symptom(a, told) for a, told in symptoms.copies(facts) if not explained(a, known, symptoms.COPYING)),
        *(Symptom(at, told) for at, told in symptoms.cut_off_when_idle(facts)),
        *(Symptom(at, told) for at, told in mqtt_explained.every(facts) if not explained(at, known, symptoms.MISSING)),
        *ratio(facts, known),
    ]
    return tuple(sorted(found, key=lambda s: (s.at if s.at is not None else float("inf"), s.text)))


def _losses(facts: Facts) -> Iterator[Symptom]:
    """Acknowledged records that a log or a group lost by no mechanism that the material tells."""
    for piece in (case.piece for case in loss_mechanisms.of_incident(facts, None) if case.piece.least):
        lost = f"{number(piece.records)} acknowledged records of {piece.topic}-{piece.queue}"
        yield Symptom(piece.since, f"{clock(piece.since)} UTC: {lost} are gone from the log")
    for own in group_losses.cases(facts, None):
        told = f"{own.amount} of {own.topic} that {own.group} went past are in no ledger of it: {own.losses[0].how}"
        yield Symptom(own.span[0], f"{clock(own.span[0])} UTC: {told}" if own.span[0] is not None else told)


def _shapes(facts: Facts, findings: Sequence[Finding], loud: Collection[LineShape]) -> Iterator[Symptom]:
    known = benign_lines.starts(facts)
    for shape in facts.shapes:
        if not benign_lines.notable(shape) or explosion.accounts_for_shape(loud, shape):
            continue
        if not known.account_for(shape) and not explained(shape.first_at, findings, None):
            yield Symptom(
                shape.first_at,
                f"{clock(shape.first_at)} UTC: new {shape.level} shape, {counted(shape.lines, 'line')}, "
                f"{shape.source}:{shape.first_line}  {shape.shape.strip()[:120]}",
            )
