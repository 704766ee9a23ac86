"""Sets made: one capture and its truth become an exercise of a team's own; the bundled set is made the same way.

``python -m mqlab.training.making KEYS SAMPLES OUTPUT`` makes the bundled set; ``make exercises`` runs it.
"""

from __future__ import annotations

import json
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from mqlab.training import drawn, keys, sealing
from mqlab.training.errors import BadKeyError
from mqlab.training.exercise import Exercise
from mqlab.training.keys import Truth

ORDER = "set.yml"
"""Which captures the bundled set has, by number; it stands beside their keys."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an instructor asked for."""

    capture: Path
    truth: Path
    questions: Path | None
    number: str
    seed: int


def drafted(wanted: Wanted, output: Path) -> Path:
    """The questions drawn from a capture as YAML in *output*, for an instructor to better.

    Raises:
        BadKeyError: the truth file lacks something.
    """
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"{wanted.number}.questions.yml"
    text = yaml.safe_dump(dict(_truth(wanted).key), allow_unicode=True, sort_keys=False, width=120)
    path.write_text(text, encoding="utf-8")
    return path


def made(wanted: Wanted, output: Path, secret: bytes) -> Path:
    """One exercise in the set *output*, with its material beside it.

    Raises:
        BadKeyError: the truth file or the questions lack something.
    """
    one = sealing.exercise_of(wanted.number, _truth(wanted), secret, wanted.seed)
    material = output / "material" / wanted.number
    if material.exists():
        shutil.rmtree(material)
    shutil.copytree(wanted.capture, material)
    path = output / f"{wanted.number}.json"
    path.write_text(one.dumps(), encoding="utf-8")
    return path


def bundled(folder: Path, samples: Path, output: Path) -> list[Path]:
    """The bundled set, made of the keys in *folder*, the truth files beside it and *samples*; returns what it wrote.

    Raises:
        BadKeyError: something is missing or cannot be read.
    """
    secret = sealing.read_key(folder / "instructor.key")
    order = yaml.safe_load((folder / ORDER).read_text(encoding="utf-8"))
    output.mkdir(exist_ok=True)
    with ProcessPoolExecutor() as processes:
        made = [processes.submit(_bundled, number, name, folder, samples, secret) for number, name in order.items()]
        written = [output / f"{number}.json" for number in order]
        for path, one in zip(written, made, strict=True):
            path.write_text(one.result().dumps(), encoding="utf-8")
    return written


def _bundled(number: str, name: str, folder: Path, samples: Path, secret: bytes) -> Exercise:
    truth = keys.read(samples / name, folder.parent / f"{name}.truth.json", folder / f"{name}.toml")
    return sealing.exercise_of(number, truth, secret)


def _truth(wanted: Wanted) -> Truth:
    """What is known of a capture: the questions that were written, else those drawn from it."""
    if wanted.questions:
        truth = keys.read(wanted.capture, wanted.truth, wanted.questions)
        return replace(truth, key=drawn.varied(truth.key, truth.incident, wanted.seed)) if wanted.seed else truth
    from mqlab.capture import open_capture

    try:
        told = json.loads(wanted.truth.read_text(encoding="utf-8"))
        incident = told["class"]
    except (OSError, ValueError, KeyError) as error:
        raise BadKeyError(f"{wanted.truth} is not a truth file, which names at least the class: {error}.") from None
    return Truth(wanted.capture, incident, drawn.key_of(open_capture(str(wanted.capture)), told, wanted.seed))


if __name__ == "__main__":
    bundled(*map(Path, sys.argv[1:4]))
