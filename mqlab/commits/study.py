"""What the commit study measured: ways to commit side by side, recorded or at a broker just now, and what is expected.

The recorded figures stand in ``study.toml``, with what they were measured on; they are read at first use.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

from mqlab.models.commits import Loop, Way, round_trip

FIELD: Final = Loop(100_000, 500, 3.09 / 200, round_trip(4.58, 3.09, 200))
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
    return tuple(_study(entry, table["where"]) for entry in table["study"])


def _study(entry: Mapping[str, Any], where: Mapping[str, str]) -> Study:
    rows = tuple(_run(way, numbers) for way, numbers in entry["ways"].items())
    return Study(recorded=True, where=where, rows=rows, **{k: v for k, v in entry.items() if k != "ways"})


def _run(way: str, numbers: Mapping[str, Any]) -> Run:
    return Run(None if way == "none" else Way(way), **numbers)
