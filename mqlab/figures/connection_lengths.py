"""How long did connections last, and how did they end? Constant lengths point to a timer, others to a network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import floor, log10

import plotly.graph_objects as go

from mqlab.figures.style import ALARM, CHANGE, INCOMING, INK, LAG, MUTED, OUTGOING, empty, figure, label
from mqlab.mqtt.connection import Connection
from mqlab.units import duration, number

_OTHER, _UNTOLD = "something else", "not told"
_LOOKS = {
    "normal": ("the client said good-bye", INCOMING), "taken-over": ("another connection took the id", ALARM),
    "keep-alive": ("nothing came for 1.5 × keep-alive", OUTGOING), "closed": ("the other side closed it", LAG),
    "broker-stopped": ("the broker stopped", CHANGE), _OTHER: (_OTHER, INK), _UNTOLD: (_UNTOLD, MUTED),
}  # fmt: skip
_STEPS = 6
"""Bars for each power of ten."""
_TICKS = {
    0.1: "0.1 s", 1: "1 s", 10: "10 s", 60: "1 min", 600: "10 min", 3600: "1 h", 36_000: "10 h", 360_000: "100 h",
}  # fmt: skip
_LEAST = 0.1
"""Seconds below which lengths are not told apart: many brokers print whole ones."""


def connection_lengths(connections: Sequence[Connection]) -> go.Figure:
    """Bars by length in seconds on a logarithmic axis, stacked by how the connections ended.

    Connections of which no end is told have no length; without any other a sentence.
    """
    counts = length_counts(connections)
    if not counts:
        return empty("No connection of an MQTT client both begins and ends in this material.")
    chart = figure(300)
    bins = sorted({place for _, place in counts})
    for kind, (words, colour) in _LOOKS.items():
        own = [(place, counts[kind, place]) for place in bins if counts[kind, place]]
        if own:
            chart.add_bar(
                x=[_middle(place) for place, _ in own], y=[count for _, count in own], name=label(words),
                width=[_edge(place + 1) - _edge(place) for place, _ in own], marker={"color": colour},
                text=[f"{duration(_edge(place))} to {duration(_edge(place + 1))}: {number(count)}"
                      for place, count in own],
                textposition="none", hovertemplate="%{text}<extra></extra>",
            )  # fmt: skip
    chart.update_layout(barmode="stack", bargap=0)
    reach = [min(0.0, bins[0] / _STEPS) - 0.1, max(log10(3600), (bins[-1] + 1) / _STEPS) + 0.1]
    chart.update_xaxes(
        title_text="length of the connection", type="log", tickvals=[*_TICKS], ticktext=[*_TICKS.values()], range=reach
    )
    chart.update_yaxes(title_text="connections", rangemode="tozero")
    return chart


def length_counts(connections: Sequence[Connection]) -> Counter[tuple[str, int]]:
    """How many connections ended in which way, by the number of their bar."""
    lasted = [(c.ended, c.seconds, c.count) for c in connections if c.seconds is not None]
    counts: Counter[tuple[str, int]] = Counter()
    for ended, seconds, count in lasted:
        kind = _UNTOLD if ended is None else ended if ended in _LOOKS else _OTHER
        counts[kind, floor(log10(max(seconds, _LEAST)) * _STEPS + 1e-9)] += count
    return counts


def _edge(place: int) -> float:
    return float(10 ** (place / _STEPS))


def _middle(place: int) -> float:
    return (_edge(place) + _edge(place + 1)) / 2
