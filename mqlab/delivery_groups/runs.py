"""Messages of one partition, one after the other by offset, that a group should have handled: cut and counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from mqlab.findings import Evidence


@dataclass(frozen=True, slots=True)
class Run:
    """Some of them, from ``low`` up to but not including ``high``."""

    low: int
    high: int
    messages: int
    least: int
    most: int
    """Interval in which ``messages`` lies: a part of a range that has gaps is an estimate."""
    since: float | None
    until: float | None
    first: Evidence | None
    """The line of the first of them."""


def inside(runs: Iterable[Run], low: int, high: int) -> list[Run]:
    """Parts of *runs* in a range."""
    return [_part(run, max(run.low, low), min(run.high, high)) for run in runs if run.low < high and low < run.high]


def outside(runs: Iterable[Run], low: int, high: int) -> list[Run]:
    """Parts of *runs* out of a range."""
    return [part for run in runs for part in _left(run, low, high)]


def joined(runs: Sequence[Run]) -> list[Run]:
    """*runs* by offset, those that touch put together."""
    found: list[Run] = []
    for run in sorted(runs, key=lambda r: (r.low, r.high)):
        if found and found[-1].high == run.low:
            found[-1] = _sum(found[-1], run)
        else:
            found.append(run)
    return found


def _left(run: Run, low: int, high: int) -> Iterator[Run]:
    if high <= run.low or run.high <= low or low >= high:
        yield run
        return
    if run.low < low:
        yield _part(run, run.low, low)
    if high < run.high:
        yield _part(run, high, run.high)


def _part(run: Run, low: int, high: int) -> Run:
    if (low, high) == (run.low, run.high):
        return run
    whole, span = run.high - run.low, high - low
    messages = round(run.messages * span / whole)
    least, most = max(0, run.least - (whole - span)), min(run.most, span)
    step = 0.0 if run.since is None or run.until is None else (run.until - run.since) / whole
    since = None if run.since is None else run.since + step * (low - run.low)
    until = None if run.until is None else run.until - step * (run.high - high)
    return replace(
        run, low=low, high=high, messages=messages, least=least, most=most, since=since, until=until,
        first=run.first if low == run.low else None,
    )  # fmt: skip


def _sum(one: Run, other: Run) -> Run:
    since = min((t for t in (one.since, other.since) if t is not None), default=None)
    until = max((t for t in (one.until, other.until) if t is not None), default=None)
    return Run(
        one.low, other.high, one.messages + other.messages, one.least + other.least, one.most + other.most,
        since, until, one.first,
    )  # fmt: skip
