"""Rows about a small capture: the first run ever, a cold, a second and a warm triage, and a report."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

from bench.bed import Bed
from bench.measure import ROOT, Run, run, wait_for_the_last
from bench.rows import Goal, Row, against, rounds

SAMPLE = ROOT / "data" / "samples" / "kafka-amp-17"
_LOOP = "batch-split-loop"
"""What really happened in the sample."""


def rows(bed: Bed) -> list[Row]:
    """All rows of the small capture, in rounds of one run each."""
    bed.warm_archive(SAMPLE)
    contestants = {
        "first run ever": lambda: _first(bed),
        "cold triage": lambda: _cold(bed),
        "second triage": lambda: _triage(bed.cache),
        "warm triage": lambda: _warm(bed),
        "cold report": lambda: _report(bed),
    }
    runs = rounds(bed.rounds, contestants, bed.telling(SAMPLE.name))
    limits = {"cold triage": 8.0, "second triage": 7.0, "warm triage": 4.0, "cold report": 25.0}
    cold = runs["cold triage"]
    found = []
    for name, these in runs.items():
        peer, ratios = ("", []) if name == "cold triage" else ("cold triage", against(these, [cold]))
        goals = [Goal("seconds", limits[name])] if name in limits else []
        found.append(Row(f"{SAMPLE.name}: {name}", these, peer, ratios, goals))
    return found


def _first(bed: Bed) -> Run:
    """Nothing in the cache, not even a class-data archive."""
    with bed.scratch() as cache:
        return _triage(cache)


def _cold(bed: Bed) -> Run:
    bed.forget()
    return _triage(bed.cache)


def _warm(bed: Bed) -> Run:
    """Empty workspace, and a session that was started before and has answered nothing yet."""
    bed.forget()
    mark = uuid.uuid4().hex
    here = {"MQLAB_WORKSPACE": str(bed.cache)}
    run(["-m", "mqlab.cli", "session", "start"], mark=mark, more=here)
    try:
        return _triage(bed.cache, mark)
    finally:
        run(["-m", "mqlab.cli", "session", "stop"], more=here)
        wait_for_the_last(mark)


def _report(bed: Bed) -> Run:
    bed.forget()
    with bed.scratch() as out:
        page = out / "report.html"
        found = run(["-m", "mqlab.cli", "report", str(SAMPLE), "-o", str(page), "--workspace", str(bed.cache)])
        found.problems += [] if page.exists() else ["no report was written"]
        return found


def _triage(cache: Path, mark: str | None = None) -> Run:
    arguments = ["-m", "mqlab.cli", "triage", str(SAMPLE), "--format", "json"]
    found = run(arguments, mark=mark, more={"MQLAB_WORKSPACE": str(cache)})
    document = json.loads(found.out)
    if document["verdict"]["incident"] != _LOOP:
        found.problems.append(f"verdict {document['verdict']['incident']}, not {_LOOP}")
    return found
