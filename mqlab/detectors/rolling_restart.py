"""Brokers are restarted one after another, each once: a deploy or an upgrade.

Fires: at least two brokers of one cluster stopped in good order and came back, one at a time.
Quiet: one broker that comes back again and again, or brokers that are down together.
"""

from __future__ import annotations

from collections import defaultdict

from mqlab.benign import notice
from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Episode, Facts
from mqlab.wording import clock

INCIDENT = "rolling-restart"

BACK = 900.0
"""Seconds within which a stopped broker belongs to the start that follows."""

Outage = tuple[float, float, Episode, Episode]


def detect(facts: Facts) -> Result:
    """One notice for a restart that went from broker to broker."""
    if not facts.of_kind("broker-started", "broker-stopping", "broker-stopped"):
        known = any(c.format == "kafka-broker-log" for c in facts.coverage)
        return CLEAR if known else Result(missing=("server.log of the brokers",))
    outages = {source: found for source, found in _outages(facts).items() if found}
    if not outages:
        return CLEAR
    each = sorted((o for found in outages.values() for o in found), key=lambda o: o[0])
    if len(outages) < 2:
        return Result(rejected=f"one broker restarted {len(each)} time(s), no other did")
    if any(len(found) > 1 for found in outages.values()):
        return Result(rejected="a broker restarted more than once")
    if any(later[0] < earlier[1] for earlier, later in zip(each, each[1:], strict=False)):
        return Result(rejected="brokers were down at the same time")
    start, end = each[0][0], each[-1][1]
    longest = max(b - a for a, b, _, _ in each)
    return Result(
        (
            notice(
                INCIDENT,
                "brokers",
                start,
                end,
                f"{len(each)} brokers were restarted one after another between {clock(start)} and {clock(end)} UTC, each once "
                f"and in good order{_versions(facts, start)}. The longest was away for {longest:.0f} s.",
                {"brokers": float(len(each)), "longest_outage_seconds": longest},
                tuple(place for _, _, stop, back in each for place in (stop.first, back.first)),
                "UnderReplicatedPartitions = 0, and every broker prints \"started\" once.",
            ),
        )
    )


def _outages(facts: Facts) -> dict[str, list[Outage]]:
    """Orderly stops that were followed by a start, by the log they stand in."""
    stops, starts = defaultdict(list), defaultdict(list)
    for episode in facts.of_kind("broker-stopping", "broker-stopped", "broker-started"):
        if episode.first_at is not None:
            (starts if episode.kind == "broker-started" else stops)[episode.source].append(episode)
    found: dict[str, list[Outage]] = {}
    for source, back in starts.items():
        found[source] = []
        for start in back:
            at = start.first_at or 0.0
            before = [s for s in stops[source] if s.first_at is not None and 0 < at - s.first_at <= BACK]
            if before:
                found[source].append((before[0].first_at or 0.0, at, before[0], start))
    return found


def _versions(facts: Facts, start: float) -> str:
    sources = {e.source for e in facts.of_kind("broker-started")}
    printed = [e for e in facts.of_kind("client-version") if e.source in sources and e.reason]
    before = sorted({e.reason for e in printed if e.first_at is not None and e.first_at < start and e.reason})
    after = sorted({e.reason for e in printed if e.first_at is not None and e.first_at >= start and e.reason})
    return f" ({', '.join(before)} -> {', '.join(after)})" if before and after and before != after else ""
