"""The ledger of a split loop as the report draws it: stages that add up, and the samples behind them."""

from __future__ import annotations

from mqlab.amplification.split_ledger import AGREE, SplitLedger
from mqlab.amplification.split_sums import title
from mqlab.facts import Facts
from mqlab.findings import Evidence, Stage, TrafficLedger
from mqlab.questions import traffic
from mqlab.questions.wording import instant, sample

_TWICE = (1.8, 2.3)
"""Bytes out over bytes in before the loop, of a host that sends each payload about twice."""
_PAST = {"receive": "received", "transmit": "transmitted"}
_RETRIES = {True: "retries, as the producer counts", False: "no retry was used"}


def ledger(facts: Facts, found: SplitLedger) -> TrafficLedger | None:
    """Bytes in to bytes out of the producer's host; None without its network card."""
    sums, host = found.sums, found.host
    if sums is None or sums.card is None or host is None or found.started is None or found.ended is None:
        return None
    stages = _stages(found)
    rest = round(sums.card.bytes_out) - sum(s.bytes for s in stages)
    stages.append(Stage("unexplained", "UNEXPLAINED (scrape edges, framing)", rest, rest, rest, "rest"))
    return TrafficLedger(
        host,
        title(sums, host),
        instant(sums.card.since),
        instant(sums.card.until),
        round(sums.card.bytes_in),
        round(sums.card.bytes_out),
        tuple(stages),
        (found.measures or {}).get("healthy_factor"),
        traffic.usual_factor(facts, host, found.ended + traffic.PEAK, float("inf")),
        _gaps(facts, found.started, found.ended),
    )


def _stages(found: SplitLedger) -> list[Stage]:
    sums = found.sums
    stages = [_stage("rejected-batches", "rejected batches resent", found.resent or 0, AGREE / 3, found.second_way)]
    if sums is not None and sums.accepted is not None:
        doubled = sums.healthy is not None and _TWICE[0] <= sums.healthy <= _TWICE[1]
        note = f" (out/in was {sums.healthy:.3g} before: every payload leaves about twice)" if doubled else ""
        stages.append(_stage("accepted", f"accepted by the broker{note}", sums.accepted, 0.03, "broker bytes in"))
    if sums is not None and sums.oversize:
        label = f"{sums.oversize_count} oversize record{'s' if sums.oversize_count != 1 else ''}, sent once each"
        second = "payload in the log x copies a record"
        stages.append(_stage("oversize-records", label, sums.oversize, 0.02, second))
    return stages


def _stage(name: str, label: str, size: float, off: float, second: str) -> Stage:
    return Stage(name, label, round(size), round(size * (1 - off)), round(size * (1 + off)), "counters", second or None)


def _gaps(facts: Facts, start: float, end: float) -> tuple[str, ...]:
    found = []
    for series in facts.named("producer.batch_splits"):
        client, seen = series.labels.get("client_id"), traffic.increase([series], start, end)
        if client and seen and seen.resets:
            found.append(f"{series.original} of {client} saw {seen.value:.0f} of its splits: scrapes lost at restarts")
    return tuple(found)


def evidence(facts: Facts, client: str, topic: str, found: SplitLedger) -> tuple[Evidence, ...]:
    """The samples that the numbers were counted from."""
    sums, end = found.sums, found.ended
    if sums is None or end is None:
        return ()
    told: list[Evidence] = []
    if sums.card is not None and found.host is not None:
        for direction, past in _PAST.items():
            for series in traffic.card(facts, found.host, direction):
                told.append(sample(facts, series, sums.card.since, f"bytes {past} before"))
                told.append(sample(facts, series, sums.card.until, f"bytes {past} after"))
    rejected = [s for s in facts.named("broker.bytes_rejected") if s.labels.get("topic") == topic and s.points]
    told += [sample(facts, s, end, "bytes that the broker threw away") for s in rejected]
    own = [s for s in facts.named("producer.record_retries") if s.labels.get("client_id") == client and s.points]
    told += [sample(facts, s, end, _RETRIES[any(v for _, v in s.points)]) for s in own]
    return tuple(told)
