"""The notebook of an attempt: the one in ``notebooks/training``, with the attempt's place filled in."""

from __future__ import annotations

import json
import os
from pathlib import Path

from mqlab.bundled import notebooks
from mqlab.training.attempt import Attempt
from mqlab.training.exercise import SAMPLES


def write(attempt: Attempt, samples: Path) -> Path:
    """The notebook of *attempt*, in its folder; one that is there stays, with what the learner wrote in it."""
    path = attempt.folder / "exercise.ipynb"
    if path.exists():
        return path
    notebook = json.loads((notebooks() / "training" / "exercise.ipynb").read_text(encoding="utf-8"))
    given = {
        "number": attempt.exercise.number,
        "folder": "..",
        "samples": None if samples == SAMPLES else os.path.relpath(samples, attempt.folder),
        "roll_back": attempt.rolled_back,
    }
    for cell in notebook["cells"]:
        if "parameters" in cell["metadata"].get("tags", []):
            cell["source"] = "\n".join(f"{name} = {value!r}" for name, value in given.items())
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1), encoding="utf-8")
    return path
