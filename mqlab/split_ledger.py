"""Bytes of a split loop: what left the host, what the broker threw away, and whether two ways of counting agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mqlab import actors, split_evidence, traffic, units
from mqlab.facts import Episode, Facts, Series
from mqlab.findings import Certainty, Evidence, Finding, Severity, Stage, TrafficLedger
from mqlab.wording import clock, instant, moment, sample

_PAST = {"receive": "received", "transmit": "transmitted"}
AGREE = 0.15
"""Two ways of counting the resent bytes agree within this share."""


@dataclass(frozen=True, slots=True)
class SplitLedger:
    """What a loop cost, as far as the material says."""

    started: float | None
    measures: Mapping[str, float]
    batch: float | None
    """Mean bytes of one resent batch."""
    agrees: bool
    """The bytes are those of the splits."""
    second_way: str
    traffic: TrafficLedger | None
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class _Sums:
    """Bytes over the window; None where the material has no such counter."""

    card: traffic.Ratio | None
    outgoing: float | None
    rejected: float | None
    accepted: float | None
    oversize: float
    oversize_count: int
    healthy: float | None


def of_loop(
    facts: Facts, client: str, topic: str, splits: Sequence[Episode], window: tuple[int, int] | None
) -> SplitLedger:
    """The ledger of the splits that *client* logged for *topic*; *window* is (limit, batch.size]."""
    host = actors.host_of(facts, client)
    started, change = split_evidence.started_at(facts, host, splits)
    ended = max((s.last_at for s in splits if s.last_at is not None), default=None)
    count = sum(s.count for s in splits)
    if started is None or ended is None:
        return SplitLedger(started, {}, None, False, "", None, ())
    sums = _sums(facts, host, client, topic, started, ended)
    resent, agrees, second = _resent(sums, count, window)
    measures = _measures(facts, host, sums, started, ended, change)
    ledger = _traffic(facts, host, sums, resent, second, started, ended)
    evidence = _evidence(facts, host, topic, sums, started, ended)
    return SplitLedger(started, measures, resent / count if resent else None, agrees, second, ledger, evidence)


def _sums(facts: Facts, host: str | None, client: str, topic: str, start: float, end: float) -> _Sums:
    own = [s for s in facts.named("producer.outgoing_bytes") if s.labels.get("client_id") == client]
    outgoing = traffic.increase(own, start, end)
    single = _oversize(facts, client, start, end)
    healthy = None
    if host:
        healthy = traffic.usual_factor(facts, host, 0, start)
    return _Sums(
        traffic.ratio(facts, host, start, end) if host else None,
        outgoing.value if outgoing else None,
        _topic_bytes(facts, "broker.bytes_rejected", topic, start, end),
        _topic_bytes(facts, "broker.bytes_in", topic, start, end),
        sum(size for size, _ in single),
        sum(count for _, count in single),
        healthy,
    )


def _topic_bytes(facts: Facts, name: str, topic: str, start: float, end: float) -> float | None:
    """Bytes of *topic* over the window, on all brokers; of all topics where the exporter does not tell them apart."""
    series = facts.named(name)
    of_topic = [s for s in series if s.labels.get("topic") == topic] or [s for s in series if "topic" not in s.labels]
    if not of_topic:
        return None
    found = traffic.increase(of_topic, start, end, traffic.first_scrape(facts, of_topic[0]))
    return found.value if found else None


def _oversize(facts: Facts, client: str, start: float, end: float) -> list[tuple[float, int]]:
    """(bytes on the wire, records) of single records over the limit in the window, sent once each."""
    biggest = max((v for s in facts.named("producer.record_size_max") if s.labels.get("client_id") == client
                   for _, v in s.points), default=0.0)  # fmt: skip
    found = []
    for episode in facts.of_kind("record-too-large"):
        inside = episode.first_at is not None and start <= episode.first_at <= end
        if inside and actors.client_of(facts, episode) == client and episode.value_max and episode.reason != "when serialized":
            copies = round(biggest / episode.value_max) if biggest > episode.value_max else 1
            found.append((episode.value_max * max(1, copies) * episode.count, episode.count))
    return found


def _resent(sums: _Sums, count: int, window: tuple[int, int] | None) -> tuple[float | None, bool, str]:
    """(bytes of resent batches, whether they agree with the splits, the second way in words)."""
    ways = []
    if sums.rejected is not None and sums.rejected > sums.oversize:
        ways.append(("rejected by the broker", sums.rejected - sums.oversize))
    if sums.card is not None:
        needed = sums.accepted if sums.accepted is not None else (sums.healthy or 1.0) * sums.card.bytes_in
        ways.append(("network card less accepted", sums.card.bytes_out - needed - sums.oversize))
    elif sums.outgoing is not None and sums.accepted is not None:
        ways.append(("producer's outgoing bytes less accepted", sums.outgoing - sums.accepted - sums.oversize))
    ways = [(name, value) for name, value in ways if value > 0]
    if not ways:
        return None, False, ""
    (name, best), each = ways[0], ways[0][1] / count
    fits = window is None or window[0] * (1 - AGREE) <= each <= window[1] * (1 + AGREE)
    if len(ways) == 1:
        between = f", between limit and batch.size" if window and fits else ""
        return best, fits and window is not None, f"{name} / {count} splits = {units.size(each)} a batch{between}"
    other_name, other = ways[1]
    differ = abs(other - best) / best
    words = f"{count} lines x {units.size(each)} = {name}; {other_name}: {units.size(other)}, differs {differ:.1%}"
    return best, fits and (window is not None or differ <= AGREE), words


def _measures(
    facts: Facts, host: str | None, sums: _Sums, start: float, end: float, change: traffic.ChangePoint | None
) -> dict[str, float]:
    found: dict[str, float] = {}
    if sums.card is not None and host is not None:
        found |= {"bytes_in": sums.card.bytes_in, "bytes_out": sums.card.bytes_out}
        if sums.card.factor is not None:
            found["amplification_factor"] = sums.card.factor
        if sums.healthy is not None:
            found["healthy_factor"] = sums.healthy
            found["excess_bytes"] = sums.card.bytes_out - sums.healthy * sums.card.bytes_in
        top = traffic.peak(facts, host, start, end)
        if top and top.factor is not None:
            found["peak_amplification_factor"] = top.factor
        after = traffic.usual_factor(facts, host, end + traffic.PEAK, float("inf"))
        if after is not None:
            found["factor_after"] = after
    elif sums.outgoing is not None:
        found["bytes_out"] = sums.outgoing
        if sums.accepted:
            found["amplification_factor"] = sums.outgoing / sums.accepted
    if sums.rejected is not None:
        found["bytes_rejected"] = sums.rejected
    if change is not None:
        found["onset_uncertainty_seconds"] = change.before - change.after
    return found


def _traffic(
    facts: Facts, host: str | None, sums: _Sums, resent: float | None, second: str, start: float, end: float
) -> TrafficLedger | None:
    if sums.card is None or host is None:
        return None
    stages = [_stage("rejected-batches", "rejected batches resent", resent or 0, AGREE / 3, second)]
    if sums.accepted is not None:
        doubled = sums.healthy is not None and 1.8 <= sums.healthy <= 2.3
        note = f" (out/in was {sums.healthy:.3g} before: every payload leaves about twice)" if doubled else ""
        stages.append(_stage("accepted", f"accepted by the broker{note}", sums.accepted, 0.03, "broker bytes in"))
    if sums.oversize:
        label = f"{sums.oversize_count} oversize record{'s' if sums.oversize_count != 1 else ''}, sent once each"
        stages.append(_stage("oversize-records", label, sums.oversize, 0.02, "payload in the log x copies a record"))
    rest = sums.card.bytes_out - sum(s.bytes for s in stages)
    stages.append(Stage("unexplained", "UNEXPLAINED (scrape edges, framing)", round(rest), round(rest), round(rest), "rest"))
    gaps = tuple(
        f"{s.original} of {client} saw {seen:.0f} of its splits: scrapes lost at restarts"
        for s in facts.named("producer.batch_splits")
        if (client := s.labels.get("client_id")) and (found := traffic.increase([s], start, end)) and found.resets
        for seen in [found.value]
    )
    how = f"network card of {host}, {clock(sums.card.since)} to {clock(sums.card.until)} UTC"
    return TrafficLedger(
        host, how, instant(sums.card.since), instant(sums.card.until),
        round(sums.card.bytes_in), round(sums.card.bytes_out), tuple(stages),
        sums.healthy, traffic.usual_factor(facts, host, end + traffic.PEAK, float("inf")), gaps,
    )  # fmt: skip


def _stage(name: str, label: str, size: float, off: float, second: str) -> Stage:
    return Stage(name, label, round(size), round(size * (1 - off)), round(size * (1 + off)), "counters", second or None)


def _evidence(
    facts: Facts, host: str | None, topic: str, sums: _Sums, start: float, end: float
) -> tuple[Evidence, ...]:
    found: list[Evidence] = []
    if sums.card is not None and host is not None:
        for direction in ("receive", "transmit"):
            for series in traffic.card(facts, host, direction):
                found.append(sample(facts, series, sums.card.since, f"bytes {_PAST[direction]} before"))
                found.append(sample(facts, series, sums.card.until, f"bytes {_PAST[direction]} after"))
    rejected = [s for s in facts.named("broker.bytes_rejected") if s.labels.get("topic") == topic]
    found += [sample(facts, s, end, "bytes that the broker threw away") for s in rejected]
    retries = facts.named("producer.record_retries")
    found += [sample(facts, s, end, "no retry was used") for s in retries if not any(v for _, v in s.points)]
    return tuple(found)


def from_counters(facts: Facts, client: str, own: Sequence[Series], incident: str, many: int) -> Finding | None:
    """The loop as counters alone show it: many splits, no retries, rejected bytes between them and the limit."""
    steps = [(a, b, v) for a, b, v in traffic.summed(own) if v > 0]
    if not steps or sum(v for _, _, v in steps) < many:
        return None
    start, end, count = steps[0][0], steps[-1][1], sum(v for _, _, v in steps)
    topics = sorted({s.labels.get("topic") or "" for s in facts.named("producer.topic_bytes")
                     if s.labels.get("client_id") == client} - {""})  # fmt: skip
    topic = topics[0] if len(topics) == 1 else "?"
    rejected = _topic_bytes(facts, "broker.bytes_rejected", topic, start, end)
    accepted = _topic_bytes(facts, "broker.bytes_in", topic, start, end)
    if rejected is None or accepted is None or rejected < accepted:
        return None
    host = actors.host_of(facts, client)
    sums = _sums(facts, host, client, topic, start, end)
    return Finding(
        f"{incident}:{client}/{topic}", incident, Severity.CRITICAL, Certainty.LIKELY, f"{client} -> {topic}",
        moment(start), moment(end), False,
        f"{client} split batches {count:.0f} times while the broker rejected {units.size(rejected)} and accepted "
        f"{units.size(accepted)}. The counters fit batches that are split into themselves; the client's log would prove it.",
        _measures(facts, host, sums, start, end, None) | {"split_count": count},
        tuple(sample(facts, s, end, "splits counted by the producer") for s in own)
        + _evidence(facts, host, topic, sums, start, end),
        ("log-explosion",), "Set batch.size below the topic's max.message.bytes; side effect: more, smaller requests.",
        "Keep batch.size within max.message.bytes; upgrade the client.", "batch-split-total stands still.",
    )  # fmt: skip
