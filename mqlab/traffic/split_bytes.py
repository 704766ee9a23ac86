"""Bytes of a split loop: what left the host, what the broker threw away, and whether two ways of counting agree.

The ledger that the report draws has stages that add up, and names the samples behind them. For producers whose log is
not in the material the loop is told by counters alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import reduce

from mqlab import units, words
from mqlab.facts import Episode, Facts, Series
from mqlab.findings import Evidence, Stage, TrafficLedger
from mqlab.models import kafka_defaults
from mqlab.shared import actors, configured, counters, failures, flows
from mqlab.shared.wording import sample
from mqlab.traffic import card, payload
from mqlab.traffic import splits as traffic_splits
from mqlab.traffic.resending import IN_CLIENT
from mqlab.traffic.splits import LEAST_LIMIT, MANY, MOSTLY
from mqlab.units import Interval

say = words.room("split-bytes")


@dataclass(frozen=True, slots=True)
class Sums:
    """Bytes over the window; None where the material has no such counter."""

    card: counters.Ratio | None
    outgoing: float | None
    rejected: Interval | None
    """Between what the scrapes inside and outside tell."""
    accepted: Interval | None
    """Of this producer; None where others send to the topic too. In a gap of the scrapes it sent evenly."""
    oversize: Interval
    """At least the payloads, at most what left between the scrapes around them."""
    oversize_count: int
    healthy: float | None


def summed(facts: Facts, host: str | None, client: str, topic: str, span: tuple[float, float]) -> Sums:
    """What the counters say of the bytes between two moments."""
    start, end = span
    single = _oversize(facts, client, start, end)
    alone = actors.sole_producer(facts, client, topic)
    return Sums(
        counters.ratio(facts, host, start, end) if host else None,
        counters.rise(counters.of_client(facts, "producer.outgoing_bytes", client), start, end),
        _counted(facts, "broker.bytes_rejected", topic, start, end),
        _counted(facts, "broker.bytes_in", topic, start, end, counters.evenly) if alone else None,
        reduce(Interval.plus, (size for size, _ in single), Interval(0.0, 0.0, 0.0)),
        sum(count for _, count in single),
        counters.usual_factor(facts, host, 0, start) if host else None,
    )


Counting = Callable[[Sequence[Series], float, float, Mapping[str, float]], float | None]


def topic_bytes(
    facts: Facts, name: str, topic: str, start: float, end: float, counted: Counting = counters.rise
) -> float | None:
    """Bytes of *topic* over the window, on all brokers; of all topics where the exporter does not tell them apart."""
    every = facts.named(name)
    of_topic = [s for s in every if s.labels.get("topic") == topic]
    if not of_topic and topic != "?" and any(s.labels.get("topic") for s in every):
        return 0.0
    of_topic = of_topic or flows.all_topics(facts, name)
    if not of_topic:
        return None
    return counted(of_topic, start, end, counters.first_scrapes(facts))


def _counted(
    facts: Facts, name: str, topic: str, start: float, end: float, counted: Counting = counters.rise
) -> Interval | None:
    """Bytes of *topic* over the window, between those of the scrapes inside and outside of it."""
    known = topic_bytes(facts, name, topic, start, end, counted)
    if known is None:
        return None
    others = [topic_bytes(facts, name, topic, a, b) for a, b in counters.edges(facts.named(name), start, end)]
    return units.between(known, (o for o in others if o is not None))


def _oversize(facts: Facts, client: str, start: float, end: float) -> list[tuple[Interval, int]]:
    """(bytes on the wire, records) of single records over the limit in the window, sent once each.

    The log tells the payload; how often a record holds it (key and value), only the largest that the client counted.
    """
    own = counters.of_client(facts, "producer.record_size_max", client)
    biggest = max((v for s in own for _, v in s.points), default=0.0)
    outgoing = counters.of_client(facts, "producer.outgoing_bytes", client)
    found = []
    for one in failures.oversize(facts):
        if one.first_at is None or not start <= one.first_at <= end or one.reason == IN_CLIENT:
            continue
        if one.value_max and actors.client_of(facts, one) == client:
            told = one.value_max * one.count
            size = told * max(1, round(biggest / one.value_max))
            left = None if biggest else counters.rise(outgoing, one.first_at, one.last_at or one.first_at)
            found.append((Interval(size, size, left or size), one.count))
    return found


AGREE = 0.15
"""Two ways of counting the resent bytes agree within this share. Judgement, no default behind it: batches are not all
full, and scrapes miss a part of an interval at each end."""
LEAST_ON_CARD = 0.5
"""Share of the splits' least bytes that the card must show to be the card of that producer. Judgement, no default
behind it: of a short loop the scrapes may miss half."""

Window = tuple[int, int | None]
"""(least, most) bytes of a batch that splits into itself; most is None where batch.size is not known."""


@dataclass(frozen=True, slots=True)
class SplitLedger:
    """What a loop cost, as far as the material says."""

    host: str | None
    began: float | None
    """The first split; where the log starts in the middle, the rise of the traffic or of the counter."""
    started: float | None
    """Of the time whose traffic is counted, which a refused record begins that came with the batches."""
    ended: float | None
    count: int
    """Splits: lines of the log, or the counter where the log starts in the middle."""
    sums: Sums | None = None
    measures: Mapping[str, float] | None = None
    resent: float | None = None
    agrees: bool = False
    """The bytes are those of the splits."""
    ways: tuple[str, ...] = ()
    """How else the bytes of its batches come out."""

    @property
    def batch(self) -> float | None:
        """Mean bytes of one resent batch."""
        return self.resent / self.count if self.resent and self.count else None


def of_loop(facts: Facts, client: str, topic: str, splits: Sequence[Episode], window: Window | None) -> SplitLedger:
    """The ledger of the splits that *client* logged for *topic*."""
    host = _own_host(facts, client, splits, window)
    started, change = traffic_splits.started_at(facts, host, splits)
    first, ended = actors.span(splits)
    lines = sum(s.count for s in splits)
    if first is None and (rising := _rising(facts, client)):
        # Lines without a date are joined to the counter of the same client.
        started = first = rising[0][0]
        ended = rising[-1][1]
    if started is None or first is None or ended is None:
        return SplitLedger(host, started, started, ended, lines)
    count, told, within = lines, started, traffic_splits.begins_within(facts, splits)
    if within:
        counted = counters.rise(counters.of_client(facts, "producer.batch_splits", client), started, ended)
        count, told = (round(counted), started) if counted and counted > lines else (lines, first)
    calm_until = change.after if change else started
    sums = summed(facts, host, client, topic, (told, ended))
    resent, agrees, ways = _resent(sums, count, window)
    whole = sums if told == started else summed(facts, host, client, topic, (started, ended))
    measures = measured(facts, host, whole, (started, ended), calm_until)
    sources = {s.source for s in splits}
    measures |= payload.measures(facts, sources, measures.get("bytes_out"), started, ended)
    failed = failures.failed(facts, client, {topic} - {"?"}, started, ended)
    if failed and failed.records:
        measures["failed_records"] = failed.records
    if change is not None and within:
        measures["onset_uncertainty_seconds"] = change.before - change.after
    return SplitLedger(host, started if within else first, started, ended, count, sums, measures, resent, agrees, ways)


def _rising(facts: Facts, client: str) -> list[tuple[float, float, float]]:
    """(from, to, splits) between the samples in which the producer counted any."""
    own = counters.of_client(facts, "producer.batch_splits", client)
    return [step for step in counters.summed(own) if step[2] > 0]


def measured(
    facts: Facts, host: str | None, sums: Sums, span: tuple[float, float], calm_until: float
) -> dict[str, float]:
    """The measures of a loop between two moments; it was as usual until *calm_until*."""
    found: dict[str, float] = {}
    if sums.card is not None and host is not None:
        found |= card.measures(facts, host, sums.card, span, calm_until)
    elif sums.outgoing is not None:
        found["bytes_out"] = sums.outgoing
        if sums.accepted and sums.accepted.likely:
            found["amplification_factor"] = sums.outgoing / sums.accepted.likely
    if sums.rejected is not None:
        found |= sums.rejected.measures("bytes_rejected")
        if "healthy_factor" in found:  # What was rejected was sent for nothing, whether or not it came in before.
            wasted = _wasted(found, sums.rejected, sums.oversize)
            found = {name: value for name, value in found.items() if not name.startswith("excess_bytes")}
            found |= wasted.measures("excess_bytes") if wasted.likely > 0 else {}
    return found


def _less(rejected: Interval, single: Interval) -> Interval:
    """Bytes, such as those *rejected*, without *single* records over the limit, which no loop sent again."""
    least, likely, most = rejected.low - single.high, rejected.likely - single.likely, rejected.high - single.low
    return Interval(max(0.0, least), max(0.0, likely), max(0.0, most))


def _wasted(found: Mapping[str, float], rejected: Interval, single: Interval) -> Interval:
    """What left beyond the usual, at least what was *rejected*, at most all; without *single* records sent once."""
    beyond = (found.get(f"excess_bytes{end}", found.get("excess_bytes", 0.0)) for end in ("_low", "", "_high"))
    own, other = _less(rejected, single), _less(Interval(*beyond), single)
    all_of_it = (found.get(f"bytes_out{end}", found["bytes_out"]) for end in ("_low", "", "_high"))
    least, likely, most = (
        min(left, max(one, another))
        for left, one, another in zip(
            all_of_it, (own.low, own.likely, own.high), (other.low, other.likely, other.high), strict=True
        )
    )
    return Interval(least, likely, most)


def _own_host(facts: Facts, client: str, splits: Sequence[Episode], window: Window | None) -> str | None:
    """The producer's host, unless its card sent less than the splits must have."""
    host = actors.host_of(facts, client)
    first, last = actors.span(splits)
    if host is None or window is None or first is None or last is None:
        return host
    seen = counters.ratio(facts, host, first, last)
    least = LEAST_ON_CARD * window[0] * sum(s.count for s in splits)
    return None if seen is not None and seen.bytes_out < least else host


