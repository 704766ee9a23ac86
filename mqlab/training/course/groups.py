"""Chapter 2: who reads which queue of RocketMQ when processes share a client id (``models.queue_allocation``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go
from IPython.display import display

from mqlab.figures import drain
from mqlab.figures.style import ALARM, GRID, INCOMING, OUTGOING
from mqlab.models.queue_allocation import STRATEGIES, Ownership, Queue, owned
from mqlab.training.course.moving import Step, moving
from mqlab.units import counted

SHARING = (1, 2, 3, 4)
CAPTION = (
    "Eight queues, four processes, one row for each process. The slider sets how many of the processes have the same "
    "client id. Blue: the queue has one owner. Orange: several processes read it. Red, in the bottom row: nobody does."
)
NOBODY = "nobody"
_NONE, _ONCE, _TWICE, _ORPHAN = 0, 1, 2, 3
_COLOURS = (GRID, INCOMING, OUTGOING, ALARM)


def ids(processes: int, sharing: int) -> tuple[str, ...]:
    """The client id of each process, in order; the first *sharing* have the same one."""
    return tuple(f"10.0.0.{4 if number < sharing else 4 + number}@7" for number in range(processes))


def allocation(processes: int, sharing: int, queues: int, strategy: str = "AVG") -> Ownership:
    """Who owns what."""
    topic: list[Queue] = [("orders", "broker-a", number) for number in range(queues)]
    return owned(strategy, ids(processes, sharing), topic)


def figure(sharing: Sequence[int] = SHARING, processes: int = 4, queues: int = 8, strategy: str = "AVG") -> go.Figure:
    """Queues and their owners, for so many processes that share an id."""
    drawn = [(number, allocation(processes, number, queues, strategy)) for number in sharing]
    steps = [
        Step(str(number), _words(number, found), (_map(ids(processes, number), found),)) for number, found in drawn
    ]
    rows = [f"process {number + 1}" for number in range(processes)] + [NOBODY]
    axes = {
        "xaxis": {"title": "queue", "dtick": 1, "showgrid": False, "constrain": "domain"},
        "yaxis": {"type": "category", "categoryarray": rows[::-1], "categoryorder": "array", "showgrid": False},
        "showlegend": False,
    }
    return moving("Processes with the same client id", steps, axes, 60 + 44 * len(rows))


def _map(clients: Sequence[str], found: Ownership) -> dict[str, Any]:
    owners = list(found.owners.values())
    rows = [[(_TWICE if len(own) > 1 else _ONCE) if client in own else _NONE for own in owners] for client in clients]
    rows.append([_ORPHAN if not own else _NONE for own in owners])
    names = [f"process {number + 1}" for number in range(len(clients))]
    told = [[f"{client} reads it" if cell else "" for cell in row] for client, row in zip(clients, rows, strict=False)]
    told.append(["nobody reads it" if cell else "" for cell in rows[-1]])
    scale = [(edge, colour) for place, colour in enumerate(_COLOURS) for edge in (place / 4, (place + 1) / 4)]
    return {
        "type": "heatmap", "x": list(range(len(owners))), "y": [*names, NOBODY], "z": rows, "zmin": 0, "zmax": 3,
        "colorscale": scale, "showscale": False, "xgap": 3, "ygap": 3, "hovertext": told,
        "hovertemplate": "queue %{x}, %{y}: %{hovertext}<extra></extra>",
    }  # fmt: skip


def _words(sharing: int, found: Ownership) -> str:
    orphans = sum(not own for own in found.owners.values())
    several = sum(len(own) > 1 for own in found.owners.values())
    if not orphans and not several:
        return f"Each process has an id of its own: each of the {len(found.owners)} queues has exactly one owner."
    return (
        f"{sharing} processes with one id all take the same share: {counted(several, 'queue')} read {sharing} times, "
        f"{counted(orphans, 'queue')} by nobody."
    )


def sliders() -> Any:
    """The same with the processes, the queues and the strategy to choose too."""

    def draw(sharing: int, processes: int, queues: int, strategy: str) -> None:
        display(figure((min(sharing, processes),), processes, queues, strategy))  # type: ignore[no-untyped-call]

    return drain.sliders(
        draw,
        sharing=("with the same client id", widgets.IntSlider(2, min=1, max=8)),
        processes=("processes", widgets.IntSlider(4, min=1, max=8)),
        queues=("queues", widgets.IntSlider(8, min=1, max=24)),
        strategy=("strategy", widgets.SelectionSlider(options=STRATEGIES)),
    )
