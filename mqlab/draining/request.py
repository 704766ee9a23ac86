"""What is asked of the drain planner, and what is taken where nothing was said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mqlab.quantities import BadQuantityError

RESERVE_SHARE = 0.3
RETENTION_SECONDS = 172_800.0
MESSAGE_BYTES = 1_000.0
PULL_SECONDS = 0.005
STEP_SECONDS = 300.0
BATCH_MESSAGES = 32
THREADS = 20
"""consumeThreadMin of DefaultMQPushConsumer."""


@dataclass(frozen=True, slots=True)
class Request:
    """Options of ``mqlab drain``; None where they were not given. Rates per second, times in seconds."""

    group: str | None = None
    backlog: float | None = None
    inflow: float | None = None
    queues: int | None = None
    capacity: float | None = None
    load: float | None = None
    reserve: float | None = None
    writes_per_message: float | None = None
    response_time: float | None = None
    threads: int | None = None
    instances: int | None = None
    retention: float | None = None
    oldest: float | None = None
    message_size: float | None = None
    batch: int | None = None
    pull_time: float | None = None
    step: float | None = None
    restart: float | None = None
    orderly: bool = False


@dataclass(slots=True)
class Assumptions:
    """What was taken without being told, in the order in which it was needed."""

    told: list[str] = field(default_factory=list)

    def of(self, given: float | None, default: float, sentence: str) -> float:
        """What was given; else the default, and *sentence* is noted."""
        if given is not None:
            return given
        self.told.append(sentence)
        return default


def check(request: Request) -> None:
    """Refuse values that make no sense.

    Raises:
        BadQuantityError: which option, and what it must be.
    """
    for name in ("capacity", "writes_per_message", "response_time", "threads", "instances", "queues", "batch",
                 "pull_time", "message_size", "retention", "step"):  # fmt: skip
        _must(request, name, lambda value: value > 0, "above zero")
    for name in ("backlog", "inflow", "load", "oldest", "restart"):
        _must(request, name, lambda value: value >= 0, "zero or more")
    _must(request, "reserve", lambda value: 0 <= value < 1, "a share from 0 to below 1")


def _must(request: Request, name: str, fits: Callable[[float], bool], what: str) -> None:
    value = getattr(request, name)
    if value is not None and not fits(value):
        raise BadQuantityError(f"--{name.replace('_', '-')} must be {what}, not {value:g}.")
