"""Rows about a small capture: the first run ever, a cold, a second and a warm triage, and a report."""

from __future__ import annotations

from bench import captures
from bench.bed import Bed
from bench.measure import Run
from bench.rows import Goal, Row, against, rounds

SAMPLE = captures.SAMPLES / "kafka-amp-17"
_ANOTHER = captures.SAMPLES / "kafka-rebalance-01"
"""What a warm session answers about before."""
_LIMITS = {"cold triage": 7.0, "second triage": 7.0, "warm triage": 2.0, "cold report": 15.0}


def rows(bed: Bed) -> list[Row]:
    """All rows of the small capture, in rounds of one run each."""
    contestants = {
        "first run ever": lambda: _first(bed),
        "cold triage": lambda: captures.cold(bed, SAMPLE),
        "second triage": lambda: captures.triaged(bed, SAMPLE),
        "warm triage, the session's first": lambda: _warm(bed, used=False),
        "warm triage": lambda: _warm(bed, used=True),
        "cold report": lambda: _report(bed),
    }
    runs = rounds(bed.rounds, contestants, bed.telling(SAMPLE.name))
    cold = runs["cold triage"]
    found = []
    for name, these in runs.items():
        peer, ratios = ("", []) if name == "cold triage" else ("cold triage", against(these, [cold]))
        goals = [Goal("seconds", _LIMITS[name])] if name in _LIMITS else []
        found.append(Row(f"{SAMPLE.name}: {name}", these, peer, ratios, goals))
    return found


def _first(bed: Bed) -> Run:
    """Nothing in the cache, not even what ``make setup`` puts there."""
    with bed.scratch() as cache:
        return captures.triaged(bed, SAMPLE, cache=cache)


def _warm(bed: Bed, *, used: bool) -> Run:
    """A capture that the workspace does not know, in a session that has, or has not, answered about another one."""
    with bed.warm() as mark:
        bed.forget()
        if used:
            captures.triaged(bed, _ANOTHER, mark)
        return captures.triaged(bed, SAMPLE, mark)


def _report(bed: Bed) -> Run:
    bed.forget()
    with bed.scratch() as out:
        page = out / "report.html"
        found = bed.mqlab("report", str(SAMPLE), "-o", str(page))
        found.problems += [] if page.exists() else ["no report was written"]
        return found
