"""Time rolled back: the learner sees what was known at a moment, asks for material, waits, and decides when to act.

The clock starts at the alarm and moves in steps, each told as a minute of the story. Whatever is asked for costs steps
and lies in the folder then, as it was at that moment; what was asked for before goes on growing. All of it is plain
files, so that every table and figure shows exactly what was known. The journal alone holds the state: whoever opens
the folder again goes on where it was.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from html import escape
from pathlib import Path
from typing import Any, Self

import pandas as pd

from mqlab import units
from mqlab.material.names import without_moment
from mqlab.sources import Role
from mqlab.training import cutting
from mqlab.training.cutting import How, Known
from mqlab.training.errors import TrainingError
from mqlab.training.journal import Journal
from mqlab.training.review import Review as Review
from mqlab.training.review import Visit

STEPS = 60
"""Steps in which a capture passes."""
COSTS: Mapping[str, int] = {Role.LEDGER: 5, **dict.fromkeys((role for role in Role if role.is_log), 2), Role.METRICS: 2}
"""Steps that it takes to get hold of something; everything else takes one."""
ASKED, WAITED, ACTED = "desk-asked", "desk-waited", "desk-acted"
"""Kinds of the journal's entries."""


class NotOnDeskError(TrainingError):
    """What was asked for does not exist, or not yet."""

    def __init__(self, asked: str, now: str) -> None:
        super().__init__(f"There is no {asked!r} at {now}: desk.sources() lists what you can ask for.")


class ActedError(TrainingError):
    """The clock stands still."""

    def __init__(self, now: str) -> None:
        super().__init__(f"You acted at {now}, so the clock has stopped: continue with the questions.")


class BadStepError(TrainingError):
    """Time does not run so."""

    def __init__(self, steps: object) -> None:
        super().__init__(f"{steps!r} is not a number of minutes: give a whole number from 1.")


@dataclass(frozen=True, slots=True)
class Item:
    """Something that can be asked for: a file, all snapshots of one command, or a folder of exported metrics."""

    name: str
    role: str
    files: tuple[str, ...]

    @property
    def cost(self) -> int:
        """Steps until it lies on the desk."""
        return COSTS.get(self.role, 1)


def items(known: Mapping[str, Known]) -> dict[str, Item]:
    """What can be asked for, by name."""
    names: dict[str, list[str]] = {}
    for file, one in sorted(known.items()):
        names.setdefault(_asked_as(file, one), []).append(file)
    return {name: Item(name, known[files[0]].role, tuple(files)) for name, files in sorted(names.items())}


def _asked_as(file: str, known: Known) -> str:
    if known.how == How.SERIES:
        folder, _, name = file.rpartition("/")
        return f"{folder}/*.{name.rpartition('.')[2]}".lstrip("/")
    return without_moment(file).lstrip("/") if known.how == How.TAKEN else file


