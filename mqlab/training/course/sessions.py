"""Chapter 6: the queue of an offline MQTT session, and which of its messages survive (``models.mqtt``)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go
from IPython.display import display

from mqlab.figures import drain
from mqlab.figures.style import ALARM, INCOMING, LAG, OUTGOING
from mqlab.models.kafka_defaults import Version
from mqlab.models.mqtt import OLDEST, OVERHEADS, Queue, queue
from mqlab.training.course.moving import Step, moving
from mqlab.units import number, size

LIMITS = (100, 500, 1_000, 2_000, 3_000, 0)
CAPTION = (
    "A subscriber with a persistent session is offline for an hour while one message a second is published at QoS 1. "
    "Above: messages that wait for it, and messages dropped. Below: which sequence numbers it gets when it is back. "
    "The slider is max_queued_messages of mosquitto and max_mqueue_len of EMQX; 0 is no limit."
)
_KEYS = {"mosquitto": "max_queued_messages", "emqx": "max_mqueue_len"}
_NAMES = {"mosquitto": "mosquitto", "emqx": "EMQX"}
_GRAIN = 60


@dataclass(frozen=True, slots=True)
class Absence:
    """What a session's queue holds when its client comes back."""

    waiting: tuple[int, ...]
    """Messages that wait, after each message that was published."""
    survivors: tuple[int, ...]
    """Sequence numbers, from 1."""


def limited(broker: str, limit: int) -> Queue:
    """The queue of a session at *broker* with this *limit*; 0 is none."""
    found = queue(broker, Version(2, 0) if broker == "mosquitto" else None, {_KEYS[broker]: str(limit)})
    assert found is not None
    return found


def absence(held: Queue, published: int) -> Absence:
    """Message after message comes for a client that is not there."""
    kept: deque[int] = deque()
    waiting, most = [], held.holds(connected=False)
    for sequence in range(1, published + 1):
        if len(kept) < most:
            kept.append(sequence)
        elif held.keeps != OLDEST:
            kept.popleft()
            kept.append(sequence)
        waiting.append(len(kept))
    return Absence(tuple(waiting), tuple(kept))


def figure(limits: Sequence[int] = LIMITS, published: int = 3_600, payload: int = 1_000) -> go.Figure:
    """Queue and survivors after so many messages, for each limit."""
    drawn = [(limit, {broker: absence(limited(broker, limit), published) for broker in _KEYS}) for limit in limits]
    steps = [
        Step(
            number(limit) if limit else "no limit", _words(limit, found, published, payload), _traces(found, published)
        )
        for limit, found in drawn
    ]
    axes = {
        "xaxis": {"anchor": "y2", "title": "message, in the order of publishing", "range": [0, published]},
        "yaxis": {"domain": [0.46, 1], "title": "messages", "range": [0, 1.05 * published]},
        "yaxis2": {"domain": [0, 0.32], "type": "category", "categoryarray": ["EMQX", "mosquitto"],
                   "categoryorder": "array", "range": [-0.6, 1.6]},
        "barmode": "overlay",
    }  # fmt: skip
    return moving("Limit of the queue", steps, axes, 380)


def _traces(found: dict[str, Absence], published: int) -> tuple[dict[str, Any], ...]:
    waiting = next(iter(found.values())).waiting
    at = [*range(0, published, max(1, published // _GRAIN)), published]
    held = [waiting[sequence - 1] if sequence else 0 for sequence in at]
    gone = [sequence - wait for sequence, wait in zip(at, held, strict=True)]
    look = {"type": "scatter", "mode": "lines", "x": at}
    lanes = [
        {"type": "bar", "orientation": "h", "y": [_NAMES[broker]], "base": [one.survivors[0] - 1],
         "x": [len(one.survivors)], "width": 0.6, "yaxis": "y2", "showlegend": False,
         "marker": {"color": INCOMING if broker == "mosquitto" else OUTGOING},
         "hovertemplate": f"{_span(one)} are delivered<extra></extra>"}
        for broker, one in found.items()
    ]  # fmt: skip
    return (
        {**look, "y": held, "name": "waiting", "line": {"color": LAG, "width": 3},
         "hovertemplate": "after message %{x:,d}: %{y:,d} wait<extra></extra>"},
        {**look, "y": gone, "name": "dropped", "line": {"color": ALARM, "width": 3, "dash": "dash"},
         "hovertemplate": "after message %{x:,d}: %{y:,d} dropped<extra></extra>"},
        *lanes,
    )  # fmt: skip


def _span(one: Absence) -> str:
    return f"{number(one.survivors[0])} to {number(one.survivors[-1])}"


def _words(limit: int, found: dict[str, Absence], published: int, payload: int) -> str:
    kept = len(found["mosquitto"].survivors)
    if kept == published:
        memory = size(kept * (payload + OVERHEADS["emqx"]))
        return f"Nothing is dropped: all {number(kept)} wait in memory, about {memory} in EMQX, and more every second."
    return (
        f"{number(limit)} of {number(published)} survive, {number(published - kept)} are dropped. mosquitto delivers "
        f"the oldest, {_span(found['mosquitto'])}, EMQX the newest, {_span(found['emqx'])}."
    )


def sliders() -> Any:
    """The same with the messages and their size to choose too."""

    def draw(limit: int, published: int, payload: int) -> None:
        display(figure((limit,), published, payload))  # type: ignore[no-untyped-call]

    return drain.sliders(
        draw,
        limit=("limit, 0 is none", widgets.IntSlider(1_000, min=0, max=10_000, step=100)),
        published=("published meanwhile", widgets.IntSlider(3_600, min=100, max=20_000, step=100)),
        payload=("bytes of a message", widgets.IntSlider(1_000, min=100, max=100_000, step=100)),
    )
