"""Producers that put more bytes on the wire per record than before, although their payload did not grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab.amplification import payloads
from mqlab.facts import Facts, Series, Setting
from mqlab.findings import Certainty, Finding, Severity
from mqlab.questions import flows, shifts, traffic
from mqlab.questions.wording import clock, moment, sample

RISE = 1.5
"""Times more bytes per record from which an encoding matters."""
REPEATS = 0.02
"""Share of repeats or splits from which they, not the encoding, make the bytes."""
SLOWER = 0.5
"""Share of the earlier record rate below which batches are smaller because less is sent."""
NEAR = 2
"""Scrapes around the rise in which a printed setting belongs to it."""
FEW = 10
"""Records below which nothing can be said about their bytes."""


@dataclass(frozen=True, slots=True)
class Waste:
    """One producer's bytes per record, before and after."""

    client: str
    shift: shifts.Shift
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
    return found if found is not None and payloads.grew(facts, client, found.shift) is False else None


def unseen(facts: Facts, client: str) -> bool:
    """True where *client* may have become wasteful, and nothing tells whether its payload grew."""
    found = _risen(facts, client)
    return found is not None and bool(found.changed) and payloads.grew(facts, client, found.shift) is None


def _risen(facts: Facts, client: str) -> Waste | None:
    """What rose without repeats, no further than lost batching or compression may, whatever the payload did."""
    sends, outgoing = (payloads.own(facts, f"producer.{name}", client) for name in ("record_sends", "outgoing_bytes"))
    if not sends or not outgoing or _repeats(facts, client, sends):
        return None
    windows = _pieces(outgoing)
    rise = shifts.shift([(a, b, _per_record(sends, outgoing, a, b)) for a, b in windows], RISE)
    if rise is None or payloads.too_many(facts, client, rise):
        return None
    changed = _changed(facts, client, sends, _onset(sends, outgoing, rise, windows))
    if changed and not any(s.key == "compression.type" for s, _ in changed):
        changed = [] if payloads.requests_grew(facts, client, rise) else changed
    if not changed and _slower(sends, rise, windows):
        return None
    sent, left = traffic.increase(sends, rise.at, rise.until), traffic.increase(outgoing, rise.at, rise.until)
    return Waste(client, rise, tuple(changed), sent.value, left.value) if sent and left else None


def _repeats(facts: Facts, client: str, sends: Sequence[Series]) -> bool:
    sent = traffic.increase(sends, 0, float("inf"))
    again = traffic.increase(payloads.own(facts, "producer.record_retries", client), 0, float("inf"))
    splits = traffic.increase(payloads.own(facts, "producer.batch_splits", client), 0, float("inf"))
    many = bool(again and sent and again.value > REPEATS * sent.value)
    return many or bool(splits and splits.value)


def _pieces(series: Sequence[Series]) -> list[tuple[float, float]]:
    start, end = min(s.points[0][0] for s in series), max(s.points[-1][0] for s in series)
    step = traffic.scrape(series) or 10.0
    count = max(1, min(flows.WINDOWS, int((end - start) / (3 * step))))
    return [(start + (end - start) * n / count, start + (end - start) * (n + 1) / count) for n in range(count)]


def _per_record(sends: Sequence[Series], outgoing: Sequence[Series], since: float, until: float) -> float | None:
    sent, left = traffic.increase(sends, since, until), traffic.increase(outgoing, since, until)
    return left.value / sent.value if sent and left and sent.value >= FEW else None


def _slower(sends: Sequence[Series], rise: shifts.Shift, windows: Sequence[tuple[float, float]]) -> bool:
    before = traffic.increase(sends, windows[0][0], rise.at)
    after = traffic.increase(sends, rise.at, rise.until)
    if before is None or after is None or rise.at <= windows[0][0]:
        return False
    return after.value / (rise.until - rise.at) < SLOWER * before.value / (rise.at - windows[0][0])


def _onset(
    sends: Sequence[Series], outgoing: Sequence[Series], rise: shifts.Shift, windows: Sequence[tuple[float, float]]
) -> float:
    """Start of the first scrape at the new level: the window in which it rose is longer than that."""
    sent = {(a, b): v for a, b, v in traffic.summed(sends)}
    early = rise.at - (windows[0][1] - windows[0][0])
    for a, b, left in traffic.summed(outgoing):
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
    near = NEAR * (traffic.scrape(sends) or 10.0)
    between = sum(v for a, b, v in traffic.summed(sends) if a >= at and b <= onset)
    return at <= onset + near and (onset - at <= near or between < FEW)


def _worse(key: str, before: str, after: str) -> bool:
    if key == "compression.type":
        return before != after and after in ("none", "lz4", "snappy")
    return before.isdigit() and after.isdigit() and int(after) < int(before)


def finding(facts: Facts, found: Waste, incident: str) -> Finding:
    """The finding about one producer."""
    rise, needed = found.shift, found.shift.before * found.records
    what = ", ".join(f"{s.key} {before} -> {s.value}" for s, before in found.changed)
    what = what or "its settings are not in the material"
    return Finding(
        id=f"{incident}:{found.client}",
        incident=incident,
        severity=Severity.CRITICAL if rise.after > 2 * rise.before else Severity.WARNING,
        certainty=Certainty.PROVEN if found.changed else Certainty.LIKELY,
        subject=found.client,
        started_at=moment(rise.at),
        ended_at=moment(rise.until),
        ongoing=rise.lasting,
        statement=(
            f"{found.client} puts {rise.after:.0f} bytes on the wire per record, {rise.after / rise.before:.3g} times "
            f"as many as before {clock(rise.at)} UTC ({rise.before:.0f}): {what}. The payload did not grow; batching "
            "or compression was lost."
        ),
        measures={
            "bytes_per_record": rise.after, "bytes_per_record_before": rise.before,
            "amplification_factor": rise.after / rise.before, "bytes_in": needed, "bytes_out": found.left,
            "excess_bytes": found.left - needed,
        },
        evidence=(
            *(s.evidence for s, _ in found.changed),
            *(sample(facts, s, rise.until, "bytes that left the producer")
              for s in payloads.own(facts, "producer.outgoing_bytes", found.client)),
            *(sample(facts, s, rise.until, "records that left the producer")
              for s in payloads.own(facts, "producer.record_sends", found.client)),
        ),
        mitigate="Restore the earlier linger.ms, batch.size and compression.type; side effect: up to linger.ms more "
        "latency.",
        remedy="Keep batching and compression of producers under review: they are worth a multiple of the network.",
        verify="outgoing-byte-total per record-send-total is back at its earlier value.",
        facts={"who": f"producer {found.client}", "changed": what},
    )  # fmt: skip