class Way(Enum):
    """How the bytes of resent batches are counted."""

    REJECTED = "rejected"
    CARD = "card"
    OUTGOING = "outgoing"


def _resent(sums: Sums, count: int, window: Window | None) -> tuple[float | None, bool, tuple[str, ...]]:
    """(bytes of resent batches, whether they agree with the splits, how else they come out)."""
    ways = _ways(sums)
    if not ways:
        return None, False, ()
    (way, best), each = ways[0], ways[0][1] / count
    fits = window is None or _within(each, window)
    if len(ways) == 1:
        between = bool(window and window[1] and fits)
        return best, fits and window is not None, (say("each", way=way, splits=count, batch=each, fits=between),)
    other_way, other = ways[1]
    differ = abs(other - best) / best
    told = (
        say("product", splits=count, batch=each, way=way),
        say("cross-check", way=other_way, bytes=other, differ=differ),
    )
    return best, fits and (window is not None or differ <= AGREE), told


def _within(each: float, window: Window) -> bool:
    least, most = window
    return least * (1 - AGREE) <= each <= (most or 10 * least) * (1 + AGREE)


def _ways(sums: Sums) -> list[tuple[Way, float]]:
    """Bytes of resent batches, by each way of counting them, the most direct first."""
    ways = []
    if sums.rejected is not None:
        ways.append((Way.REJECTED, sums.rejected.likely - sums.oversize.likely))
    needed = sums.accepted.likely if sums.accepted else None
    if sums.card is not None:
        if needed is None and sums.healthy is not None:
            needed = sums.healthy * sums.card.bytes_in
        if needed is not None:
            ways.append((Way.CARD, sums.card.bytes_out - needed - sums.oversize.likely))
    elif sums.outgoing is not None:
        ways.append((Way.OUTGOING, sums.outgoing - (needed or 0) - sums.oversize.likely))
    return [(way, value) for way, value in ways if value > 0]


