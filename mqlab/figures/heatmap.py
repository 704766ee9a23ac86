"""Who did it, and when? Events per client and topic-partition over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import plotly.graph_objects as go

from mqlab.facts import Episode, Facts
from mqlab.figures.style import GRID, empty, figure, label, time

_MOST_ROWS = 40
_MOST_COLUMNS = 400
_NARROWEST = 10


@dataclass(frozen=True, slots=True)
class Grid:
    """Counts by row (who) and column (when); a cell without events is None."""

    rows: tuple[str, ...]
    columns: tuple[float, ...]
    counts: tuple[tuple[int | None, ...], ...]


def heatmap(facts: Facts, *kinds: str) -> go.Figure:
    """Events of these kinds: one row per client and topic-partition, one column per ten seconds or longer."""
    grid = heatmap_points(facts.of_kind(*kinds))
    if not grid.rows:
        return empty(f"No dated event of kind {', '.join(kinds)} in this material.")
    chart = figure(110 + 26 * len(grid.rows))
    chart.add_heatmap(
        x=[time(at) for at in grid.columns], y=[label(row) for row in grid.rows], z=[list(row) for row in grid.counts],
        colorscale="Cividis", reversescale=True, xgap=1, ygap=1, colorbar={"title": "events", "thickness": 12},
        hovertemplate="%{y}<br>%{x|%H:%M:%S}: %{z} events<extra></extra>", name="events",
    )  # fmt: skip
    chart.update_layout(plot_bgcolor=GRID)
    chart.update_yaxes(autorange="reversed", showgrid=False)
    chart.update_xaxes(title_text="UTC", showgrid=False)
    return chart


def heatmap_points(episodes: Iterable[Episode]) -> Grid:
    """Counts per row and column, busiest row first."""
    dated = [(e.first_at, e) for e in episodes if e.first_at is not None]
    if not dated:
        return Grid((), (), ())
    times = [at for at, _ in dated]
    width = _width(max(times) - min(times))
    cells: Counter[tuple[str, int]] = Counter()
    totals: Counter[str] = Counter()
    for at, episode in dated:
        cells[_row(episode), int(at // width)] += episode.count
        totals[_row(episode)] += episode.count
    rows = sorted(totals, key=lambda row: (-totals[row], row))[:_MOST_ROWS]
    columns = range(int(min(times) // width), int(max(times) // width) + 1)
    counts = tuple(tuple(cells.get((row, column)) for column in columns) for row in rows)
    return Grid(tuple(rows), tuple(float(column * width) for column in columns), counts)


def _width(seconds: float) -> int:
    """Ten seconds, or as many as keep the columns few."""
    return max(_NARROWEST, int(seconds / _MOST_COLUMNS) // _NARROWEST * _NARROWEST)


def _row(episode: Episode) -> str:
    who = next((name for name in (episode.client_id, episode.node, episode.peer) if name), episode.source)
    where = "-".join(part for part in (episode.topic or episode.group, episode.queue) if part)
    return f"{who} {where}".strip()
