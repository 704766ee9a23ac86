"""How long a record took, from the polls that applications say they worked off: turns, stalls, slower members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import sqrt

from mqlab.models.group_course import Pace
from mqlab.rows import GRID, Batch

ENOUGH = 50
"""Records from which the average of ten seconds is one, else that of the time between two turns is taken: with so many
the error of a mean is a seventh of the deviation of one record."""
LEAST = 0.0001
"""Seconds per record where the lines round a poll to nothing: any that is small, so that a rate stays finite."""
_TURN = 2.0
"""Times by which records take longer from one poll to the next where something has happened to what they need.
Judgement, no default behind it."""
_STALL = 10.0
"""Times by which a poll of a few records takes longer per record than those around it where something stood still.
Judgement, no default behind it: far above ``_TURN``, since one record that is large or hard takes a few times as
long."""


def stalled(batches: Sequence[Batch]) -> list[Batch]:
    """Single polls that took far longer for a few records than the polls of the same client before and after them."""
    found = []
    for client in sorted({b.client_id for b in batches if b.client_id}):
        its = sorted((b for b in batches if b.client_id == client and b.records > 0), key=lambda b: b.at)
        for before, poll, after in zip(its, its[1:], its[2:], strict=False):
            few = poll.polls == 1 and poll.records < ENOUGH and poll.seconds >= 1
            if few and _each(poll) > _STALL * max(_each(before), _each(after)):
                found.append(poll)
    return found


def turns(batches: Sequence[Batch]) -> list[float]:
    """When records became slower or faster by far: with the begin of a slow poll, or the end of the last slow one."""
    found = []
    for client in sorted({b.client_id or "" for b in batches}):
        its = sorted((b for b in batches if (b.client_id or "") == client), key=lambda b: b.at)
        for before, after in pairwise(its):
            fast, slow = sorted((before, after), key=_each)
            if slow.longest_seconds >= 1 and _each(slow) > _TURN * _each(fast):
                found.append(before.at if slow is before or after.polls > 1 else after.at - after.seconds)
    kept: list[float] = []
    for at in sorted(found):
        if not kept or at > kept[-1] + GRID:
            kept.append(at)
    return kept


def _each(batch: Batch) -> float:
    return max(LEAST, batch.seconds / batch.records)


_ERRORS, _APART, _POLLS = 4.0, 0.25, 3
"""A member has a pace of its own if it is off by so many standard errors (one of 30,000 by chance), by a share that
makes a difference to lag, over so many polls that a deviation can be told."""


@dataclass(frozen=True, slots=True)
class Paces:
    """Times per record of a group."""

    common: Pace
    own: Mapping[str, Pace]
    """Of members whose records take another time than those of the others."""
    means: Mapping[str, float]
    """Seconds per record of those members."""
    mean: float
    """Seconds per record while members work, but for those with a pace of their own."""
    slowest: float
    """The same of the slowest member."""
    low: float
    high: float
    """Half of the records were handled in polls that took between these shares of what the average says."""
    polls: int
    records: int
    stalls: Mapping[str, tuple[tuple[float, float], ...]]
    """(begin, seconds) of polls that stood still, by client; no part of the times per record."""


def paces(batches: Sequence[Batch], since: float, until: float, *, steady: bool = False) -> Paces | None:
    """Of polls that were done within the time; *steady*: one average. None where no poll had a record."""
    there = [b for b in batches if since <= b.at and b.at - b.seconds < until and b.records > 0]
    stalls = [b for b in stalled(batches) if b in there]
    inside = [b for b in there if b not in stalls] or there
    if not inside:
        return None
    apart = _apart(inside)
    rest = [b for b in inside if b.client_id not in apart] or inside
    common = _pace(rest, since, until, steady)
    own = {client: _pace([b for b in inside if b.client_id == client], since, until, steady) for client in apart}
    low, high = _quartiles(rest, common)
    mean = _mean(rest)
    means = {client: _mean([b for b in inside if b.client_id == client]) for client in apart}
    slowest = max(mean, *means.values(), 0.0)
    polls, records = sum(b.polls for b in inside), sum(b.records for b in inside)
    stood = {
        client: tuple((b.at - b.seconds, b.seconds) for b in stalls if b.client_id == client)
        for client in sorted({b.client_id or "" for b in stalls})
    }
    return Paces(common, own, means, mean, slowest, low, high, polls, records, stood)


def steady(seconds: float) -> Paces:
    """Every record takes *seconds*."""
    return Paces(Pace(((0.0, seconds),)), {}, {}, seconds, seconds, 1.0, 1.0, 0, 0, {})


def _mean(batches: Sequence[Batch]) -> float:
    """Seconds per record while records are worked off: each second counts, so that idle fast times weigh little."""
    seconds = sum(b.seconds for b in batches)
    return max(LEAST, sum(b.seconds * b.seconds / b.records for b in batches) / seconds) if seconds else LEAST


def _pace(batches: Sequence[Batch], since: float, until: float, steady: bool) -> Pace:
    steps = [(since, _mean(batches))] if steady else _steps(batches, since, until)
    long = [b for b in batches if b.polls == 1 and b.seconds > 0]
    squares = sum((b.seconds - b.records * _at(steps, b.at - b.seconds / 2)) ** 2 / b.records for b in long)
    return Pace(tuple(steps), sqrt(squares / (len(long) - 1)) if len(long) > 1 else 0.0)


def _steps(batches: Sequence[Batch], since: float, until: float) -> list[tuple[float, float]]:
    """Average of each ten seconds, as long as a row of short polls is; with too few records, of all between turns."""
    found = []
    for first, last in pairwise([since, *(at for at in turns(batches) if since < at < until), until]):
        usual = _between(batches, first, last, 0.0) or _mean(batches)
        count = max(1, round((last - first) / GRID))
        for number in range(count):
            begin = first + number * GRID
            end = last if number == count - 1 else begin + GRID
            found.append((begin, _between(batches, begin, end, ENOUGH) or usual))
    return found


def _between(batches: Sequence[Batch], begin: float, end: float, enough: float) -> float | None:
    """Seconds per record of that time; a poll counts by the time of it that was spent there."""
    seconds = records = 0.0
    for batch in batches:
        began = batch.at - max(batch.seconds, 1e-3)
        share = (min(end, batch.at) - max(begin, began)) / (batch.at - began)
        if share > 0:
            seconds += share * batch.seconds
            records += share * batch.records
    return max(LEAST, seconds / records) if records > enough else None


def _at(steps: Sequence[tuple[float, float]], at: float) -> float:
    return next((seconds for since, seconds in reversed(steps) if since <= at), steps[0][1])


def _apart(batches: Sequence[Batch]) -> list[str]:
    """Clients whose records take another time than those of the others, beyond what chance makes of it."""
    clients = sorted({b.client_id for b in batches if b.client_id})
    found = []
    for client in clients:
        its = [b for b in batches if b.client_id == client]
        others = [b for b in batches if b.client_id != client]
        if sum(b.polls for b in its) < _POLLS or not others:
            continue
        usual, mean = _mean(others), _mean(its)
        squares = sum((b.seconds - b.records * mean) ** 2 / b.records for b in its) / len(its)
        error = sqrt(squares / sum(b.records for b in its))
        if mean - usual > max(_ERRORS * error, _APART * usual):
            found.append(client)
    return found


def _quartiles(batches: Sequence[Batch], pace: Pace) -> tuple[float, float]:
    """A quarter and three quarters of the records were in polls that took at most this share of the average."""
    shares = sorted(
        (b.seconds / (b.records * _at(pace.steps, b.at - b.seconds / 2)), b.records) for b in batches if b.seconds > 0
    )
    if not shares:
        return 1.0, 1.0
    reached = list(accumulate(records for _, records in shares))
    quarter, most = (
        next(share for (share, _), sum_ in zip(shares, reached, strict=True) if sum_ >= part * reached[-1])
        for part in (0.25, 0.75)
    )
    return min(1.0, quarter), max(1.0, most)