def ledger(facts: Facts, found: SplitLedger) -> TrafficLedger | None:
    """Bytes in to bytes out of the producer's host; None without its network card."""
    sums, host = found.sums, found.host
    if sums is None or sums.card is None or host is None or found.started is None or found.ended is None:
        return None
    before = (found.measures or {}).get("healthy_factor")
    after = (found.measures or {}).get("factor_after")
    return card.ledger(host, sums.card, _stages(found), before, after, _gaps(facts, found.started, found.ended))


def _stages(found: SplitLedger) -> list[Stage]:
    sums = found.sums
    how = say("counters")
    stages = [card.stage("rejected-batches", say("resent"), found.resent or 0, AGREE / 3, how, found.ways)]
    if sums is not None and sums.accepted is not None:
        label = say("accepted", healthy=sums.healthy, **_bounds(sums.accepted))
        stages.append(card.stage("accepted", label, sums.accepted, 0.03, how, (say("bytes-in"),)))
    if sums is not None and sums.oversize.likely:
        records = sums.oversize_count
        label = say("oversize", records=records, several=records > 1, **_bounds(sums.oversize))
        stages.append(card.stage("oversize-records", label, sums.oversize, 0.02, how, (say("payload"),)))
    return stages


def _bounds(size: Interval) -> dict[str, float | None]:
    """What it is at least and at most, where that is more apart than a scrape at either end makes of most windows."""
    wide = size.high - size.low > size.likely
    return {"least": size.low, "most": size.high} if wide else {"least": None, "most": None}


