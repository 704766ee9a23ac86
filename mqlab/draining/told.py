"""A group's drain in a finding: how long it will take, and how long it took where the material holds it."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from mqlab import units
from mqlab.draining.answer import Answer, answer
from mqlab.draining.request import Request
from mqlab.errors import MqlabError
from mqlab.facts import Facts


def foreseen(facts: Facts, group: str) -> Answer | None:
    """The drain of *group* by the material alone; None where that does not tell what waits or how fast it is read."""
    try:
        return answer(Request(group=group), facts)
    except MqlabError:
        return None


def measures(found: Answer | None) -> Mapping[str, float]:
    """``drain_seconds`` as it was measured and as it is predicted, both from the complete rebalance."""
    told: dict[str, float] = {}
    if found is not None and found.measured_seconds is not None:
        told["drain_seconds"] = found.measured_seconds
    if found is not None and found.forecast is not None and isfinite(found.forecast.seconds.likely):
        told["predicted_drain_seconds"] = found.forecast.seconds.likely
    return told


def remark(found: Answer | None) -> str | None:
    """The prediction with its bounds, or why it does not end; None without one."""
    if found is None or found.forecast is None:
        return None
    if found.forecast.never:
        return f"never: {found.forecast.never}"
    seconds = found.forecast.seconds
    high = units.duration(seconds.high) if isfinite(seconds.high) else "never"
    told = f"{units.duration(seconds.likely)} ({units.duration(seconds.low)} to {high}) from the complete rebalance"
    took = found.measured_seconds
    return told if took is None else f"{told}; it took {units.duration(took)}"
