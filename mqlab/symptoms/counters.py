"""Symptoms among counters: those that stand still in health, records sent again, bytes out over bytes in."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from mqlab.facts import Facts
from mqlab.findings import Finding, Severity
from mqlab.questions import flows, shifts, traffic
from mqlab.questions.wording import clock
from mqlab.symptoms.symptom import Symptom, covers, explained
from mqlab.symptoms.trouble import COUNTED, SINGLE, TROUBLE
from mqlab.units import number

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
            for a, b, v in traffic.summed(totals)
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
        rose = [(a, v) for a, _, v in traffic.summed(again) if v > 0]
        total, every = sum(v for _, v in rose), sum(v for _, _, v in traffic.summed(sends))
        if total < max(SINGLE["produce-retry"], SHARE * every):
            continue
        if not explained(rose[0][0], findings, TROUBLE["produce-retry"]):
            told = f"{clock(rose[0][0])} UTC: {client} begins to send records again, {number(total)} in all"
            yield Symptom(rose[0][0], told)


def ratio(facts: Facts, findings: Sequence[Finding]) -> Iterator[Symptom]:
    """A rise of bytes out over bytes in, above what the readers account for."""
    pieces = flows.warm(flows.flows(facts))
    shift = shifts.shift([(p.since, p.until, p.out_per_in) for p in pieces])
    if shift is None or explained(shift.at, [f for f in findings if f.severity > Severity.NOTICE], None):
        return
    readers = max((flows.readers(facts, p) or 0 for p in pieces), default=0)
    if shift.after > 1.3 * max(1, readers) and not explained(shift.at, findings, tuple(OF_TRAFFIC)):
        levels = f"from {shift.before:.3g} to {shift.after:.3g}"
        yield Symptom(shift.at, f"{clock(shift.at)} UTC: bytes out over bytes in of the brokers rose {levels}")
