"""A run from the scenario to the check: played, everything stopped, diagnosed, judged."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from mqlab.lab import judging
from mqlab.lab.brokers.registry import Stage, fresh
from mqlab.lab.home import Home
from mqlab.lab.playing import Play, Played, new_folder
from mqlab.lab.processes import Processes
from mqlab.lab.scenario import Scenario

Tell = Callable[[str], None]


def run(scenario: Scenario, home: Home, ports: int, tell: Tell) -> tuple[Path, judging.Check]:
    """(folder of the run, check) of *scenario*; nothing runs any more.

    Raises:
        LabError: it could not be played.
    """
    played = play(scenario, home, ports, tell)
    tell("diagnosing")
    check = diagnosed(played)
    return played.folder, check


def play(scenario: Scenario, home: Home, ports: int, tell: Tell) -> Played:
    """Play *scenario* and stop everything; the truth is written.

    Raises:
        LabError: it could not be played.
    """
    with home.held():
        fresh(home)
        processes = Processes(home)
        try:
            played = Play(scenario, Stage(processes), new_folder(home.runs, scenario), tell).run(ports)
        finally:
            tell("stopping everything")
            processes.close()
    shutil.rmtree(played.folder / "live")
    judging.written(played.folder, "truth.json", judging.truth(played))
    return played


def diagnosed(played: Played) -> judging.Check:
    """What mqlab says of the capture, judged; both are written beside it."""
    from mqlab import jsonout
    from mqlab.capture import open_capture

    diagnosis = open_capture([str(played.capture)]).diagnosis
    (played.folder / "diagnosis.json").write_text(jsonout.dumps(diagnosis))
    check = judging.judged(played.books.scenario, played.books, diagnosis)
    judging.written(played.folder, "check.json", check.document())
    return check
