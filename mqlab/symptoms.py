"""What is out of the ordinary and whether a finding explains it: the guard against calling trouble health.

Symptoms are new ERROR and WARN shapes, events and counters that mean trouble, lag that grows, and a rise of bytes out
over bytes in. Lines that brokers and clients print in every start, restart or hand-over are no symptoms
(``ordinary``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from mqlab import ordinary
from mqlab.delivery_groups import cases
from mqlab.delivery_log import cases as log_cases
from mqlab.facts import Episode, Facts, LineShape
from mqlab.findings import Certainty, Finding, Severity
from mqlab.log_growth import lines
from mqlab.mqtt import symptoms
from mqlab.questions import flows, lags, shifts, traffic
from mqlab.questions.wording import clock
from mqlab.rocketmq import duplicate_case
from mqlab.units import counted, number

NEAR = 120.0
"""Seconds around a finding in which it may explain a line."""
RESTART = 60.0
"""Seconds around a broker's orderly restart in which clients and followers notice it."""

_LEAVING = ("poll-interval-exceeded", "session-timeout", "group-churn", "static-member-fenced", "rolling-restart")
"""Classes in which members fall out of a group and come again."""
_FAILING_OVER = ("acks1-failover-loss", "unclean-election-loss", "under-min-isr")
"""Classes in which brokers are away that replicas and producers need."""
TROUBLE: dict[str, tuple[str, ...]] = {
    "batch-split": ("batch-split-loop", "format-inflation"),
    "produce-retry": ("retry-amplification", "batch-split-loop", "format-inflation", "rolling-restart", *_FAILING_OVER),
    "record-too-large": ("oversize-record-rejected", "retry-amplification", "batch-split-loop"),
    "record-expired": ("retry-amplification", "batch-split-loop", "under-min-isr"),
    "buffer-exhausted": ("retry-amplification", "batch-split-loop"),
    "producer-stuck": ("batch-split-loop",),
    "sender-error": ("batch-split-loop",),
    "send-failed": ("retry-amplification", "batch-split-loop", "oversize-record-rejected", "under-min-isr"),
    "request-timeout": ("retry-amplification", "rolling-restart"),
    "out-of-memory": ("batch-split-loop",),
    "process-exit": ("batch-split-loop", "group-churn", "session-timeout", "static-member-fenced"),
    "isr-shrunk": ("rolling-restart", "replica-catch-up", *_FAILING_OVER),
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
    "broker-fenced": ("rolling-restart", *_FAILING_OVER),
    "offset-moved": ("duplicate-client-id", "consumer-offline"),
    "consumer-disabled": ("slow-consumer", "duplicate-client-id"),
    "message-expired-back": ("slow-consumer",),
    "queue-stuck": ("slow-consumer", "duplicate-client-id"),
    "send-busy": (),
    "disk-full": (),
    **symptoms.TROUBLE,
}
"""Events that mean trouble, and the classes that account for them."""
SHARE = 0.02
"""Share of repeats among all transmissions from which they are no remark."""
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
OF_TRAFFIC = frozenset({"fan-out", "catch-up-read", "replica-catch-up", "replication-traffic"})
"""Benign classes that explain traffic and lag, but no line of trouble."""
EFFECT = "log-explosion"
"""A class that explains nothing but its own lines: why they are printed, it does not say."""


@dataclass(frozen=True, slots=True)
class Symptom:
    """Something that no finding explains."""

    at: float | None
    text: str


def unexplained(facts: Facts, findings: Sequence[Finding], rejected: Collection[str] = ()) -> tuple[Symptom, ...]:
    """What remains, earliest first; splits that were found to end by themselves (*rejected*) are explained."""
    known = [f for f in findings if f.certainty > Certainty.POSSIBLE and f.incident != EFFECT]
    loud = [s for f in findings if f.incident == EFFECT for s in lines.shapes_of(facts, f)]
    found = [
        *_events(facts, known, rejected, loud),
        *_crashes_of_brokers(facts, known),
        *_counters(facts, known, rejected),
        *_repeats(facts, known),
        *_losses(facts),
        *_shapes(facts, [f for f in known if f.incident not in OF_TRAFFIC], loud),
        *(Symptom(grown.at, grown.told) for grown in lags.grown(facts) if not _explained(grown.at, known, None)),
        *(Symptom(at, told) for at, told in lags.stuck(facts) if not _explained(at, known, None)),
        *(Symptom(at, told) for at, told in duplicate_case.doubtful(facts)),
        *(Symptom(a, told) for a, told in symptoms.copies(facts) if not _explained(a, known, symptoms.COPYING)),
        *(Symptom(at, told) for at, told in symptoms.cut_off_when_idle(facts)),
        *_ratio(facts, known),
    ]
    return tuple(sorted(found, key=lambda s: (s.at if s.at is not None else float("inf"), s.text)))


def _events(
    facts: Facts, findings: Sequence[Finding], rejected: Collection[str], loud: Collection[LineShape]
) -> Iterator[Symptom]:
    orderly = [e.first_at for e in facts.of_kind("broker-stopping") if e.first_at is not None]
    for kind, classes in TROUBLE.items():
        left = [e for e in facts.of_kind(kind) if not _explained(e.first_at, findings, classes) and _abnormal(facts, e)]
        if DISPROVED.get(kind) in rejected:
            continue
        flooded = lines.accounted_sources(loud, facts.of_kind(kind))
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
    if episode.kind != "process-exit":
        return symptoms.abnormal(facts, episode)
    if episode.value_max is None:
        return "Killed" in episode.first.text
    return episode.value_max not in ordinary.ORDERLY


