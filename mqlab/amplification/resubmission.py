"""Does an application submit failed records again from its callback?

Many records over the limit and one such record again and again print the same lines, and both make the broker reject
far more than it accepts. What tells them apart is what came in: the application's own counter of resubmissions, or
more failures (or failed bytes) than it received. A card counts too, where the host only passes on what it receives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mqlab import units
from mqlab.facts import Episode, Facts, Series
from mqlab.questions import actors, flows, traffic

FEW = 10
"""Failures below which nobody can tell, and nothing is amplified."""
MORE = 1.5
"""Times more failures, or failed bytes, than came in from which records must have been submitted again."""
FORWARDS = (0.3, 3.0)
"""Bytes out over bytes in of a host that passes on what it receives."""
LAG = 60.0
"""Seconds by which a counter may end before the last failure: applications print theirs now and then."""
JUMP = 3.0
"""Times its usual out over in from which the card of such a host shows bytes that never came in."""


@dataclass(frozen=True, slots=True)
class Resubmission:
    """Failed records that went out again."""

    client: str
    first: float
    last: float
    count: float
    """Submissions that the application counted, else failures."""
    how: str
    """What shows it, in words."""
    lines: tuple[Episode, ...]
    counters: tuple[Series, ...]
    rejected: float | None
    accepted: float | None
    agrees: bool
    """The bytes rejected, or sent beyond the usual, fit."""


def found(facts: Facts) -> list[Resubmission]:
    """Every client whose application submits failed records again."""
    return [r for client, lines in _failing(facts).items() if (r := _of_client(facts, client, lines)) is not None]


def unclear(facts: Facts) -> list[str]:
    """What could be resubmission and cannot be told from many records of one size."""
    known = {r.client for r in found(facts)}
    told = []
    for client, lines in _failing(facts).items():
        sizes = {v for e in lines for v in (e.value_min, e.value_max)}
        count = sum(e.count for e in lines)
        if client not in known and count >= FEW and len(sizes) == 1 and _came_in(facts, lines, "records") is None:
            told.append(
                f"what the application behind {client} received: {count} failures of one size may be one record, "
                "submitted again and again"
            )
    return told


def _failing(facts: Facts) -> dict[str, list[Episode]]:
    """Records that the broker refused, by client; those whose batches were split have another story."""
    split = {actors.client_of(facts, e) for e in facts.of_kind("batch-split")}
    refused = [e for e in facts.of_kind("record-too-large") if e.reason != "when serialized" and e.first_at is not None]
    return {client: lines for client, lines in actors.by_client(facts, refused).items() if client not in split}


def _of_client(facts: Facts, client: str, lines: Sequence[Episode]) -> Resubmission | None:
    first, last = lines[0].first_at or 0.0, max(e.last_at or 0.0 for e in lines)
    failures = sum(e.count for e in lines)
    counters = [
        s for s in facts.series if s.name.startswith("app.resubmitted") and s.source in {e.source for e in lines}
    ]
    counted = [(a, b, v) for a, b, v in traffic.summed(counters) if v > 0]
    times = sum(v for _, _, v in counted)
    if times >= FEW:
        first, last = min(first, counted[0][0]), max(last, counted[-1][1])
    how = f"its own counter rose by {times:.0f}" if times >= FEW else _more_than_came_in(facts, client, lines)
    if how is None or failures < FEW:
        return None
    rejected = _increase(flows.all_topics(facts, "broker.bytes_rejected"), first, last)
    accepted = _increase(flows.all_topics(facts, "broker.bytes_in"), first, last)
    agrees = _fits(lines, rejected) or _jumped(facts, client, first, last) is not None
    count = times if times >= FEW else float(failures)
    return Resubmission(client, first, last, count, how, tuple(lines), tuple(counters), rejected, accepted, agrees)


def _more_than_came_in(facts: Facts, client: str, lines: Sequence[Episode]) -> str | None:
    failures, records = sum(e.count for e in lines), _came_in(facts, lines, "records")
    if records is not None and failures >= MORE * records:
        return f"{failures} sends failed while only {records:.0f} records came in"
    size, came = sum(e.count * (e.value_min or 0) for e in lines), _came_in(facts, lines, "bytes")
    if came is not None and size >= MORE * came:
        return f"{units.size(size)} of payloads failed while only {units.size(came)} came in"
    if records is not None or came is not None:
        return None
    return _jumped(facts, client, lines[0].first_at or 0.0, max(e.last_at or 0.0 for e in lines))


def _came_in(facts: Facts, lines: Sequence[Episode], what: str) -> float | None:
    sources = {e.source for e in lines}
    received = [s for s in facts.series if s.source in sources and s.name.startswith(("app.received", "app.consumed"))]
    of_kind = [s for s in received if ("ytes" in s.name or "ayload" in s.name) == (what == "bytes")]
    return _increase(of_kind, lines[0].first_at or 0.0, max(e.last_at or 0.0 for e in lines))


def _increase(series: Sequence[Series], first: float, last: float) -> float | None:
    rose = traffic.increase(series, first, last)
    return rose.value if rose and rose.since <= first and rose.until >= last - LAG else None


def _fits(lines: Sequence[Episode], rejected: float | None) -> bool:
    failed = sum(e.count * (e.value_min or 0) for e in lines)
    return bool(rejected) and failed > 0 and (rejected or 0) >= 0.7 * failed


def _jumped(facts: Facts, client: str, first: float, last: float) -> str | None:
    """What the card of a forwarding host shows, None where it shows nothing out of the ordinary."""
    host = actors.host_of(facts, client)
    usual = traffic.usual_factor(facts, host, 0, first) if host else None
    now = traffic.ratio(facts, host, first, last) if host else None
    if usual is None or now is None or now.factor is None or not FORWARDS[0] <= usual <= FORWARDS[1]:
        return None
    if now.factor < JUMP * usual:
        return None
    return f"the network card sent {now.factor:.3g} times what it received, {usual:.3g} times before"
