"""What counters say of the bytes of a split loop: on the network card, from the producer, at the broker."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.facts import Facts, Series
from mqlab.questions import actors, flows, traffic
from mqlab.questions.wording import clock


@dataclass(frozen=True, slots=True)
class Sums:
    """Bytes over the window; None where the material has no such counter."""

    card: traffic.Ratio | None
    outgoing: float | None
    rejected: float | None
    accepted: float | None
    """Of this producer; None where others send to the topic too."""
    oversize: float
    oversize_count: int
    healthy: float | None


def splits_counted(facts: Facts, client: str, start: float, end: float) -> float | None:
    """Splits that the producer's own counter saw."""
    own = [s for s in facts.named("producer.batch_splits") if s.labels.get("client_id") == client]
    found = traffic.increase(own, start, end)
    return found.value if found else None


def summed(facts: Facts, host: str | None, client: str, topic: str, span: tuple[float, float]) -> Sums:
    """What the counters say of the bytes between two moments."""
    start, end = span
    own = [s for s in facts.named("producer.outgoing_bytes") if s.labels.get("client_id") == client]
    outgoing = traffic.increase(own, start, end)
    single = _oversize(facts, client, start, end)
    alone = actors.sole_producer(facts, client, topic)
    return Sums(
        traffic.ratio(facts, host, start, end) if host else None,
        outgoing.value if outgoing else None,
        topic_bytes(facts, "broker.bytes_rejected", topic, start, end),
        topic_bytes(facts, "broker.bytes_in", topic, start, end) if alone else None,
        sum(size for size, _ in single),
        sum(count for _, count in single),
        traffic.usual_factor(facts, host, 0, start) if host else None,
    )


def topic_bytes(facts: Facts, name: str, topic: str, start: float, end: float) -> float | None:
    """Bytes of *topic* over the window, on all brokers; of all topics where the exporter does not tell them apart."""
    every = facts.named(name)
    of_topic = [s for s in every if s.labels.get("topic") == topic]
    if not of_topic and topic != "?" and any(s.labels.get("topic") for s in every):
        return 0.0
    of_topic = of_topic or flows.all_topics(facts, name)
    if not of_topic:
        return None
    found = traffic.increase(of_topic, start, end, traffic.first_scrape(facts, of_topic[0]))
    return found.value if found else None


def title(sums: Sums, host: str) -> str:
    """Which counters a ledger rests on, and from when to when."""
    since, until = (sums.card.since, sums.card.until) if sums.card else (None, None)
    return f"network card of {host}, {clock(since)} to {clock(until)} UTC"


def _oversize(facts: Facts, client: str, start: float, end: float) -> list[tuple[float, int]]:
    """(bytes on the wire, records) of single records over the limit in the window, sent once each."""
    own: list[Series] = [s for s in facts.named("producer.record_size_max") if s.labels.get("client_id") == client]
    biggest = max((v for s in own for _, v in s.points), default=0.0)
    found = []
    for one in facts.of_kind("record-too-large"):
        inside = one.first_at is not None and start <= one.first_at <= end and one.reason != "when serialized"
        if inside and one.value_max and actors.client_of(facts, one) == client:
            copies = round(biggest / one.value_max) if biggest > one.value_max else 1
            found.append((one.value_max * max(1, copies) * one.count, one.count))
    return found