def _crashes_of_brokers(facts: Facts, findings: Sequence[Finding]) -> Iterator[Symptom]:
    """Brokers that started again without having stopped in good order."""
    running: set[str] = set()
    told = facts.of_kind("broker-started", "broker-starting", "broker-stopping", "broker-stopped")
    for episode in sorted(told, key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0)):
        if episode.kind not in ("broker-started", "broker-starting"):
            running.discard(episode.source)
        elif episode.source in running and not _explained(episode.first_at, findings, _FAILING_OVER):
            when, place = clock(episode.first_at), f"{episode.source}:{episode.first.line}"
            yield Symptom(episode.first_at, f"{when} UTC: broker started again without an orderly stop, {place}")
        else:
            running.add(episode.source)


def _counters(facts: Facts, findings: Sequence[Finding], rejected: Collection[str]) -> Iterator[Symptom]:
    for name, classes in COUNTED.items():
        if name in ("producer.batch_splits", "broker.bytes_rejected") and "batch-split-loop" in rejected:
            continue
        totals = flows.all_topics(facts, name) if name.startswith("broker.") else list(facts.named(name))
        rose = [
            (a, v)
            for a, b, v in traffic.summed(totals)
            if v > 0 and not any(_covers(f, a) or _covers(f, b) for f in findings if f.incident in classes)
        ]
        if rose:
            total, original = sum(v for _, v in rose), next(s.original for s in totals)
            yield Symptom(
                rose[0][0], f"{clock(rose[0][0])} UTC: {original} begins to rise, by {number(round(total))} in all"
            )


def _losses(facts: Facts) -> Iterator[Symptom]:
    """Acknowledged records that a log or a group lost by no mechanism that the material tells."""
    for case in (case for case in log_cases.undecided(facts) if case.loss.least):
        lost = f"{number(case.loss.records)} acknowledged records of {case.loss.topic}-{case.loss.queue}"
        yield Symptom(case.loss.since, f"{clock(case.loss.since)} UTC: {lost} are gone from the log")
    for own in cases.cases(facts, None):
        told = f"{own.told} of {own.topic} that {own.group} went past are in no ledger of it: {own.losses[0].how}"
        yield Symptom(own.span[0], f"{clock(own.span[0])} UTC: {told}" if own.span[0] is not None else told)


def _repeats(facts: Facts, findings: Sequence[Finding]) -> Iterator[Symptom]:
    """Producers that sent a good part of their records again."""
    for client in sorted({s.labels.get("client_id") or "" for s in facts.named("producer.record_retries")} - {""}):
        again, sends = (
            [s for s in facts.named(name) if s.labels.get("client_id") == client]
            for name in ("producer.record_retries", "producer.record_sends")
        )
        rose = [(a, v) for a, _, v in traffic.summed(again) if v > 0]
        total, every = sum(v for _, v in rose), sum(v for _, _, v in traffic.summed(sends))
        if total < max(SINGLE["produce-retry"], SHARE * every):
            continue
        if not _explained(rose[0][0], findings, TROUBLE["produce-retry"]):
            told = f"{clock(rose[0][0])} UTC: {client} begins to send records again, {number(total)} in all"
            yield Symptom(rose[0][0], told)


def _explained(at: float | None, findings: Sequence[Finding], classes: Sequence[str] | None) -> bool:
    return any(_covers(f, at) for f in findings if classes is None or f.incident in classes)


def _covers(finding: Finding, at: float | None) -> bool:
    if at is None or finding.started_at is None:
        return True
    if at < finding.started_at.timestamp() - NEAR:
        return False
    return finding.ongoing or finding.ended_at is None or at <= finding.ended_at.timestamp() + NEAR


def _shapes(facts: Facts, findings: Sequence[Finding], loud: Collection[LineShape]) -> Iterator[Symptom]:
    known = ordinary.starts(facts)
    for shape in facts.shapes:
        if not ordinary.notable(shape) or lines.accounts_for_shape(loud, shape):
            continue
        if not known.account_for(shape) and not _explained(shape.first_at, findings, None):
            yield Symptom(
                shape.first_at,
                f"{clock(shape.first_at)} UTC: new {shape.level} shape, {counted(shape.lines, 'line')}, "
                f"{shape.source}:{shape.first_line}  {shape.shape.strip()[:120]}",
            )


def _ratio(facts: Facts, findings: Sequence[Finding]) -> Iterator[Symptom]:
    pieces = flows.warm(flows.flows(facts))
    shift = shifts.shift([(p.since, p.until, p.out_per_in) for p in pieces])
    if shift is None or _explained(shift.at, [f for f in findings if f.severity > Severity.NOTICE], None):
        return
    readers = max((flows.readers(facts, p) or 0 for p in pieces), default=0)
    if shift.after > 1.3 * max(1, readers) and not _explained(shift.at, findings, tuple(OF_TRAFFIC)):
        levels = f"from {shift.before:.3g} to {shift.after:.3g}"
        yield Symptom(shift.at, f"{clock(shift.at)} UTC: bytes out over bytes in of the brokers rose {levels}")
