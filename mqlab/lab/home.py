"""The lab's folder: where everything lies, who uses it, and what is left of a lab that was killed."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from mqlab.cache.owner import home, objection
from mqlab.lab.errors import BusyError, LabError

_MARK = "mqlab-lab"
"""A file that says that a folder is the lab's, so that ``destroy`` removes nothing else."""
_SAME = 0.05
"""Seconds within which two readings of one process's start agree: the kernel counts in hundredths."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One process that the lab started: its number alone would not do, since numbers come again."""

    name: str
    pid: int
    started: float
    """Seconds since 1970."""
    command: str

    @property
    def alive(self) -> bool:
        """Whether that very process still runs."""
        try:
            process = psutil.Process(self.pid)
            same = abs(float(process.create_time()) - self.started) < _SAME
            return same and bool(process.status() != psutil.STATUS_ZOMBIE)
        except psutil.Error:
            return False


@dataclass(frozen=True, slots=True)
class Home:
    """A lab's folder."""

    root: Path

    @property
    def dist(self) -> Path:
        """What was fetched and compiled; kept by ``down``."""
        return self.root / "dist"

    @property
    def work(self) -> Path:
        """Data, settings and logs of the brokers that run."""
        return self.root / "work"

    @property
    def runs(self) -> Path:
        """A folder for each run of a scenario: capture, truth, check."""
        return self.root / "runs"

    @property
    def journal(self) -> Path:
        """One line a process that the lab in this folder started."""
        return self.root / "processes.ndjson"

    def made(self) -> Home:
        """This folder, made and marked; an existing folder with other things in it is refused.

        Raises:
            LabError: the folder cannot be written, or is somebody else's.
        """
        try:
            if self.root.is_dir() and not (self.root / _MARK).exists() and any(self.root.iterdir()):
                raise LabError(f"{self.root} contains other files: give the lab an empty folder with --home.")
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            if because := objection(self.root):
                raise LabError(f"The lab's folder {self.root} cannot be used: {because}. Give another one with --home.")
            (self.root / _MARK).touch()
        except OSError as error:
            raise LabError(f"The lab's folder {self.root} cannot be written: {error}.") from error
        return self

    def note(self, name: str, pid: int, command: str) -> None:
        """Write down a process before anything else may happen to this one."""
        try:
            started = psutil.Process(pid).create_time()
        except psutil.Error:
            return
        with self.journal.open("a") as journal:
            journal.write(json.dumps(asdict(Entry(name, pid, started, command))) + "\n")
            journal.flush()
            os.fsync(journal.fileno())

    def entries(self) -> list[Entry]:
        """Processes that were written down; a line that was cut is none."""
        if not self.journal.exists():
            return []
        return [Entry(**json.loads(line)) for line in self.journal.read_text().splitlines() if line.endswith("}")]

    def swept(self) -> list[Entry]:
        """Processes that a killed lab left behind, which are killed now. Ask only while this folder is held."""
        left = [entry for entry in self.entries() if entry.alive]
        for entry in left:
            psutil.Process(entry.pid).kill()
        psutil.wait_procs([psutil.Process(e.pid) for e in left if e.alive], timeout=10)
        self.journal.unlink(missing_ok=True)
        return left

    @contextmanager
    def held(self) -> Iterator[list[Entry]]:
        """Hold this folder; the processes of a killed lab that were ended first. A lock dies with its holder.

        Raises:
            BusyError: a lab runs here.
        """
        self.made()
        with (self.root / "lock").open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BusyError(str(self.root), self.holder()) from None
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            yield self.swept()

    def holder(self) -> int | None:
        """Number of the process that holds this folder now."""
        try:
            with (self.root / "lock").open("r+") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return int(lock.read() or 0) or None
        except OSError:
            return None
        return None

    def bytes(self) -> int:
        """How much lies in this folder."""
        return sum(f.stat().st_size for f in self.root.rglob("*") if f.is_file() and not f.is_symlink())

    def removable(self) -> None:
        """See that there is a lab here, and that it can be removed.

        Raises:
            LabError: it is no folder of a lab, or this user may not remove it.
        """
        if not (self.root / _MARK).exists():
            raise LabError(f"{self.root} is not a lab's folder: nothing was removed.")
        because = objection(self.root) or next(
            (f"{folder} is read-only" for folder in (self.root.parent, self.root) if not os.access(folder, os.W_OK)),
            None,
        )
        if because:
            raise LabError(f"The lab in {self.root} cannot be removed: {because}. Nothing was stopped or removed.")

    def destroy(self) -> int:
        """Remove the folder with all that was fetched and all runs; how many bytes that were.

        Raises:
            BusyError: a lab runs here.
            LabError: it is no folder of a lab, or not all of it can be removed.
        """
        self.removable()
        with self.held():
            size = self.bytes()
        try:
            shutil.rmtree(self.root)
        except OSError as error:
            raise LabError(f"Not all of {self.root} could be removed: {error}.") from error
        return size


def default_home() -> Path:
    """Where a lab lies unless told otherwise: below XDG_CACHE_HOME, else ``~/.cache``."""
    return home() / "lab"
