"""What the commit study measured: ways to commit side by side, recorded or at a broker just now, and their tables.

The recorded figures stand in ``study.toml``, with what they were measured on; they are read at first use.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Final

import pandas as pd

from mqlab.models import commits
from mqlab.models.commits import Loop, Way
from mqlab.shared.table import table
from mqlab.units import brief, digits, duration, number, size

FIELD: Final = Loop(100_000, 500, 3.09 / 200, (4.58 - 3.09) / 200)
"""The field study: 100,000 records in 4.58 s with a synchronous and 3.09 s with an asynchronous commit a poll.

It does not tell the records of a poll: 500 is the default of max.poll.records. The time of a poll does not depend on
the model, the round trip is the difference over the polls.
"""
NAMES: Final[Mapping[Way | None, str]] = {
    None: "no commit", Way.SYNC: "sync", Way.ASYNC: "async", Way.MIXED: "mixed", Way.AUTO: "automatic",
}  # fmt: skip
"""Ways as people read them."""


@dataclass(frozen=True, slots=True)
class Run:
    """One way to commit, measured once, or the medians of several."""

    way: Way | None
    """None reads without any commit."""
    polls: int
    seconds: float
    closing_seconds: float
    commits: int
    """Calls; the automatic ones are not seen."""
    commit_seconds: float
    """Time that the loop spent in the calls that commit."""
    crashed_after: int
    """Records that a second process had worked off when it died without a close, before the commit of its last poll."""
    again: int
    """Of those, the ones that the next member of the group was handed out again."""
    lost: int
    """Records that were committed and not worked off then."""


@dataclass(frozen=True, slots=True)
class Study:
    """Medians of the ways that were measured one after the other on one machine."""

    told: str
    """What was measured, in a few words."""
    recorded: bool
    """Not measured just now."""
    where: Mapping[str, str]
    """Broker, client, machine and day, as far as they are known."""
    records: int
    poll_records: int
    record_bytes: int
    work_seconds: float
    interval_ms: int
    runs: int
    rows: tuple[Run, ...]

    @property
    def loop(self) -> Loop | None:
        """What the model needs: a poll as it is without commits, the round trip as the synchronous calls took it."""
        plain = next((r for r in self.rows if r.way is None), None)
        waiting = next((r for r in self.rows if r.way is Way.SYNC), None)
        if plain is None or waiting is None:
            return None
        each = waiting.commit_seconds / waiting.commits
        return Loop(self.records, self.poll_records, plain.seconds / plain.polls, each, self.interval_ms / 1000)


def recorded() -> tuple[Study, ...]:
    """What was measured once and is shown where no broker is given."""
    table = tomllib.loads(resources.files("mqlab.commits").joinpath("study.toml").read_text(encoding="utf-8"))
    found = []
    for entry in table["study"]:
        ways = entry.pop("ways")
        rows = tuple(Run(None if way == "none" else Way(way), **numbers) for way, numbers in ways.items())
        found.append(Study(recorded=True, where=table["where"], rows=rows, **entry))
    return tuple(found)


_NOTHING = "—"


def source(study: Study) -> pd.DataFrame:
    """Where the figures come from, and whether they were measured just now."""
    rows = [{"about": about, "told": told} for about, told in _source(study)]
    return table(rows, ("about", "told"))


def ways(study: Study) -> pd.DataFrame:
    """One row per way: how long it took and how many records were handed out again after a crash.

    What is expected takes the mean round trip; where single answers come later, more is handed out again.
    """
    return table([_way(study, run) for run in study.rows], _WAYS)


_WAYS = (
    "way", "commits", "took", "expected", "closing", "records a second", "again after a crash",
    "with mean answers, at most", "lost by the crash",
)  # fmt: skip


def field() -> pd.DataFrame:
    """The field study and what the model makes of its two figures for the other ways."""
    rows = [
        {
            "way": NAMES[way],
            "measured": {Way.SYNC: "4.58 s", Way.ASYNC: "3.09 s"}.get(way, _NOTHING),
            "by the model": f"{digits(commits.loop_seconds(FIELD, way))} s",
            "commits": number(commits.commits(FIELD, way)),
            "again after a crash, at most": number(commits.after_crash(FIELD, way).again_most),
        }
        for way in Way
    ]
    return table(rows, ("way", "measured", "by the model", "commits", "again after a crash, at most"))


def ends(loop: Loop, waiting: int) -> pd.DataFrame:
    """What a crash and a stop in good order leave: in a loop that works off its polls, and with hand-over to threads.

    *waiting* are the records that were handed over and that no thread had begun.
    """
    rows = [_end(loop, way, handed) for handed in (None, waiting) for way in Way]
    return table(rows, ("way", "work", "crash: again", "crash: lost", "good order: again", "good order: lost"))


def _source(study: Study) -> Iterator[tuple[str, str]]:
    how = "recorded once: no broker was given" if study.recorded else "measured just now"
    yield "figures", f"{how}; medians of {study.runs} runs of each way, one after the other"
    yield from study.where.items()
    yield (
        "records",
        f"{number(study.records)} of {size(study.record_bytes)}, one partition, {study.poll_records} a poll",
    )
    yield "work", f"{brief(study.work_seconds)} a poll" if study.work_seconds else "none"
    yield "auto.commit.interval.ms", number(study.interval_ms)
    if study.loop is not None:
        yield "one poll without commits", brief(study.loop.poll_seconds)
        yield "round trip of a commit", f"{brief(study.loop.round_trip)}, as the synchronous calls took"


def _way(study: Study, run: Run) -> dict[str, object]:
    expected, again = _NOTHING, _NOTHING
    if study.loop and run.way:
        expected = duration(commits.loop_seconds(study.loop, run.way))
        again = number(commits.after_crash(study.loop, run.way).again_most)
    return {
        "way": NAMES[run.way],
        "commits": _NOTHING if run.way is Way.AUTO else number(run.commits),
        "took": duration(run.seconds),
        "expected": expected,
        "closing": brief(run.closing_seconds),
        "records a second": number(round(study.records / run.seconds)),
        "again after a crash": f"{number(run.again)} of {number(run.crashed_after)}",
        "with mean answers, at most": again,
        "lost by the crash": number(run.lost),
    }


def _end(loop: Loop, way: Way, waiting: int | None) -> dict[str, object]:
    crash = commits.after_crash(loop, way, waiting)
    return {
        "way": NAMES[way],
        "work": "in the loop" if waiting is None else f"other threads, {number(waiting)} wait",
        "crash: again": _between(0, crash.again_most),
        "crash: lost": _between(crash.lost_least, crash.lost_most),
        "good order: again": number(0),
        "good order: lost": number(waiting or 0),
    }


def _between(least: int, most: int) -> str:
    return number(least) if least == most else f"{number(least)} to {number(most)}"