def _gaps(facts: Facts, start: float, end: float) -> tuple[str, ...]:
    found = []
    for series in facts.named("producer.batch_splits"):
        client, seen = series.labels.get("client_id"), counters.increase([series], start, end)
        if client and seen and seen.resets:
            told = {"counter": series.original, "client": client, "times": seen.resets, "splits": round(seen.value)}
            found.append(say("scrapes-lost", **told))
    return tuple(found)


def evidence(facts: Facts, client: str, topic: str, found: SplitLedger) -> tuple[Evidence, ...]:
    """The samples that the numbers were counted from."""
    sums, end = found.sums, found.ended
    if sums is None or end is None:
        return ()
    told: list[Evidence] = []
    if sums.card is not None and found.host is not None:
        for direction in ("receive", "transmit"):
            for series in counters.card(facts, found.host, direction):
                told.append(sample(facts, series, sums.card.since, say("before", direction=direction)))
                told.append(sample(facts, series, sums.card.until, say("after", direction=direction)))
    rejected = [s for s in facts.named("broker.bytes_rejected") if s.labels.get("topic") == topic and s.points]
    told += [sample(facts, s, end, say("thrown")) for s in rejected]
    own = [s for s in counters.of_client(facts, "producer.record_retries", client) if s.points]
    told += [sample(facts, s, end, say("retries" if any(v for _, v in s.points) else "no-retry")) for s in own]
    return tuple(told)


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """A loop of which only counters tell."""

    client: str
    topic: str
    count: float
    """Splits, as the producer counts them."""
    ledger: SplitLedger
    splits: tuple[Series, ...]
    ongoing: bool


def counted_loops(facts: Facts, logged: frozenset[str]) -> list[CountedLoop]:
    """One for each client, other than those that *logged* their splits, whose counters tell of a loop."""
    named = {s.labels.get("client_id") or "" for s in facts.named("producer.batch_splits")}
    found = [_of_client(facts, client) for client in sorted(named - logged - {""})]
    return [loop for loop in found if loop is not None]


def _of_client(facts: Facts, client: str) -> CountedLoop | None:
    own = counters.of_client(facts, "producer.batch_splits", client)
    steps = _rising(facts, client)
    count = sum(v for _, _, v in steps)
    if count < MANY or kafka_defaults.loops(configured.version_of(facts, client)) is False:
        return None
    start, end = steps[0][0], steps[-1][1]
    topic = _topic(facts, client, start, end)
    host = actors.host_of(facts, client)
    sums = summed(facts, host, client, topic, (start, end))
    if not _mostly_splits(facts, topic, sums, count, start):
        return None
    measures = measured(facts, host, sums, (start, end), start) | {"split_count": count}
    ledger = SplitLedger(host, start, start, end, round(count), sums, measures)
    return CountedLoop(client, topic, count, ledger, tuple(own), _goes_on(own, end))


def _goes_on(own: list[Series], end: float) -> bool:
    """True where the counter rose up to its last sample."""
    return all(s.points[-1][0] <= end for s in own if s.points)


def _topic(facts: Facts, client: str, start: float, end: float) -> str:
    """The only topic the client sends to, or the only one of them with rejected bytes."""
    own = [s for s in facts.series if s.name.startswith("producer.topic_") and s.labels.get("client_id") == client]
    named = {topic for s in own if (topic := s.labels.get("topic"))}
    if len(named) == 1:
        return named.pop()
    thrown = {
        topic
        for s in facts.named("broker.bytes_rejected")
        if (topic := s.labels.get("topic")) and (not named or topic in named)
        if topic_bytes(facts, "broker.bytes_rejected", topic, start, end)
    }
    return thrown.pop() if len(thrown) == 1 else "?"


def _mostly_splits(facts: Facts, topic: str, sums: Sums, count: float, start: float) -> bool:
    """True where a good part of what left were batches that were split; a wrong estimate splits few of many."""
    known = configured.limit(facts, topic, start)
    least = known.number if known and known.number else LEAST_LIMIT
    left = sums.outgoing if sums.outgoing is not None else (sums.card.bytes_out if sums.card else None)
    if left is not None:
        return left > 0 and count * least * MOSTLY >= left >= count * least * LEAST_ON_CARD
    thrown = sums.rejected.likely if sums.rejected else 0.0
    return thrown > 0 and sums.accepted is not None and thrown >= sums.accepted.likely
