"""The replay of a group with sliders, for JupyterLab; a report shows the table of trials without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets
from IPython.display import display

from mqlab.polling.trials import trial
from mqlab.replay.answer import Answer, Fit

_MOST_THREADS = 32
_ROOM = 10
"""By how much sliders reach beyond what was."""


def poll_sliders(start: Answer | None, again: Callable[[Sequence[str]], Answer | None]) -> Any:
    """Sliders above the table that *again* answers; a sentence where there is nothing to replay."""
    if start is None:
        return "Nobody fell out of the group, or the material does not suffice for a replay."
    sliders = _sliders(start.fit_before)

    def draw(records: int, interval: float, threads: int) -> None:
        pairs = (f"max.poll.records={records}", f"max.poll.interval.ms={round(1000 * interval)}", f"threads={threads}")
        display(trial(again(pairs)))  # type: ignore[no-untyped-call]

    shown = widgets.interactive_output(draw, sliders)
    return widgets.VBox([widgets.VBox(list(sliders.values())), shown])


def _sliders(was: Fit) -> dict[str, Any]:
    """They begin at what was."""
    wide = {"layout": widgets.Layout(width="34em"), "style": {"description_width": "15em"}, "continuous_update": False}
    longest = _ROOM * max(was.interval_seconds, was.poll_seconds)
    return {
        "records": widgets.IntSlider(was.records, 1, _ROOM * was.records, description="max.poll.records", **wide),
        "interval": widgets.FloatSlider(
            was.interval_seconds, min=1, max=longest, step=0.5, description="max.poll.interval, s", **wide
        ),
        "threads": widgets.IntSlider(was.threads, 1, _MOST_THREADS, description="threads that share a poll", **wide),
    }
