"""Flows through the brokers: what came in, what went out, to whom, over windows in which all were scraped.

Broker metrics first; where they are missing or have gaps, the producers' and consumers' own counters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from mqlab import actors, traffic
from mqlab.facts import Facts, Series

WINDOWS = 8
"""Pieces into which the material's time is cut to see a change."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Bytes through the brokers over one window; None where no counter covers it."""

    since: float
    until: float
    came_in: float | None
    went_out: float | None
    replicated: float | None
    consumers: int
    """Groups that received anything; a client whose group is not known counts as one of its own."""

    @property
    def out_per_in(self) -> float | None:
        """Bytes to consumers over bytes from producers."""
        return self.went_out / self.came_in if self.came_in and self.went_out is not None else None

    @property
    def copies_per_in(self) -> float | None:
        """Bytes copied between brokers over bytes from producers."""
        return self.replicated / self.came_in if self.came_in and self.replicated is not None else None


def flows(facts: Facts) -> list[Flow]:
    """The material's time in equal pieces of at least three scrapes."""
    measured = [*_in(facts), *_out(facts)]
    if not measured:
        return []
    step = traffic.scrape(measured) or 10.0
    start, end = min(s.points[0][0] for s in measured), max(s.points[-1][0] for s in measured)
    pieces = max(1, min(WINDOWS, int((end - start) / (3 * step))))
    edges = [start + (end - start) * n / pieces for n in range(pieces + 1)]
    return [flow(facts, a, b) for a, b in pairwise(edges)]


def flow(facts: Facts, since: float, until: float) -> Flow:
    """What moved between two moments."""
    groups = actors.groups(facts)
    reading = set()
    for one in _consumed(facts):
        client = one.labels.get("client_id") or ""
        found = traffic.increase([one], since, until)
        if found and found.value > 0:
            reading.add(groups.get(client, client))
    return Flow(
        since,
        until,
        _sum(_in(facts), since, until),
        _sum(_out(facts), since, until),
        _sum(all_topics(facts, "broker.replication_bytes_in"), since, until),
        len(reading),
    )


def all_topics(facts: Facts, name: str) -> list[Series]:
    """The broker counters called *name* that add up all topics."""
    series = [s for s in facts.named(name) if s.labels.get("topic") in (None, "")]
    return series or [s for s in facts.named(name) if not str(s.labels.get("topic")).startswith("__")]


def _consumed(facts: Facts) -> list[Series]:
    return list(facts.named("consumer.bytes_consumed"))


def _in(facts: Facts) -> list[Series]:
    """Bytes from producers: their own counters where every host that sends has them, else the brokers'."""
    broker, own = all_topics(facts, "broker.bytes_in"), list(facts.named("producer.outgoing_bytes"))
    return own if own and _gappy(facts, broker) else broker or own


def _out(facts: Facts) -> list[Series]:
    broker, own = all_topics(facts, "broker.bytes_out"), _consumed(facts)
    return own if own and _gappy(facts, broker) else broker or own


def _gappy(facts: Facts, series: Sequence[Series]) -> bool:
    """True where the exporter behind *series* failed for a good part of the time."""
    if not series:
        return True
    instances = {s.labels.get("instance") for s in series}
    ups = [v for s in facts.named("up") if s.labels.get("instance") in instances for _, v in s.points]
    return bool(ups) and sum(v < 1 for v in ups) > len(ups) / 10


def _sum(series: Sequence[Series], since: float, until: float) -> float | None:
    found = traffic.increase(series, since, until)
    return found.value if found else None


@dataclass(frozen=True, slots=True)
class Shift:
    """A ratio that stood at one level before and at another after, with the windows on both sides."""

    before: float
    after: float
    at: float
    """Start of the first window at the new level."""
    until: float
    """End of the last window at the new level."""


def shift(values: Sequence[tuple[float, float, float | None]], least: float = 1.5) -> Shift | None:
    """The lasting rise of a ratio, cut where the means on both sides differ most for their number of windows."""
    known = [(a, b, v) for a, b, v in values if v is not None]
    levels = [v for _, _, v in known]
    if len(known) < 2:
        return None
    cut = max(range(1, len(known)), key=lambda n: n * (len(known) - n) * (fmean(levels[n:]) - fmean(levels[:n])) ** 2)
    before, after = median(levels[:cut]), median(levels[cut:])
    if after < least * before or after - before < 0.3:
        return None
    return Shift(before, after, known[cut][0], known[-1][1])


def brokers_card(facts: Facts, since: float, until: float) -> traffic.Ratio | None:
    """In and out of all broker hosts' network cards."""
    found = [r for h in sorted(actors.broker_hosts(facts)) if (r := traffic.ratio(facts, h, since, until))]
    if not found:
        return None
    return traffic.Ratio(sum(r.bytes_in for r in found), sum(r.bytes_out for r in found), found[0].since, found[0].until)
