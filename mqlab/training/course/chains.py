"""Chapter 7: from MQTT through a bridge to Kafka, with dead sessions in the bridge's share group (``models.mqtt``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go
from IPython.display import display

from mqlab.figures import drain
from mqlab.figures.style import ALARM, INCOMING, RUNS
from mqlab.models.mqtt import Strategy, diverted, fraction
from mqlab.training.course.moving import Step, moving
from mqlab.training.course.sessions import limited
from mqlab.units import number, percent

DEAD = (0, 1, 2, 3, 4)
CAPTION = (
    "Four sessions share a subscription at mosquitto, as workers of a bridge that writes to Kafka; 20,000 messages are "
    "published. The slider sets how many of the sessions have no client any more. Each such session holds up to 1,000 "
    "messages and drops the rest. A group reads the Kafka topic to its end."
)
STAGES = ("published", "written to Kafka", "read by the group")


@dataclass(frozen=True, slots=True)
class Chain:
    """Where the messages are in the end."""

    published: int
    waiting: int
    """In queues of dead sessions."""
    dropped: int
    """By full queues of dead sessions."""
    written: int
    """By live workers, to Kafka; the group has read them all."""


def chain(dead: int, members: int = 4, published: int = 20_000, limit: int = 1_000) -> Chain:
    """What becomes of *published* messages where *dead* of *members* have no client."""
    away = round(diverted(Strategy.TURNS, members, dead, published).likely)
    room = dead * limited("mosquitto", limit).holds(connected=False)
    waiting = round(min(away, room))
    return Chain(published, waiting, away - waiting, published - away)


def figure(dead: Sequence[int] = DEAD, members: int = 4, published: int = 20_000, limit: int = 1_000) -> go.Figure:
    """How far messages come, for so many dead sessions."""
    drawn = [(number, chain(number, members, published, limit)) for number in dead]
    steps = [Step(str(number), _words(number, members, one), _traces(one)) for number, one in drawn]
    axes = {
        "xaxis": {"title": "messages", "range": [0, 1.02 * published], "tickformat": ",d", "nticks": 6},
        "yaxis": {"type": "category", "categoryarray": STAGES[::-1], "categoryorder": "array"},
        "barmode": "stack",
        "bargap": 0.4,
        "legend": {"traceorder": "normal"},
    }
    return moving("Dead sessions in the share group", steps, axes, 280)


def _traces(one: Chain) -> tuple[dict[str, Any], ...]:
    parts = (
        ("arrived", (one.published, one.written, one.written), INCOMING),
        ("waits in a dead session", (0, one.waiting, 0), RUNS[5]),
        ("dropped by a dead session", (0, one.dropped, 0), ALARM),
    )
    return tuple(
        {"type": "bar", "orientation": "h", "y": list(STAGES), "x": list(counts), "name": name,
         "marker": {"color": colour}, "hovertemplate": f"%{{y}}: %{{x:,d}} {name}<extra></extra>"}
        for name, counts, colour in parts
    )  # fmt: skip


def _words(dead: int, members: int, one: Chain) -> str:
    if not dead:
        return f"All {members} sessions are live: {number(one.published)} published, as many in Kafka, lag 0."
    return (
        f"{dead} of {members} dead: {percent(fraction(members, dead))} of the messages go there, "
        f"{number(one.waiting)} wait, {number(one.dropped)} are dropped. The group in Kafka has lag 0."
    )


def sliders() -> Any:
    """The same with the sessions, the messages and the limit of a queue to choose too."""

    def draw(dead: int, members: int, published: int, limit: int) -> None:
        display(figure((min(dead, members),), members, published, limit))  # type: ignore[no-untyped-call]

    return drain.sliders(
        draw,
        dead=("dead sessions", widgets.IntSlider(1, min=0, max=12)),
        members=("sessions in the group", widgets.IntSlider(4, min=1, max=12)),
        published=("published", widgets.IntSlider(20_000, min=1_000, max=100_000, step=1_000)),
        limit=("limit of a queue, 0 is none", widgets.IntSlider(1_000, min=0, max=10_000, step=100)),
    )
