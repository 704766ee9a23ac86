"""Whether the payload of a producer's records grew: what its own metrics, its application and its host tell."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

from mqlab.facts import Facts, Series
from mqlab.questions import traffic
from mqlab.questions.shifts import Shift

GROWN = 1.2
"""Times larger payloads from which they are the reason."""
SAMPLED = 30.0
"""Seconds over which a client averages: a sample tells about the time before it."""
FRAMING = 250.0
"""Bytes that the headers of one batch and one request take at most."""
ANSWER = 200.0
"""Bytes that come back at most for one record sent in a request of its own."""
FOLLOWS = 0.25
"""Share of the bytes that left in addition from which bytes that came in in addition are their origin."""
UNCOMPRESSED = 0.99


def own(facts: Facts, name: str, client: str) -> list[Series]:
    """The client's series of this name that have two samples."""
    return [s for s in facts.named(name) if s.labels.get("client_id") == client and len(s.points) > 1]


def grew(facts: Facts, client: str, rise: Shift) -> bool | None:
    """True where larger payloads explain *rise*, False where they stayed as they were, None where nobody saw them."""
    size = _compared(own(facts, "producer.record_size_avg", client), rise)
    received = [_application(facts, client, rise, direction) for direction in ("received", "delivered")]
    told = [pair for pair in (size, *received) if pair is not None]
    if any(after >= GROWN * before for before, after in told) or _came_in(facts, client, rise):
        return True
    if size is None:
        most = _compared(own(facts, "producer.record_size_max", client), rise)
        if most is not None and most[1] >= GROWN * most[0]:
            return True
    return False if told else None


def too_many(facts: Facts, client: str, rise: Shift) -> bool:
    """True where no loss of batching or compression can make so many bytes of a record.

    What was never compressed gains the headers of a batch and a request of its own; nothing takes more than its size
    and these headers.
    """
    if _uncompressed(facts, client, rise) and rise.after - rise.before > FRAMING:
        return True
    size = _compared(own(facts, "producer.record_size_avg", client), rise)
    return size is not None and rise.after > GROWN * size[1] + FRAMING


def requests_grew(facts: Facts, client: str, rise: Shift) -> bool:
    """True where requests became larger, which smaller batches never do."""
    size = _compared(own(facts, "producer.request_size_avg", client), rise)
    return size is not None and size[1] >= GROWN * size[0]


def _compared(sizes: Sequence[Series], rise: Shift) -> tuple[float, float] | None:
    """Mean of the samples outside and inside of *rise*; those that average over both are left out where possible."""
    samples = [(at, v) for s in sizes for at, v in s.points if v > 0]
    outside = [v for at, v in samples if at <= rise.at or at > rise.until + SAMPLED]
    inside = [(at, v) for at, v in samples if rise.at < at <= rise.until]
    inner = [v for at, v in inside if at >= rise.at + SAMPLED] or [v for _, v in inside]
    return (fmean(outside), fmean(inner)) if outside and inner else None


def _uncompressed(facts: Facts, client: str, rise: Shift) -> bool:
    rates = own(facts, "producer.compression_rate_avg", client)
    before = [v for s in rates for at, v in s.points if v > 0 and at <= rise.at]
    if before:
        return median(before) >= UNCOMPRESSED
    named = [s for s in facts.settings if (s.key, s.owner, s.scope) == ("compression.type", client, "producer")]
    earlier = [s for s in named if s.at is None or s.at <= rise.at]
    return bool(earlier) and all(s.value == "none" for s in earlier)


def _application(facts: Facts, client: str, rise: Shift, direction: str) -> tuple[float, float] | None:
    """Bytes per record by the counters that the application behind *client* prints, outside and inside of *rise*."""
    sources = {s.source for s in facts.settings if s.owner == client and s.scope == "producer"}
    sources |= {e.source for e in facts.episodes if e.client_id == client}
    printed = [s for s in facts.series if s.source in sources and s.name.startswith(f"app.{direction}")]
    sizes = [s for s in printed if "ytes" in s.name]
    return _per(sizes, [s for s in printed if s.name == f"app.{direction}"], rise)


def _came_in(facts: Facts, client: str, rise: Shift) -> bool:
    """True where the host received more for each record too, beyond the answers to its requests."""
    sends = own(facts, "producer.record_sends", client)
    hosts = {s.host for s in sends if s.host}
    if len(hosts) != 1:
        return False
    came = _per(traffic.card(facts, next(iter(hosts)), "receive"), sends, rise)
    return came is not None and came[1] - came[0] - ANSWER >= FOLLOWS * (rise.after - rise.before)


def _per(sizes: Sequence[Series], counts: Sequence[Series], rise: Shift) -> tuple[float, float] | None:
    """Increase of *sizes* for each one of *counts*, outside and inside of *rise*."""
    if not sizes or not counts:
        return None
    total = _increases(sizes, rise), _increases(counts, rise)
    if total[1][0] <= 0 or total[1][1] <= 0:
        return None
    return total[0][0] / total[1][0], total[0][1] / total[1][1]


def _increases(series: Sequence[Series], rise: Shift) -> tuple[float, float]:
    steps = [((a + b) / 2, v) for a, b, v in traffic.summed(series)]
    inside = sum(v for at, v in steps if rise.at <= at <= rise.until)
    return sum(v for _, v in steps) - inside, inside
