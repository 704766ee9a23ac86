"""What is asked, and when: once, or again and again for a while; Ctrl-C and a lost broker leave a valid bundle."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from mqlab.gather.bundle import Bundle
from mqlab.gather.manifest import now
from mqlab.terminal import bare


@dataclass(frozen=True, slots=True)
class Tick:
    """One sampling."""

    at: datetime
    """When it began; all files of it show this moment in their names."""
    first: bool
    last: bool


Asking = Callable[[Tick], None]
"""Something that is asked at every tick; what it is not answered it notes in the manifest, and does not raise."""


def together(several: Sequence[Asking]) -> Asking:
    """One that asks all of *several*."""

    def ask(tick: Tick) -> None:
        for one in several:
            one(tick)

    return ask


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which topics and groups are looked at, as globs; empty means all."""

    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    def topic(self, name: str) -> bool:
        """Whether this topic is."""
        return not self.topics or any(fnmatchcase(name, glob) for glob in self.topics)

    def group(self, name: str) -> bool:
        """Whether this group is."""
        return not self.groups or any(fnmatchcase(name, glob) for glob in self.groups)


@dataclass(frozen=True, slots=True)
class Schedule:
    """How often, and for how long, in seconds; a duration of 0 means once."""

    interval: float
    duration: float

    def ticks(self, sleep: Callable[[float], None] = time.sleep) -> Iterator[Tick]:
        """The samplings, when each is due; those that an earlier one was too slow for are left out."""
        begun, due = time.monotonic(), 0.0
        latest = self.duration // self.interval * self.interval
        while True:
            yield Tick(now(), first=due == 0.0, last=due == latest)
            if due == latest:
                return
            passed = time.monotonic() - begun
            due = min(max(due + self.interval, passed // self.interval * self.interval), latest)
            sleep(max(0.0, due - passed))


def gather(bundle: Bundle, asking: Sequence[Asking], schedule: Schedule) -> tuple[Path, bool]:
    """Ask as scheduled and end the bundle; where it lies, and whether it was interrupted."""
    because: str | None = "an error of mqlab"
    try:
        with _stopped_by_signals(), _progress(schedule) as tell:
            for tick in schedule.ticks():
                for ask in asking:
                    ask(tick)
                bundle.note()
                tell(bundle.manifest.files)
        because = None
    except KeyboardInterrupt:
        because = "Ctrl-C or SIGTERM"
    finally:
        place = bundle.close(because)
    return place, because is not None


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """What stops services ends a capture as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _progress(schedule: Schedule) -> Iterator[Callable[[int], None]]:
    """Says how far it is, on a terminal."""
    console = Console(file=bare(sys.stderr))
    columns = (TextColumn("gathering"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[files]} files"))
    begun = time.monotonic()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=max(schedule.duration, 1), files=0)

        def tell(files: int) -> None:
            bar.update(task, completed=time.monotonic() - begun, files=files)

        yield tell
