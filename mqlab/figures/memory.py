"""Does each split cost memory? Heap in use against the splits since the process started."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import plotly.graph_objects as go

from mqlab.facts import Facts, Series
from mqlab.figures.style import ALARM, RUNS, empty, figure, label
from mqlab.figures.thinning import thinned
from mqlab.units import clock, digits, size

_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Run:
    """One life of a process: heap in use after so many splits, as (splits, bytes, at)."""

    started_at: float | None
    exited_at: float | None
    points: tuple[tuple[float, float, float], ...]

    @property
    def bytes_per_split(self) -> float | None:
        """Slope of the least-squares line; None where there are too few points with splits."""
        used = [(x, y) for x, y, _ in self.points if x > 0]
        if len(used) < _FEWEST:
            return None
        mean_x, mean_y = sum(x for x, _ in used) / len(used), sum(y for _, y in used) / len(used)
        spread = sum((x - mean_x) ** 2 for x, _ in used)
        return sum((x - mean_x) * (y - mean_y) for x, y in used) / spread if spread else None


def memory(facts: Facts, host: str | None = None) -> go.Figure:
    """One line per life of the process; a cross marks the exit."""
    runs = [run for run in memory_points(facts, host) if run.points[-1][0] > 0]
    if not runs:
        return empty("Heap samples and dated splits of one process are not both known.")
    chart = figure(340)
    for place, run in enumerate(runs):
        colour = RUNS[place % len(RUNS)]
        splits, heap = [x for x, _, _ in run.points], [y / 1e6 for _, y, _ in run.points]
        chart.add_scatter(
            x=splits, y=heap, mode="lines+markers", line_color=colour, name=_name(run),
            text=[f"{clock(at)} {size(y)}" for _, y, at in run.points], hovertemplate="%{x:.0f} splits: %{text}",
        )  # fmt: skip
        if run.exited_at is not None:
            chart.add_scatter(
                x=splits[-1:], y=heap[-1:], mode="markers+text", text=[f"exit {clock(run.exited_at)}"], name="exit",
                marker={"symbol": "x", "size": 12, "color": ALARM},
                textposition="bottom left" if place % 2 else "top left", showlegend=False,
            )  # fmt: skip
    chart.update_xaxes(title_text="splits since the process started")
    chart.update_yaxes(title_text="heap in use, MB", rangemode="tozero")
    return chart


def memory_points(facts: Facts, host: str | None = None) -> tuple[Run, ...]:
    """Heap samples of one process, cut where it was started anew and set against its splits.

    The cut is the start, not the exit: a sample stamped between the two still shows the process that died.
    """
    heap = _heap(facts, host)
    if heap is None:
        return ()
    exits, starts = (_times(facts, kind, heap.host) for kind in ("process-exit", "process-started"))
    cuts = (starts or exits)[1 if starts and starts[0] <= heap.points[0][0] else 0 :]
    runs = [
        _run(facts, heap, start, end, [at for at in exits if (start or 0) < at <= (end or at)])
        for start, end in pairwise([None, *cuts, None])
    ]
    return tuple(run for run in runs if run.points)


def _times(facts: Facts, kind: str, host: str | None) -> list[float]:
    """When this host's processes did it; of all hosts where the names do not match."""
    known = [e for e in facts.of_kind(kind) if e.last_at is not None]
    own = [e for e in known if host and e.node and (host.startswith(e.node) or e.node.startswith(host))]
    return sorted(e.last_at for e in own or known if e.last_at is not None)


def _heap(facts: Facts, host: str | None) -> Series | None:
    """The heap of this host, else the one that grew most."""
    known = facts.named("jvm.heap_used")
    candidates = [s for s in known if s.host == host and s.points] or [s for s in known if s.points]
    return max(candidates, key=lambda s: max((v for _, v in s.points), default=0.0), default=None)


def _run(facts: Facts, heap: Series, start: float | None, end: float | None, exits: list[float]) -> Run:
    samples = [(at, v) for at, v in heap.points if (start is None or at > start) and (end is None or at <= end)]
    drawn = thinned(samples, value=lambda sample: sample[1])
    points = tuple((_splits(facts, start, at), used, at) for at, used in drawn)
    return Run(start, exits[-1] if exits else None, points)


def _splits(facts: Facts, since: float | None, until: float) -> float:
    """Splits between two moments; within an episode they are taken as evenly spread."""
    total = 0.0
    for episode in facts.of_kind("batch-split"):
        first, last = episode.first_at, episode.last_at
        if first is None or last is None or first > until or (since is not None and first <= since):
            continue
        total += episode.count * (min(1.0, (until - first) / (last - first)) if last > first else 1.0)
    return total


def _name(run: Run) -> str:
    slope = run.bytes_per_split
    cost = f", {digits(slope / 1e6)} MB per split" if slope else ""
    return label(f"from {clock(run.started_at) if run.started_at else 'the start'}{cost}")
