"""Rates from counters: what every traffic figure starts with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from mqlab.facts import Facts, Series
from mqlab.figures.thinning import thinned

_PAIRS = (
    ("host.receive_bytes", "host.transmit_bytes"),
    ("broker.bytes_in", "broker.bytes_out"),
    ("consumer.incoming_bytes", "producer.outgoing_bytes"),
    ("mqtt.bytes_received", "mqtt.bytes_sent"),
)
"""Network card first, since it sees everything that leaves; then brokers, then clients, then brokers of MQTT."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Bytes per second between two samples."""

    since: float
    at: float
    value: float


@dataclass(frozen=True, slots=True)
class Traffic:
    """What went into and out of one host."""

    host: str
    incoming: Series | None
    outgoing: Series | None


def traffic_of(facts: Facts, host: str | None) -> Traffic | None:
    """The counters of this host, or else of the host that sent most."""
    for incoming, outgoing in _PAIRS:
        senders = [s for s in facts.named(outgoing) if s.host == host] or list(facts.named(outgoing))
        chosen = max(senders, key=_preference, default=None)
        if chosen is not None:
            receivers = [s for s in facts.named(incoming) if s.host == chosen.host and _device(s) == _device(chosen)]
            return Traffic(chosen.host or chosen.source, max(receivers, key=_preference, default=None), chosen)
    return None


def rates(series: Series | None) -> tuple[Rate, ...]:
    """Increase per second between samples; a counter that fell began again at zero."""
    if series is None:
        return ()
    return tuple(
        Rate(t0, t1, (v1 - v0 if v1 >= v0 else v1) / (t1 - t0))
        for (t0, v0), (t1, v1) in pairwise(series.points)
        if t1 > t0
    )


def drawn_rates(series: Series | None) -> tuple[Rate, ...]:
    """The rates, thinned for drawing; peaks stay."""
    return thinned(rates(series), value=lambda rate: rate.value)


def gaps(series: Iterable[Series | None]) -> tuple[tuple[float, float], ...]:
    """Stretches without samples, where a series usually has some; overlapping ones joined."""
    found = sorted(gap for one in series if one is not None for gap in _gaps(one))
    joined: list[tuple[float, float]] = []
    for start, end in found:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _gaps(series: Series) -> list[tuple[float, float]]:
    steps = [later - earlier for (earlier, _), (later, _) in pairwise(series.points)]
    usual = median(steps) if steps else 0
    missing = [(a, b) for (a, _), (b, _) in pairwise(series.points) if b - a > 1.9 * usual]
    down = [(at - usual, at) for at, value in series.points if series.name == "up" and value == 0]
    return missing + down


def _device(series: Series) -> str | None:
    return series.labels.get("device")


def _preference(series: Series) -> tuple[bool, bool, float, str]:
    """Totals before single topics, network cards before the loopback, busy before idle."""
    moved = sum(rate.value * (rate.at - rate.since) for rate in rates(series))
    return ("topic" not in series.labels, _device(series) != "lo", moved, str(sorted(series.labels.items())))
