"""Running a process on chosen cores: seconds, and the memory of all processes that it starts, daemons included."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.checks import Counted

ROOT = Path(__file__).parents[1]
_MARK = "MQLAB_BENCH_RUN"
_SHARE = 50
"""How many times longer than one look at the memory the watcher rests, so that it takes two percent of a core."""
_PATIENCE = 60.0


@dataclass
class Run:
    """One run of one process."""

    seconds: float
    """Wall clock of the process, or what it measured itself."""
    wall: float
    peak: int
    """Most resident bytes at one moment, shared pages counted once."""
    out: str
    problems: list[str] = field(default_factory=list)
    """What its results are wrong in; nothing if they are right."""
    told: dict[str, float] = field(default_factory=dict)
    """What it measured itself."""
    counted: Counted | None = None


def run(
    arguments: list[str], cores: str = "0,1", *, mark: str | None = None, more: Mapping[str, str] | None = None
) -> Run:
    """Run Python with *arguments*, pinned to *cores*; processes that already carry *mark* count with their memory.

    Raises:
        SystemExit: the process failed.
    """
    name = mark or uuid.uuid4().hex
    environment = {**os.environ, **(more or {}), _MARK: name, "POLARS_MAX_THREADS": str(len(cores.split(",")))}
    watcher = _Watcher(name)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        watcher.start()
        started = time.perf_counter()
        code = subprocess.run(
            ["taskset", "-c", cores, sys.executable, *arguments],
            stdin=subprocess.DEVNULL, stdout=out, stderr=errors, cwd=ROOT, env=environment, check=False,
        ).returncode  # fmt: skip
        wall = time.perf_counter() - started
        watcher.ended.set()
        watcher.join()
        if mark is None:
            wait_for_the_last(name)
        out.seek(0)
        errors.seek(0)
        if code:
            raise SystemExit(f"{' '.join(arguments)} failed:\n{errors.read().decode(errors='replace')[-2000:]}")
        return Run(wall, wall, watcher.peak, out.read().decode())


class _Watcher(threading.Thread):
    """Looks at the memory of all processes that carry a mark, until told that the run ended."""

    def __init__(self, mark: str) -> None:
        super().__init__(daemon=True)
        self.mark, self.peak, self.ended = mark, 0, threading.Event()
        self.strangers = _processes() - set(_marked(mark, _processes()))

    def run(self) -> None:
        while True:
            before = time.perf_counter()
            self.peak = max(self.peak, sum(map(_resident, _marked(self.mark, _processes() - self.strangers))))
            if self.ended.wait(max(0.1, _SHARE * (time.perf_counter() - before))):
                return


def _processes() -> set[int]:
    return {int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()}


def _marked(mark: str, processes: set[int]) -> list[int]:
    return [pid for pid in processes if f"{_MARK}={mark}".encode() in _environment(pid)]


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def _resident(pid: int) -> int:
    """Bytes of a process in memory, a page that n processes share counted 1/n; all its pages where that is hidden."""
    try:
        rows = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
        return next(int(row.split()[1]) * 1024 for row in rows if row.startswith("Pss:"))
    except (OSError, StopIteration):
        return _all_pages(pid)


def _all_pages(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return 0


def wait_for_the_last(mark: str) -> None:
    """Let processes that outlive the measured one end, so that the next run has the cores for itself."""
    until = time.monotonic() + _PATIENCE
    while _marked(mark, _processes()) and time.monotonic() < until:
        time.sleep(0.1)
