"""The loop as counters alone show it, for producers whose log is not in the material."""

from __future__ import annotations

from mqlab import units
from mqlab.amplification import split_ledger, split_sums, split_traffic
from mqlab.amplification.split_ledger import SplitLedger
from mqlab.amplification.split_loops import LEAST_LIMIT, MANY, MOSTLY
from mqlab.amplification.split_sums import Sums
from mqlab.facts import Facts, Series
from mqlab.findings import Certainty, Finding, Severity
from mqlab.models import clients
from mqlab.questions import actors, configured, traffic
from mqlab.questions.wording import moment, sample


def findings(facts: Facts, incident: str, logged: frozenset[str]) -> tuple[Finding, ...]:
    """One finding per client, other than those that *logged* their splits, whose counters tell of a loop."""
    named = {s.labels.get("client_id") or "" for s in facts.named("producer.batch_splits")}
    found = [_of_client(facts, client, incident) for client in sorted(named - logged - {""})]
    return tuple(f for f in found if f is not None)


def _of_client(facts: Facts, client: str, incident: str) -> Finding | None:
    own = [s for s in facts.named("producer.batch_splits") if s.labels.get("client_id") == client]
    steps = [(a, b, v) for a, b, v in traffic.summed(own) if v > 0]
    count = sum(v for _, _, v in steps)
    if count < MANY or clients.loops(configured.version_of(facts, client)) is False:
        return None
    start, end = steps[0][0], steps[-1][1]
    topic = _topic(facts, client, start, end)
    host = actors.host_of(facts, client)
    sums = split_sums.summed(facts, host, client, topic, (start, end))
    if not _mostly_splits(facts, topic, sums, count, start):
        return None
    measures = split_ledger.measured(facts, host, sums, (start, end), start) | {"split_count": count}
    ledger = SplitLedger(host, start, end, round(count), sums, measures)
    counted = tuple(sample(facts, s, end, "splits counted by the producer") for s in own)
    thrown = f" while the broker rejected {units.size(sums.rejected)}" if sums.rejected else ""
    kept = f" and accepted {units.size(sums.accepted)}" if sums.rejected and sums.accepted else ""
    return Finding(
        f"{incident}:{client}/{topic}", incident, Severity.CRITICAL, Certainty.LIKELY, f"{client} -> {topic}",
        moment(start), moment(end), _goes_on(own, end),
        f"{client} split batches {count:.0f} times{thrown}{kept}. The counters fit batches that are split into "
        "themselves; the client's log would prove it.",
        measures, counted + split_traffic.evidence(facts, client, topic, ledger), ("log-explosion",),
        "Set batch.size below the topic's max.message.bytes; side effect: more and smaller requests.",
        "Keep batch.size within max.message.bytes; upgrade the client to 4.2.0 or later.",
        "batch-split-total stands still during the next burst.",
        facts={"who": f"producer {client}", "topic": topic},
    )  # fmt: skip


def _goes_on(own: list[Series], end: float) -> bool:
    """True where the counter rose up to its last sample."""
    return all(s.points[-1][0] <= end for s in own if s.points)


def _topic(facts: Facts, client: str, start: float, end: float) -> str:
    """The only topic the client sends to, or the only one of them with rejected bytes."""
    named = {s.labels.get("topic") or "" for s in facts.series
             if s.name.startswith("producer.topic_") and s.labels.get("client_id") == client} - {""}  # fmt: skip
    if len(named) == 1:
        return named.pop()
    thrown = {
        topic
        for s in facts.named("broker.bytes_rejected")
        if (topic := s.labels.get("topic")) and (not named or topic in named)
        if split_sums.topic_bytes(facts, "broker.bytes_rejected", topic, start, end)
    }
    return thrown.pop() if len(thrown) == 1 else "?"


def _mostly_splits(facts: Facts, topic: str, sums: Sums, count: float, start: float) -> bool:
    """True where a good part of what left were batches that were split; a wrong estimate splits few of many."""
    known = configured.limit(facts, topic, start)
    least = known.number if known and known.number else LEAST_LIMIT
    left = sums.outgoing if sums.outgoing is not None else (sums.card.bytes_out if sums.card else None)
    if left is not None:
        return left > 0 and count * least * MOSTLY >= left >= count * least * split_ledger.LEAST_ON_CARD
    return bool(sums.rejected and sums.accepted is not None and sums.rejected >= sums.accepted)
