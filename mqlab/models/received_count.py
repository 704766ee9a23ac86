"""Why fewer messages were received than published: the known losses one after the other, and what is left over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mqlab.models.courses import Interval

RESIDUAL = "unexplained"


@dataclass(frozen=True, slots=True)
class Step:
    """One stage of the funnel from published to received."""

    name: str
    messages: Interval
    """How many did not come through here; the residual may be negative."""
    left: float
    """How many are left after it."""


def funnel(published: int, received: int, losses: Sequence[tuple[str, Interval]]) -> tuple[Step, ...]:
    """The steps down from *published* to *received*; the last one is what no loss explains.

    The residual's interval is that of the losses turned round: it holds zero where they explain everything.
    """
    steps, left = [], float(published)
    for name, messages in losses:
        left -= messages.likely
        steps.append(Step(name, messages, left))
    low, high = (float(published - received) for _ in range(2))
    for _, messages in losses:
        low, high = low - messages.high, high - messages.low
    return (*steps, Step(RESIDUAL, Interval(low, left - received, high), float(received)))


def explained(steps: Sequence[Step]) -> bool:
    """The residual may be zero."""
    return steps[-1].messages.low <= 0 <= steps[-1].messages.high


def limited(published: int, rate: float, seconds: float) -> int:
    """How many of *published* a limit of *rate* a second lets through in so many *seconds*."""
    return min(published, int(rate * seconds))


def held(published: int, members: int, limit: int | None) -> int:
    """How many of *published* are left at a share group whose members are all offline: each queue holds its limit."""
    return published if limit is None else min(published, members * limit)