class Desk:
    """The clock, and what lies on the desk.

    *originals* is the whole capture, *folder* where the learner's part of it goes; *known* is what ``cutting.index``
    made, also as plain JSON. *alarm* and *end* are epoch seconds.
    """

    def __init__(
        self,
        originals: Path,
        folder: Path,
        known: Mapping[str, Known | Mapping[str, Any]],
        alarm: float,
        end: float,
        journal: Journal,
    ) -> None:
        self._originals, self._folder, self._journal = originals, folder, journal
        self._known = {name: one if isinstance(one, Known) else Known(**one) for name, one in known.items()}
        self._items = items(self._known)
        self.alarm, self._end = alarm, end
        self.step = max(1, round((end - (cutting.span(self._known)[0] or alarm)) / STEPS))
        """Seconds of the material that pass in one minute of the story."""
        self._deliver()

    # -- the clock ---------------------------------------------------------------------------------------------------

    @property
    def minutes(self) -> int:
        """Since the alarm, as the story counts them."""
        return sum(entry.get("steps", 0) for entry in self._journal.entries if entry["kind"] in (ASKED, WAITED))

    @property
    def moment(self) -> float:
        """The moment up to which everything on the desk is known, in epoch seconds."""
        return self.alarm + self.minutes * self.step

    @property
    def now(self) -> str:
        """The same in words."""
        return f"{units.clock(self.moment)} UTC, minute {self.minutes} since the alarm"

    @property
    def acted(self) -> str | None:
        """What was done in the end; None while the clock runs."""
        return next((str(e["what"]) for e in self._journal.entries if e["kind"] == ACTED), None)

    def wait(self, steps: int = 1) -> Self:
        """Let so many minutes pass."""
        self._must_run()
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise BadStepError(steps)
        self._journal.append(WAITED, steps=steps)
        return self._deliver()

    def act(self, what: str) -> Self:
        """Stop the clock, and say what you would do now."""
        self._must_run()
        self._journal.append(ACTED, what=what.strip())
        return self

    def _must_run(self) -> None:
        if self.acted is not None:
            raise ActedError(self.now)

    # -- the material ------------------------------------------------------------------------------------------------

    def sources(self) -> pd.DataFrame:
        """What there is at this moment, what it takes to get it, and whether it is here."""
        asked = self._asked()
        rows = [
            (item.name, item.role, item.cost, "here" if item.name in asked else "")
            for item in self._items.values()
            if self._is_there(item)
        ]
        return pd.DataFrame(rows, columns=["name", "what", "minutes", "state"])

    def ask(self, name: str) -> Self:
        """Get what is called *name*: a file, a glob or a folder; it is here after the minutes that it takes.

        Raises:
            NotOnDeskError: there is no such thing at this moment.
            ActedError: the clock stands.
        """
        self._must_run()
        there = [item for item in self._items.values() if self._is_there(item) and self._is_called(item, name)]
        if not there:
            raise NotOnDeskError(name, self.now)
        asked = self._asked()
        if new := [item for item in there if item.name not in asked]:
            self._journal.append(ASKED, items=[item.name for item in new], steps=sum(item.cost for item in new))
        return self._deliver()

    def _is_there(self, item: Item) -> bool:
        return any(self._known[file].since <= self.moment for file in item.files)

    def _is_called(self, item: Item, name: str) -> bool:
        wanted = name.removeprefix("./").removesuffix("/")
        here = [file for file in item.files if self._known[file].since <= self.moment]
        return any(
            one == wanted or one.startswith(f"{wanted}/") or fnmatchcase(one, wanted) for one in (item.name, *here)
        )

    def _asked(self) -> dict[str, int]:
        """The minute at which each item came, in the order in which they were asked for."""
        found: dict[str, int] = {}
        minute = 0
        for entry in self._journal.entries:
            for name in entry["items"] if entry["kind"] == ASKED else ():
                if name in self._items:
                    minute += self._items[name].cost
                    found[name] = minute
            minute += entry.get("steps", 0) if entry["kind"] == WAITED else 0
        return found

    def _deliver(self) -> Self:
        """Bring all that was asked for up to the clock."""
        for name in self._asked():
            for file in self._items[name].files:
                until = self.moment if self.moment < self._end else max(self.moment, self._known[file].last)
                data = cutting.cut(self._originals / file, self._known[file], until)
                if data is not None:
                    _put(self._folder / file, data, self.moment)
        return self

    # -- afterwards --------------------------------------------------------------------------------------------------

    def review(self, order: Sequence[str], proof: Sequence[tuple[str, str]] = ()) -> Review:
        """How the time was spent, beside the best possible order.

        *order* are the files that an expert looks at; any snapshot of a command will do for another one of it. *proof*
        are (file, text) of the lines that prove it: nobody can be sure before one of them is known.
        """
        best = list(dict.fromkeys(_asked_as(file, self._known[file]) for file in order if file in self._known))
        mine = [(name, minute - self._items[name].cost, minute) for name, minute in self._asked().items()]
        yours = tuple(Visit(name, since, until, name in best) for name, since, until in mine)
        expert: list[Visit] = []
        minute = 0
        for name in best:
            there = min(self._known[file].since for file in self._items[name].files)
            since = max(minute, self._minute_of(there))
            minute = since + self._items[name].cost
            expert.append(Visit(name, since, minute, True))
        known = [
            cutting.known_from(self._originals / file, self._known[file], text)
            for file, text in proof
            if file in self._known
        ]
        sure = max(minute, self._minute_of(min(known, default=0.0)))
        return Review(yours, tuple(expert), self.minutes, sure, self.acted, self.alarm, self.step)

    def _minute_of(self, at: float) -> int:
        """The first minute of the story at which the moment *at* has passed."""
        return max(0, -int(-(at - self.alarm) // self.step))

    # -- shown -------------------------------------------------------------------------------------------------------

    def _next(self) -> list[tuple[str, str]]:
        if self.acted is not None:
            return []
        asked = self._asked()
        more = [item.name for item in self._items.values() if self._is_there(item) and item.name not in asked]
        return [
            ("desk.sources()", "what you can ask for, and how long each takes"),
            *((f'desk.ask("{name}")', "get it; the clock goes on meanwhile") for name in more[:1]),
            ("desk.wait(5)", "let five minutes pass; what is here goes on growing"),
            ('desk.act("…")', "stop the clock and say what you would do"),
        ]

    def told(self) -> list[str]:
        """The clock, what is on the desk, and whether it is over, a sentence each."""
        pace = "" if self.step == 60 else f" (a minute of the story is {_seconds(self.step)} of the material)"
        here = ", ".join(self._asked()) or "nothing yet"
        over = ["The material ends here: there is nothing more to wait for."] if self.moment >= self._end else []
        done = [f"You acted: {self.acted}"] if self.acted is not None else []
        return [f"It is {self.now}{pace}.", f"On the desk: {here}.", *over, *done]

    def __repr__(self) -> str:
        width = max((len(call) for call, _ in self._next()), default=0)
        return "\n".join([*self.told(), *(f"  {call:<{width}}  {what}" for call, what in self._next())])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:left'><code>{escape(call)}</code></td>"
            f"<td style='text-align:left'>{escape(what)}</td></tr>"
            for call, what in self._next()
        )
        head, *rest = map(escape, self.told())
        told = f"<b>{head}</b>{''.join(f'<p>{line}</p>' for line in rest)}"
        return f"<div style='max-width:80ch'>{told}<table>{rows}</table></div>"


def _seconds(count: int) -> str:
    return units.counted(count, "second") if count < 120 else units.duration(count)


def _put(file: Path, data: bytes, at: float) -> None:
    """Write *data*, last changed at the moment *at*, unless it stands there already; never half of it."""
    if file.is_file() and file.read_bytes() == data:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    half = file.with_name(f".{file.name}.half")
    half.write_bytes(data)
    os.utime(half, (at, at))
    half.replace(file)
