"""When the time that records take changed, and polls that stood still: both from the polls themselves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mqlab.rows.groups import Batch

APART = 10.0
"""Seconds between two turns at least: the members of a group notice one within a poll of each other."""
ENOUGH = 50
"""Records from which the average of a window is one; else that of the time between two turns is taken."""
LEAST = 0.0001
"""Seconds per record where the lines round a poll to nothing."""
_TURN = 2.0
"""Times by which records take longer from one poll to the next where something has happened to what they need."""
_STALL = 10.0
"""Times by which a poll of a few records takes longer per record than those around it where something stood still."""


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
        if not kept or at > kept[-1] + APART:
            kept.append(at)
    return kept


def _each(batch: Batch) -> float:
    return max(LEAST, batch.seconds / batch.records)
