"""Rows about every capture that comes with mqlab: cold and warm triages, the usual and the slowest one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.bed import Bed
from bench.measure import ROOT, Run
from bench.rows import Goal, Row

SAMPLES = ROOT / "data" / "samples"
_TRUTH = ROOT / "tests" / "truth"
_COLD, _WORST, _WARM = 7.0, 15.0, 2.0
"""Seconds: the usual cold triage, the slowest one, the usual warm one."""

Turn = dict[str, Run]
"""One run of each capture."""


def rows(bed: Bed) -> list[Row]:
    """Each capture once a round, cold, and then, one after the other, in one warm session."""
    names = sorted(place.name for place in SAMPLES.iterdir() if place.is_dir())
    turns: dict[str, list[Turn]] = {"cold": [], "warm": []}
    for turn in range(1, bed.rounds + 1):
        tell = bed.telling(f"{len(names)} captures, round {turn} of {bed.rounds}")
        tell("cold")
        turns["cold"].append({name: cold(bed, SAMPLES / name) for name in names})
        tell("warm")
        with bed.warm() as mark:
            bed.forget()
            turns["warm"].append({name: triaged(bed, SAMPLES / name, mark) for name in names})
    return [
        *_of(f"{len(names)} captures: cold triage", turns["cold"], [Goal("seconds", _COLD)], [Goal("seconds", _WORST)]),
        *_of(f"{len(names)} captures: warm triage", turns["warm"], [Goal("seconds", _WARM)], []),
    ]


def cold(bed: Bed, capture: Path) -> Run:
    """One triage with an empty workspace and no session."""
    bed.forget()
    return triaged(bed, capture)


def triaged(bed: Bed, capture: Path, mark: str | None = None, cache: Path | None = None) -> Run:
    """One triage of a capture, whose verdict must be what really happened."""
    found = bed.triage(capture, mark, cache)
    verdict = json.loads(found.out)["verdict"]["incident"]
    truth = json.loads((_TRUTH / f"{capture.name}.truth.json").read_text(encoding="utf-8"))
    harmless = truth["class"] == "healthy" and verdict not in truth["must_not_blame"]
    if verdict != truth["class"] and not harmless:
        found.problems.append(f"{capture.name}: verdict {verdict}, not {truth['class']}")
    return found


def _of(name: str, turns: Sequence[Turn], usual: Sequence[Goal], slowest: Sequence[Goal]) -> list[Row]:
    """The median of all captures and the slowest of them, each with one run a round."""
    middle = [_as_one(turn, median(run.seconds for run in turn.values())) for turn in turns]
    worst = [_as_one(turn, max(run.seconds for run in turn.values())) for turn in turns]
    last = turns[-1]
    note = f"slowest in the last round: {max(last, key=lambda capture: last[capture].seconds)}" if last else ""
    return [Row(f"{name}, median", middle, goals=usual), Row(f"{name}, worst", worst, goals=slowest, note=note)]


def _as_one(turn: Turn, seconds: float) -> Run:
    """All runs of a round as one that took so many *seconds*."""
    peak = max(run.peak for run in turn.values())
    return Run(seconds, seconds, peak, "", [problem for run in turn.values() for problem in run.problems])
