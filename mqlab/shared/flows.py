"""Flows through the brokers: what came in, what went out, to whom, over windows in which all were scraped.

Broker metrics first; where they are missing or have gaps, the card of the only broker, then the clients' counters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab.facts import Facts, Series
from mqlab.rows import GRID
from mqlab.shared import actors, counters
from mqlab.units import Interval, between

WINDOWS = 8
"""Pieces into which the material's time is cut to see a change."""
BUSY = 0.1
"""Share of the busiest window's input below which a window's ratios mean nothing: producers were not running."""
GAPPY = 0.1
"""Share of failed scrapes from which another place to count at is better. Judgement, no default behind it: a rate over
ten scrapes then spans a hole."""
HOPELESS = 0.5
"""Share of failed scrapes from which windows cannot be compared: more is missing than there."""
WARM = 0.2
"""Bytes out over bytes in below which nobody reads yet: consumers start after producers."""


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
    in_per_second: float | None
    """``came_in`` over the time between its samples: those around the window are further apart than its ends."""

    @property
    def out_per_in(self) -> float | None:
        """Bytes to consumers over bytes from producers."""
        return self.went_out / self.came_in if self.came_in and self.went_out is not None else None

    @property
    def copies_per_in(self) -> float | None:
        """Bytes copied between brokers over bytes from producers."""
        return self.replicated / self.came_in if self.came_in and self.replicated is not None else None


def flows(facts: Facts) -> list[Flow]:
    """The material's time in equal pieces of at least three scrapes, without those in which nothing was produced."""
    measured = [s for pair in _measured(facts) for s in pair if s.points]
    if not measured:
        return []
    found = [flow(facts, a, b) for a, b in windows(measured)]
    busiest = max((f.came_in or 0.0 for f in found), default=0.0)
    return [f for f in found if (f.came_in or 0.0) >= BUSY * busiest]


def windows(series: Sequence[Series]) -> list[tuple[float, float]]:
    """The time of *series* in at most ``WINDOWS`` equal pieces of at least three scrapes."""
    start, end = min(s.points[0][0] for s in series), max(s.points[-1][0] for s in series)
    count = max(1, min(WINDOWS, int((end - start) / (3 * (counters.scrape(series) or GRID)))))
    return list(pairwise(start + (end - start) * n / count for n in range(count + 1)))


def warm(pieces: Sequence[Flow]) -> list[Flow]:
    """*pieces* from the moment on at which somebody reads; all of them where they are read from the start."""
    first = next((n for n, p in enumerate(pieces) if (p.out_per_in or 0.0) >= WARM), len(pieces))
    return list(pieces[first + 1 :] if first else pieces)


def readers(facts: Facts, piece: Flow) -> int | None:
    """Groups that read during *piece*: by the consumers' counters, else those that joined or were described by then."""
    if piece.consumers or _consumed(facts):
        return piece.consumers
    known = {p.group for p in facts.positions if p.group and (p.at is None or p.at <= piece.until)}
    joined = facts.of_kind("rebalance-started")
    known |= {e.group for e in joined if e.group and e.first_at is not None and e.first_at <= piece.until}
    return len(known) or None


def flow(facts: Facts, since: float, until: float) -> Flow:
    """What moved between two moments."""
    came, left = _measured(facts)
    rose = counters.increase(came, since, until)
    return Flow(
        since,
        until,
        rose.value if rose else None,
        counters.rise(left, since, until),
        counters.rise(all_topics(facts, "broker.replication_bytes_in"), since, until),
        len(_reading(facts, since, until)),
        rose.per_second if rose else None,
    )


def bounds(facts: Facts, since: float, until: float) -> tuple[Interval | None, Interval | None]:
    """Bytes that came in and went out between two moments, each between what the scrapes around these allow."""
    came, left = _measured(facts)
    found = []
    for series in (came, left):
        known = counters.rise(series, since, until)
        others = [counters.rise(series, a, b) for a, b in counters.edges(series, since, until)]
        found.append(None if known is None else between(known, (o for o in others if o is not None)))
    return found[0], found[1]


def _reading(facts: Facts, since: float, until: float) -> set[str]:
    groups, reading = actors.groups(facts), set[str]()
    for one in _consumed(facts):
        if counters.rise([one], since, until):
            client = one.labels.get("client_id") or ""
            reading |= {own} if (own := one.labels.get("group")) else groups.get(client, {client})
    return reading


def all_topics(facts: Facts, name: str) -> list[Series]:
    """The broker counters called *name* that add up all topics."""
    series = [s for s in facts.named(name) if s.labels.get("topic") in (None, "")]
    return series or [s for s in facts.named(name) if not str(s.labels.get("topic")).startswith("__")]


def nothing_rejected(facts: Facts) -> bool:
    """True where the brokers count rejected bytes and counted none: no batch was too large for them."""
    counted = [s for s in all_topics(facts, "broker.bytes_rejected") if len(s.points) > 1]
    return bool(counted) and not any(v for _, _, v in counters.summed(counted))


def _consumed(facts: Facts) -> list[Series]:
    """Bytes received per reader: totals of each client where its exporter tells both totals and topics."""
    every = facts.named("consumer.bytes_consumed")
    whole = {s.labels.get("client_id") for s in every if not s.labels.get("topic")}
    return [s for s in every if not s.labels.get("topic") or s.labels.get("client_id") not in whole]


def _measured(facts: Facts) -> tuple[list[Series], list[Series]]:
    """(bytes in, bytes out), both counted at the same place: brokers, the only broker's card, or the clients.

    A consumer's bytes-consumed-total counts records after decompression: it is no traffic where producers compress.
    """
    broker = all_topics(facts, "broker.bytes_in"), all_topics(facts, "broker.bytes_out")
    hosts = sorted(actors.broker_hosts(facts))
    card = [counters.card(facts, hosts[0], way) for way in ("receive", "transmit")] if len(hosts) == 1 else [[], []]
    wire, plain = list(facts.named("consumer.incoming_bytes")), [] if _compressed(facts) else _consumed(facts)
    own = list(facts.named("producer.outgoing_bytes")), wire or plain
    pairs = [pair for pair in (broker, (card[0], card[1]), own) if all(pair)]
    lost = [max(_lost(facts, pair[0]), _lost(facts, pair[1])) for pair in pairs]
    whole = [pair for pair, share in zip(pairs, lost, strict=True) if share <= GAPPY]
    poor = [pair for pair, share in zip(pairs, lost, strict=True) if share <= HOPELESS]
    return (*whole, *poor, ([], []))[0]


def _compressed(facts: Facts) -> bool:
    return any(
        s.scope == "producer" and s.key == "compression.type" and s.value not in ("none", "") for s in facts.settings
    )


def _lost(facts: Facts, series: Sequence[Series]) -> float:
    """Share of the scrapes of the exporters behind *series* that failed."""
    instances = {s.labels.get("instance") for s in series}
    ups = [v for s in facts.named("up") if s.labels.get("instance") in instances for _, v in s.points]
    return sum(v < 1 for v in ups) / len(ups) if ups else 0.0


def brokers_card(facts: Facts, since: float, until: float) -> counters.Ratio | None:
    """In and out of all broker hosts' network cards."""
    found = [r for h in sorted(actors.broker_hosts(facts)) if (r := counters.ratio(facts, h, since, until))]
    if not found:
        return None
    return counters.Ratio(
        sum(r.bytes_in for r in found), sum(r.bytes_out for r in found), found[0].since, found[0].until
    )
