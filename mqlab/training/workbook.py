"""The notebook of an attempt: the one in ``notebooks/training``, with the attempt's place and questions."""

from __future__ import annotations

import json
import os
from pathlib import Path

from mqlab.bundled import filled, notebooks
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
        "samples": "" if samples == SAMPLES else os.path.relpath(samples, attempt.folder),
        "roll_back": attempt.rolled_back,
    }
    filled(notebook, given)
    asked = {f'exercise.ask("{question.name}")' for question in attempt.exercise.questions}
    cells = [(cell, "".join(cell["source"])) for cell in notebook["cells"]]
    notebook["cells"] = [cell for cell, text in cells if not text.startswith("exercise.ask(") or text in asked]
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1), encoding="utf-8")
    return path
