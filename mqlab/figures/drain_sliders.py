"""The drain plan with sliders, for JupyterLab; a report shows the figure as it is without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ipywidgets as widgets
from IPython.display import display

from mqlab.draining.answer import Answer
from mqlab.draining.frames import drain_plan
from mqlab.draining.request import RESERVE_SHARE, Request
from mqlab.figures.drain import drain

_LEAST_CAPACITY = 1_000
_RESPONSE_SECONDS = 0.02


def drain_sliders(start: Answer | None, request: Request, again: Callable[[Request], Answer | None]) -> Any:
    """Sliders above the figure that *again* answers; a sentence where there is nothing to plan."""
    if start is None:
        return "What waits, or how long a message takes, is not known here: nothing to plan."
    sliders = _sliders(start, request, _response_seconds(request, again))
    shown = widgets.interactive_output(_drawing(request, again), sliders)
    return widgets.VBox([widgets.VBox(list(sliders.values())), shown])


def _drawing(request: Request, again: Callable[[Request], Answer | None]) -> Callable[..., None]:
    def draw(capacity: int, load: int, reserve: float, response_ms: float) -> None:
        asked = replace(request, capacity=capacity, load=load, reserve=reserve, response_time=response_ms / 1000)
        found = again(asked)
        if found is not None:
            display(drain(found), drain_plan(found))  # type: ignore[no-untyped-call]

    return draw


def _response_seconds(request: Request, again: Callable[[Request], Answer | None]) -> float:
    """What was given or what the clients measured; a plan for any capacity tells it."""
    found = again(replace(request, capacity=request.capacity or 1))
    return found.store.response_seconds if found and found.store else _RESPONSE_SECONDS


def _sliders(start: Answer, request: Request, response_seconds: float) -> dict[str, Any]:
    """Ranges around what is known: the capacity at least ten times what comes in."""
    most = max(_LEAST_CAPACITY, int(2 * (request.capacity or 0)), int(10 * start.inflow_per_second))
    wide = {"layout": widgets.Layout(width="34em"), "style": {"description_width": "15em"}, "continuous_update": False}
    return {
        "capacity": widgets.IntSlider(
            int(request.capacity or most / 2), 1, most, description="store takes, writes/s", **wide
        ),
        "load": widgets.IntSlider(int(request.load or 0), 0, most, description="its normal load, writes/s", **wide),
        "reserve": widgets.FloatSlider(
            RESERVE_SHARE if request.reserve is None else request.reserve, min=0, max=0.95, step=0.05,
            description="share that stays free", **wide,
        ),
        "response_ms": widgets.FloatLogSlider(
            1000 * response_seconds, min=-1, max=4, step=0.05, description="one message takes, ms", **wide
        ),
    }  # fmt: skip
