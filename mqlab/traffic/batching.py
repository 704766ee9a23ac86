"""Producers that put more bytes on the wire per record than before, although their payload did not grow.

Whether the payload grew is told by the producer's own metrics, by its application and by its host.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from statistics import fmean, median

from mqlab.facts import Facts, Series, Setting
from mqlab.rows import GRID
from mqlab.shared import counters, flows
from mqlab.shared.counters import Shift

GROWN = 1.2
"""Times larger payloads from which they are the reason. Judgement, no default behind it: means of sizes differ by less
from sample to sample."""
SAMPLED = 30.0
"""Seconds over which a client averages (metrics.sample.window.ms): a sample tells about the time before it."""
FRAMING = 250.0
"""Bytes that the headers of one batch (61) and one request (its client id, topic and partition) take at most."""
ANSWER = 200.0
"""Bytes that come back at most for one record sent in a request of its own: a produce response and TCP headers."""
FOLLOWS = 0.25
"""Share of the bytes that left in addition from which bytes that came in in addition are their origin. Judgement, no
default behind it: what came in may be compressed, to a quarter."""
UNCOMPRESSED = 0.99
"""compression-rate-avg from which batches are sent as they are; 1 without compression."""


def own(facts: Facts, name: str, client: str) -> list[Series]:
    """The client's series of this name that have two samples."""
    return [s for s in counters.of_client(facts, name, client) if len(s.points) > 1]


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
    came = _per(counters.card(facts, next(iter(hosts)), "receive"), sends, rise)
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
    steps = [((a + b) / 2, v) for a, b, v in counters.summed(series)]
    inside = sum(v for at, v in steps if rise.at <= at <= rise.until)
    return sum(v for _, v in steps) - inside, inside


SLOWER = 0.5
"""Share of the earlier record rate below which batches are smaller because less is sent: what fills within linger.ms
falls with the rate, so they are half as large. That half is enough is judgement."""
NEAR = 2
"""Scrapes around the rise in which a printed setting belongs to it: the rise is between two scrapes, and a mean
(``SAMPLED``) shows it a scrape later."""
FEW = 10
"""Records below which nothing can be said about their bytes. Judgement, no default behind it: the mean of ten is off by
a third where sizes differ as much as they are large (one over the root of ten)."""


@dataclass(frozen=True, slots=True)
class Waste:
    """One producer's bytes per record, before and after."""

    client: str
    shift: counters.Shift
    changed: tuple[tuple[Setting, str], ...]
    """Settings of batching and compression that became wasteful, with their earlier value."""
    records: float
    left: float


def producers(facts: Facts) -> list[str]:
    """Clients whose transmissions are counted."""
    return sorted({s.labels.get("client_id") or "" for s in facts.named("producer.record_sends")} - {""})


def measured(facts: Facts, client: str) -> Waste | None:
    """The waste of *client*; None where there is none, or where payload, repeats or a lower rate explain it."""
    found = _risen(facts, client)
    return found if found is not None and grew(facts, client, found.shift) is False else None


def unseen(facts: Facts, client: str) -> bool:
    """True where *client* may have become wasteful, and nothing tells whether its payload grew."""
    found = _risen(facts, client)
    return found is not None and bool(found.changed) and grew(facts, client, found.shift) is None


def _risen(facts: Facts, client: str) -> Waste | None:
    """What rose without repeats, no further than lost batching or compression may, whatever the payload did."""
    sends, outgoing = (own(facts, f"producer.{name}", client) for name in ("record_sends", "outgoing_bytes"))
    if not sends or not outgoing or _repeats(facts, client, sends):
        return None
    windows = flows.windows(outgoing)
    rise = counters.shift([(a, b, _per_record(sends, outgoing, a, b)) for a, b in windows])
    if rise is None or too_many(facts, client, rise):
        return None
    changed = _changed(facts, client, sends, _onset(sends, outgoing, rise, windows))
    if changed and not any(s.key == "compression.type" for s, _ in changed):
        changed = [] if requests_grew(facts, client, rise) else changed
    if not changed and _slower(sends, rise, windows):
        return None
    sent, left = counters.rise(sends, rise.at, rise.until), counters.rise(outgoing, rise.at, rise.until)
    return Waste(client, rise, tuple(changed), sent, left) if sent is not None and left is not None else None


def _repeats(facts: Facts, client: str, sends: Sequence[Series]) -> bool:
    again, splits = (own(facts, f"producer.{name}", client) for name in ("record_retries", "batch_splits"))
    sent, repeated = counters.rise(sends, 0, inf), counters.rise(again, 0, inf)
    return bool(sent and (repeated or 0) > counters.REPEATED * sent) or bool(counters.rise(splits, 0, inf))


def _per_record(sends: Sequence[Series], outgoing: Sequence[Series], since: float, until: float) -> float | None:
    sent, left = counters.rise(sends, since, until), counters.rise(outgoing, since, until)
    return left / sent if sent is not None and left is not None and sent >= FEW else None


def _slower(sends: Sequence[Series], rise: counters.Shift, windows: Sequence[tuple[float, float]]) -> bool:
    rose = counters.increase(sends, windows[0][0], rise.at), counters.increase(sends, rise.at, rise.until)
    before, after = (one.per_second if one else None for one in rose)
    return before is not None and after is not None and after < SLOWER * before


def _onset(
    sends: Sequence[Series], outgoing: Sequence[Series], rise: counters.Shift, windows: Sequence[tuple[float, float]]
) -> float:
    """Start of the first scrape at the new level: the window in which it rose is longer than that."""
    sent = {(a, b): v for a, b, v in counters.summed(sends)}
    early = rise.at - (windows[0][1] - windows[0][0])
    for a, b, left in counters.summed(outgoing):
        records = sent.get((a, b), 0.0)
        if a >= early and records > 0 and left / records >= (rise.before + rise.after) / 2:
            return a
    return rise.at


def _changed(facts: Facts, client: str, sends: Sequence[Series], onset: float) -> list[tuple[Setting, str]]:
    """Settings of batching and compression that this producer printed differently, for the worse, at the rise."""
    found = []
    for key in ("compression.type", "linger.ms", "batch.size"):
        own = [s for s in facts.settings if (s.key, s.owner, s.scope) == (key, client, "producer") and s.at is not None]
        own.sort(key=lambda s: (s.at or 0.0, s.source, s.line or 0))
        for before, after in pairwise(own):
            if _worse(key, before.value, after.value) and _begins(sends, after.at or 0.0, onset):
                found.append((after, before.value))
    return found


def _begins(sends: Sequence[Series], at: float, onset: float) -> bool:
    """True where what happened at *at* can begin a rise at *onset*: not after it, and no records as ever in between."""
    near = NEAR * (counters.scrape(sends) or GRID)
    between = sum(v for a, b, v in counters.summed(sends) if a >= at and b <= onset)
    return at <= onset + near and (onset - at <= near or between < FEW)


def _worse(key: str, before: str, after: str) -> bool:
    if key == "compression.type":
        return before != after and after in ("none", "lz4", "snappy")
    return before.isdigit() and after.isdigit() and int(after) < int(before)
