"""Processes of a lab: started on a leash, written down, stopped in the order opposite to their start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

from mqlab.lab.errors import BrokerError
from mqlab.lab.home import Home

_LEASH = Path(__file__).with_name("leash.py")
_PATIENCE = 30.0
"""Seconds that a process has to stop in good order before it is killed: a broker writes its files meanwhile."""


@dataclass(frozen=True, slots=True)
class Command:
    """How a process is started."""

    name: str
    words: Sequence[str]
    folder: Path
    """Its working folder."""
    output: Path
    """Where its standard output and error go."""
    env: Mapping[str, str] = field(default_factory=dict)
    speaks: bool = False
    """Whether it is told things on its standard input."""


@dataclass
class Processes:
    """All processes of one lab."""

    home: Home
    running: dict[str, subprocess.Popen[str]] = field(default_factory=dict)

    def start(self, command: Command) -> subprocess.Popen[str]:
        """Start *command*. All processes of a lab keep UTC, so that no log needs its zone told.

        Call it from the main thread: Linux ends a leashed process when the *thread* that started it goes.
        """
        command.output.parent.mkdir(parents=True, exist_ok=True)
        command.folder.mkdir(parents=True, exist_ok=True)
        leash = [sys.executable, "-I", "-S", str(_LEASH), str(os.getpid())]
        with command.output.open("ab") as output:
            process = subprocess.Popen(
                [*leash, *command.words],
                cwd=command.folder,
                env={**os.environ, "TZ": "UTC", **command.env},
                stdin=subprocess.PIPE if command.speaks else subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                text=True,
                start_new_session=True,
            )
        self.home.note(command.name, process.pid, " ".join(command.words)[:200])
        self.running[command.name] = process
        return process

    def alive(self, name: str) -> bool:
        """Whether the process of this name was started and runs."""
        process = self.running.get(name)
        return process is not None and process.poll() is None

    def send(self, name: str, kind: signal.Signals) -> None:
        """Send a signal: SIGTERM an orderly stop, SIGKILL a crash, SIGSTOP and SIGCONT a pause."""
        if self.alive(name):
            self.running[name].send_signal(kind)

    def tell(self, name: str, line: str) -> None:
        """Write a line to a process that is told things."""
        stdin = self.running[name].stdin
        if stdin is not None and self.alive(name):
            stdin.write(line + "\n")
            stdin.flush()

    def stop(self, *names: str) -> None:
        """Stop these together in good order, killing what takes too long."""
        going = [name for name in names if self.alive(name)]
        for name in going:
            self.send(name, signal.SIGCONT)
            self.send(name, signal.SIGTERM)
        until = monotonic() + _PATIENCE
        for name in going:
            try:
                self.running[name].wait(max(0.1, until - monotonic()))
            except subprocess.TimeoutExpired:
                self.running[name].kill()
                self.running[name].wait()

    def close(self) -> None:
        """Stop everything, the last started first."""
        for name in reversed(list(self.running)):
            self.stop(name)
        self.running.clear()
        self.home.journal.unlink(missing_ok=True)


def wait_for(name: str, ready: Callable[[], bool], processes: Processes, log: Path, seconds: float = 60.0) -> None:
    """Return when *ready* says so.

    Raises:
        BrokerError: the process ended first, or it took too long.
    """
    until = monotonic() + seconds
    while not ready():
        if not processes.alive(name):
            raise BrokerError(name, "ended during its start", str(log))
        if monotonic() > until:
            raise BrokerError(name, f"did not answer within {seconds:.0f} s", str(log))
        sleep(0.2)
