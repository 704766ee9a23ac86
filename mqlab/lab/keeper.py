"""The process behind ``mqlab lab up``: it holds the lab's folder, its brokers are its children and end with it.

``python -m mqlab.lab.keeper HOME PORTS BROKER…`` writes a line of JSON to its standard output for each step, the last
one says whether all are up; then it waits for SIGTERM.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic, sleep

from mqlab.lab.brokers.naming import named
from mqlab.lab.brokers.registry import Stage, fresh
from mqlab.lab.errors import LabError
from mqlab.lab.home import Home
from mqlab.lab.processes import Processes

_STATE = "up.json"


def raised(home: Home, ports: int, brokers: Sequence[str], tell: Callable[[str], None]) -> dict[str, str]:
    """Start a keeper of its own; addresses by broker when all are up.

    Raises:
        LabError: they did not come up; nothing is left running.
    """
    named(brokers)
    home.made()
    words = [sys.executable, "-m", "mqlab.lab.keeper", str(home.root), str(ports), *brokers]
    with (home.root / "keeper.log").open("w") as log:
        keeper = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
        )
    assert keeper.stdout is not None
    for line in keeper.stdout:
        said = json.loads(line)
        if "error" in said:
            raise LabError(said["error"])
        if "up" in said:
            return dict(said["up"])
        tell(said["step"])
    raise LabError(f"The lab did not start; the reason is in {home.root / 'keeper.log'}.")


def state(home: Home) -> dict[str, str]:
    """Addresses of the brokers that a keeper holds up; empty where none does."""
    path = home.root / _STATE
    return dict(json.loads(path.read_text())) if home.holder() and path.exists() else {}


def lowered(home: Home) -> bool:
    """Stop the keeper and, through it, all brokers; False where none runs. What a killed one left is ended, too."""
    holder = home.holder()
    if holder is None:
        if home.journal.exists():
            with home.held():
                return False
        return False
    os.kill(holder, signal.SIGTERM)
    until = monotonic() + 90
    while home.holder() == holder and monotonic() < until:
        sleep(0.2)
    return True


def main() -> None:
    """Hold the folder, start the brokers, wait, stop them."""
    home, ports, brokers = Home(Path(sys.argv[1])), int(sys.argv[2]), sys.argv[3:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    processes = Processes(home)
    try:
        with home.held():
            fresh(home)
            (home.root / _STATE).unlink(missing_ok=True)
            stage = Stage(processes)
            try:
                stage.up(named(brokers), ports, lambda step: _say({"step": step}))
                known = {each.wanted.label: each.address for each in stage.brokers}
                (home.root / _STATE).write_text(json.dumps(known))
                _say({"up": known})
                # Nobody reads any more from here on: the pipe's other end goes with the command that started this.
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                while True:
                    signal.pause()
            finally:
                processes.close()
                (home.root / _STATE).unlink(missing_ok=True)
    except LabError as error:
        _say({"error": str(error)})


def _say(said: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
