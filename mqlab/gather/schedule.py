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
from types import FrameType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from mqlab.endings import watch
from mqlab.errors import MqlabError
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
"""Something that is asked at every tick; what it is not answered it notes in the manifest, and does not raise.

Only a refused login is raised, as ``RefusedError``: whoever refused it is never asked again.
"""


class RefusedError(MqlabError):
    """A login was refused, which another try would only repeat: accounts are locked, and alarms raised, by tries."""


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


class Stopped(KeyboardInterrupt):
    """A signal asked the capture to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """What stops services or closes a terminal ends a capture as Ctrl-C does; once, so that the bundle is ended whole.

    What is ignored, as below ``nohup``, stays so.
    """

    def stop(number: int, _: FrameType | None) -> None:
        for each in before:
            signal.signal(each, signal.SIG_IGN)
        raise Stopped(number)

    before = {each: signal.getsignal(each) for each in _STOPPING if signal.getsignal(each) is not signal.SIG_IGN}
    watch.hurries = False
    try:
        for each in before:
            signal.signal(each, stop)
        yield
    finally:
        watch.hurries = True
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def undisturbed() -> Iterator[None]:
    """No signal stops this block: a bundle is ended whole."""
    before = {each: signal.signal(each, signal.SIG_IGN) for each in _STOPPING}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def gather(bundle: Bundle, asking: Sequence[Asking], schedule: Schedule, watch: Asking | None = None) -> None:
    """Ask as scheduled, and *watch* after that, until all that is asked has refused a login."""
    left = list(asking)
    with _progress(schedule) as tell:
        for tick in schedule.ticks():
            for ask in tuple(left):
                try:
                    ask(tick)
                except RefusedError as refused:
                    bundle.manifest.failed("login", str(refused))
                    left.remove(ask)
            bundle.note()
            if watch:
                watch(tick)
            tell(bundle.manifest.files)
            if not left:
                return


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
