"""Chapter 4: what a leader's death costs, by how far its follower is behind.

``Partition`` and ``ReplicaManager`` of the broker: the high watermark is the lowest log end of the replicas in sync,
acks=all waits for it, acks=1 for the leader's own log end only. A follower that stops fetching stays in sync for
replica.lag.time.max.ms, and up to half of that longer, since that is how often the leader looks
(``ReplicaManager.maybeShrinkIsr``). The follower that takes over begins at its own log end; what the old leader had
beyond it is cut off when it comes back (KIP-101).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go
from IPython.display import display

from mqlab.figures import drain
from mqlab.figures.style import ALARM, INCOMING, OUTGOING, RUNS
from mqlab.models.kafka_defaults import Version, default
from mqlab.training.course.moving import Step, moving
from mqlab.units import number

BEHIND = (0, 1, 5, 15, 29, 50)
CAPTION = (
    "Log ends of two replicas of one partition; 100 records a second are written, min.insync.replicas is 1, and the "
    "leader dies at second 60. The slider sets for how long the follower had not fetched by then. Red: acknowledged "
    "with acks=1, and gone."
)
_MAX_LAG = int(default("replica.lag.time.max.ms", "broker", Version(3, 9)) or 0) / 1000
_LATEST = 1.5
"""Times replica.lag.time.max.ms after which a silent follower is out of sync at the latest."""
_AFTER = 30.0


@dataclass(frozen=True, slots=True)
class Failover:
    """Two replicas, one of which leads; seconds and records a second."""

    behind: float
    """How long the follower has not fetched when the leader dies."""
    rate: float = 100.0
    dies_at: float = 60.0
    max_lag: float = _MAX_LAG
    """replica.lag.time.max.ms."""

    @property
    def in_sync(self) -> bool:
        """Whether the follower still counts as in sync when the leader dies, so that it takes over."""
        return self.behind <= _LATEST * self.max_lag

    def leader_end(self, at: float) -> float:
        """Log end of the first leader, which keeps it when it is dead."""
        return self.rate * min(at, self.dies_at)

    def follower_end(self, at: float) -> float:
        """Log end of the follower, which goes on from where it stopped when it leads."""
        stopped = max(0.0, self.dies_at - self.behind)
        since = at - self.dies_at if self.in_sync else 0.0
        return self.rate * (min(at, stopped) + max(0.0, since))

    def high_watermark(self, at: float) -> float:
        """What acks=all has acknowledged, with min.insync.replicas=1, until the leader dies."""
        shrunk = self.dies_at - self.behind + _LATEST * self.max_lag
        return self.leader_end(at) if not self.in_sync and at >= shrunk else self.follower_end(min(at, self.dies_at))

    def lost(self, acks: str) -> float:
        """Records that were acknowledged to a producer with these *acks* and are cut off."""
        if not self.in_sync:
            return 0.0
        told = self.leader_end if acks == "1" else self.high_watermark
        return told(self.dies_at) - self.follower_end(self.dies_at)


def figure(behind: Sequence[float] = BEHIND, rate: float = 100.0, max_lag: float = _MAX_LAG) -> go.Figure:
    """Log ends over time, for a follower that is so far behind."""
    drawn = [Failover(seconds, rate, max_lag=max_lag) for seconds in behind]
    steps = [Step(f"{one.behind:g} s", _words(one), _traces(one)) for one in drawn]
    until = drawn[0].dies_at + _AFTER
    axes = {
        "xaxis": {"title": "seconds", "range": [0, until]},
        "yaxis": {"title": "offset", "range": [0, 1.04 * rate * until]},
        "shapes": [{"type": "line", "x0": drawn[0].dies_at, "x1": drawn[0].dies_at, "yref": "y domain", "y0": 0,
                    "y1": 1, "line": {"color": ALARM, "width": 1, "dash": "dash"}}],
        "annotations": [{"x": drawn[0].dies_at, "y": 0.02, "yref": "y domain", "text": "the leader dies",
                         "showarrow": False, "xanchor": "left", "xshift": 4, "font": {"color": ALARM, "size": 11}}],
    }  # fmt: skip
    return moving("The follower has not fetched for", steps, axes, 360)


def _words(one: Failover) -> str:
    if not one.in_sync:
        return (
            f"After {one.behind:g} s the follower is out of sync: nobody takes over, and the partition is offline "
            "until broker 1 is back. Nothing is lost, unless the election is unclean."
        )
    if not one.behind:
        return "The follower has everything: it takes over at the same offset, and nothing is lost."
    return (
        f"{number(one.rate)} records/s × {one.behind:g} s = {number(one.lost('1'))} records are lost that acks=1 had "
        f"acknowledged; {number(one.lost('all')) if one.lost('all') else 'none'} with acks=all, which still waited."
    )


def _traces(one: Failover) -> tuple[dict[str, Any], ...]:
    times = [time / 2 for time in range(int(2 * (one.dies_at + _AFTER)) + 1)]
    alive = [time for time in times if time <= one.dies_at]
    gap = [one.follower_end(one.dies_at), one.follower_end(one.dies_at) + one.lost("1")]
    look = {"type": "scatter", "mode": "lines"}
    return (
        {**look, "x": times, "y": [one.follower_end(time) for time in times], "name": "broker 2",
         "line": {"color": OUTGOING, "width": 3}, "hovertemplate": "%{x} s: broker 2 ends at %{y:,.0f}<extra></extra>"},
        {**look, "x": alive, "y": [one.leader_end(time) for time in alive], "name": "broker 1 (leads)",
         "line": {"color": INCOMING, "width": 3}, "hovertemplate": "%{x} s: broker 1 ends at %{y:,.0f}<extra></extra>"},
        {**look, "x": alive, "y": [one.high_watermark(time) for time in alive], "name": "high watermark",
         "line": {"color": RUNS[2], "width": 3, "dash": "dot"},
         "hovertemplate": "%{x} s: high watermark %{y:,.0f}<extra></extra>"},
        {**look, "x": [one.dies_at] * 2, "y": gap, "name": "lost with acks=1", "line": {"color": ALARM, "width": 9},
         "hovertemplate": f"{number(one.lost('1'))} records lost<extra></extra>"},
    )  # fmt: skip


def sliders() -> Any:
    """The same with the rate and replica.lag.time.max.ms to choose too."""

    def draw(behind: int, rate: int, max_lag: int) -> None:
        display(figure((behind,), rate, max_lag))  # type: ignore[no-untyped-call]

    return drain.sliders(
        draw,
        behind=("not fetched for, s", widgets.IntSlider(5, min=0, max=60)),
        rate=("records/s", widgets.IntSlider(100, min=10, max=5_000, step=10)),
        max_lag=("replica.lag.time.max.ms, s", widgets.IntSlider(30, min=5, max=60)),
    )
