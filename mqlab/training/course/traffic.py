"""Chapter 5: a batch that a split returns unchanged, and what it does to the line (``models.splitting``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go
from IPython.display import display

from mqlab.figures import drain
from mqlab.figures.style import INCOMING, OUTGOING
from mqlab.models.kafka_defaults import Version, default
from mqlab.models.producer import Link, Producer, burst
from mqlab.models.splitting import Outcome, loop_window, outcome
from mqlab.training.course.moving import Step, moving
from mqlab.units import counted, factor, number, size

VERSION = Version(3, 9)
LIMIT = int(default("max.message.bytes", "topic", VERSION) or 0)
BATCHES = (16_384, 262_144, LIMIT, 1_100_000, 1_638_400, 4_000_000)
CAPTION = (
    "A producer 3.9 is handed 40 messages of 150 kB at once, 6 MB in all, for one partition over a link of 100 Mbit/s. "
    f"The topic takes batches up to {LIMIT:,} bytes (max.message.bytes). The scale of bytes is logarithmic."
)
MESSAGES = burst(40, 150_000)
LINK = Link(12_500_000.0, 0.02)
_LENGTH = 150
_GRAIN = 5
_ENDS = {
    "delivered": "all are delivered",
    "rejected": "records above the limit are refused, each sent once",
    "delivery-timeout": "delivery.timeout.ms ends it",
    "never": "it goes on and on",
}


def producer(batch_size: int, limit: int = LIMIT) -> Producer:
    """The producer with this batch.size."""
    return Producer(VERSION, batch_size, limit, max_request_size=12_000_000, linger_ms=5)


def sent(one: Producer, link: Link = LINK) -> tuple[tuple[int, ...], tuple[int, ...], Outcome]:
    """Seconds, bytes that had left by then, and what became of it in the end."""
    times = (1, 2, *range(_GRAIN, _LENGTH + 1, _GRAIN))
    left = tuple(outcome(one, link, MESSAGES, until).bytes_out for until in times)
    return times, left, outcome(one, link, MESSAGES)


def figure(batches: Sequence[int] = BATCHES, limit: int = LIMIT, bytes_per_second: float = 12_500_000.0) -> go.Figure:
    """Bytes in and bytes out over time, for each batch.size."""
    link = replace(LINK, bytes_per_second=bytes_per_second)
    drawn = [(one, *sent(producer(one, limit), link)) for one in batches]
    steps = [Step(number(one), _words(one, limit, end), _traces(times, left, end)) for one, times, left, end in drawn]
    axes = {
        "xaxis": {"title": "seconds", "range": [0, _LENGTH]},
        "yaxis": {"type": "log", "range": [6, 9.7], "tickvals": [1e6, 1e7, 1e8, 1e9],
                  "ticktext": ["1 MB", "10 MB", "100 MB", "1 GB"]},
    }  # fmt: skip
    return moving("batch.size", steps, axes)


def _traces(times: Sequence[int], left: Sequence[int], end: Outcome) -> tuple[dict[str, Any], ...]:
    look = {"type": "scatter", "mode": "lines", "x": list(times)}
    return (
        {**look, "y": [end.bytes_in] * len(times), "name": "from the application",
         "line": {"color": INCOMING, "width": 3}, "hovertemplate": f"{size(end.bytes_in)} came in<extra></extra>"},
        {**look, "y": list(left), "name": "to the broker", "line": {"color": OUTGOING, "width": 3},
         "text": [size(one) for one in left], "hovertemplate": "second %{x}: %{text} have left<extra></extra>"},
    )  # fmt: skip


def _words(batch_size: int, limit: int, end: Outcome) -> str:
    ends = _ENDS.get(end.ends, end.ends)
    if not end.rounds:
        return f"No batch above {number(limit)} bytes, no split: {factor(end.factor)} of what came in leaves, {ends}."
    loops = "returns the same batch" if loop_window(limit, batch_size) else "makes smaller ones"
    return (
        f"Batches above {number(limit)} bytes; a split {loops}. {counted(end.rounds, 'split')}, "
        f"{factor(end.factor)} of what came in leaves; {ends}, {end.failed} of {len(MESSAGES)} messages fail."
    )


def sliders() -> Any:
    """The same with the topic's limit and the link to choose too."""

    def draw(batch_size: int, limit: int, link: int) -> None:
        display(figure((batch_size,), limit, link * 125_000))  # type: ignore[no-untyped-call]

    return drain.sliders(
        draw,
        batch_size=("batch.size, bytes", widgets.IntSlider(1_638_400, min=16_384, max=4_000_000, step=16_384)),
        limit=("max.message.bytes", widgets.IntSlider(LIMIT, min=200_012, max=4_000_000, step=10_000)),
        link=("link, Mbit/s", widgets.IntSlider(100, min=10, max=1_000, step=10)),
    )
