"""Missing records of a Kafka group that end where the log began, or begin where the log refused a position.

A consumer that is overtaken by retention while it reads says so itself; where its log is not there, or does not tell
where it went on, its ledger breaks off at some offset and goes on at a log start that was seen then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mqlab.delivery_groups.offsets import Offsets, before
from mqlab.delivery_groups.runs import Run, inside, outside
from mqlab.findings import Evidence


@dataclass(frozen=True, slots=True)
class Deleted:
    """Some of them, and what shows it."""

    run: Run
    place: Evidence


def deleted(known: Offsets, runs: Iterable[Run]) -> tuple[list[Deleted], list[Run]]:
    """Those of *runs*, and the others."""
    found: list[Deleted] = []
    rest: list[Run] = []
    for run in runs:
        low, place = _refused(known, run) or _overtaken(known, run) or (run.high, None)
        rest += outside([run], low, run.high)
        found += [Deleted(part, place) for part in inside([run], low, run.high) if place is not None]
    return found, rest


def _refused(known: Offsets, run: Run) -> tuple[int, Evidence] | None:
    """The consumer's line about the position at which the run begins."""
    told = [e for e in known.lines if e.kind == "offset-reset" and "Truncation detected" not in e.first.text]
    return next(((run.low, e.first) for e in told if e.value_max == run.low), None)


def _overtaken(known: Offsets, run: Run) -> tuple[int, Evidence] | None:
    """The log began right behind the run while the group had committed less: what it had not committed is gone."""
    for mark in known.starts:
        stood = before(known.committed, mark.at)
        if mark.offset == run.high and stood is not None and stood.offset < run.high:
            return max(run.low, stood.offset), mark.place
    return None
