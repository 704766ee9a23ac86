"""An exercise as a learner gets it: a story, questions, and replies that only their answer opens.

It stands in one JSON file, ``exercises/07.json``. In clear: title, story, questions and their options, which files the
material has and when what of them was known. Locked: every reply, hint and the debrief. ``fingerprint`` finds the
material among the samples, whose names would tell too much, or among the archives of a wheel, which has few samples.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from mqlab.bundled import samples
from mqlab.cache import workspace
from mqlab.training.answers import Amount, Choice, Form, Moment, Place
from mqlab.training.cutting import Known
from mqlab.training.errors import BadKeyError, NoMaterialError, UnknownExerciseError
from mqlab.training.locks import Lock, derived, unsealed

BUNDLED = Path(__file__).parent / "exercises"
ARCHIVES = Path(__file__).parent / "material"
"""Where a wheel has the captures of the exercises, an archive each; a checkout has none."""
SAMPLES = samples()
FOLDER = Path("mqlab-training")
"""Where attempts go, if nobody says otherwise."""
CHAPTERS: Mapping[str, str] = {
    "lag": "Offsets and lag",
    "groups": "Groups",
    "rebalances": "Rebalances",
    "delivery": "Delivery",
    "traffic": "Traffic",
    "sessions": "MQTT sessions",
    "chains": "Chains",
}
"""The course's order: each builds on those before it."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question, with its locked replies."""

    name: str
    text: str
    kind: str
    """choice, moment, amount or place."""
    points: int
    lock: Lock
    hints: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    """What is shown by what is locked, in the order of the file, which is the alphabet's."""
    unit: str = ""
    tolerance: float = 0.0
    """Seconds of a moment, a part of an amount."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise, sealed."""

    number: str
    title: str
    chapter: str
    level: int
    minutes: int
    story: str
    alarm: float
    window: tuple[float, float]
    fingerprint: str
    files: tuple[str, ...]
    known: Mapping[str, Known]
    """When what of each file was known, for time rolled back; see ``cutting``."""
    questions: tuple[Question, ...]
    debrief: str
    instructor: str

    def form(self, question: Question) -> Form:
        """How answers to *question* are read."""
        if question.kind == "choice":
            return Choice(question.options)
        if question.kind == "moment":
            return Moment(question.tolerance, datetime.fromtimestamp(self.window[0], UTC).date().isoformat())
        return Amount(question.unit, question.tolerance) if question.kind == "amount" else Place(self.files)

    def question(self, name: str) -> Question:
        """The question called so.

        Raises:
            BadKeyError: there is none.
        """
        for one in self.questions:
            if one.name == name:
                return one
        raise BadKeyError(f"Exercise {self.number} asks {', '.join(q.name for q in self.questions)}, not {name!r}.")

    def told(self, shares: Sequence[str]) -> dict[str, Any]:
        """The debrief; *shares* stand in the right replies to the questions that offer options, in their order."""
        document: dict[str, Any] = unsealed(self.debrief, joined(shares))
        return document

    def dumps(self) -> str:
        """Itself as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def hint(number: int) -> str:
    """What opens a hint in its question's lock."""
    return f"hint {number}"


def joined(shares: Sequence[str]) -> bytes:
    """The key of a debrief."""
    return derived("".join(shares).encode(), "debrief")


def loads(text: str) -> Exercise:
    """The exercise that ``dumps`` wrote.

    Raises:
        BadKeyError: it is none.
    """
    try:
        raw = json.loads(text)
        asked = tuple(_question(told) for told in raw.pop("questions"))
        known = {name: Known(**told) for name, told in raw.pop("known").items()}
        whole = {"questions": asked, "known": known, "window": tuple(raw["window"]), "files": tuple(raw["files"])}
        return Exercise(**raw | whole)
    except (ValueError, KeyError, TypeError) as error:
        raise BadKeyError(f"This version of mqlab cannot read the exercise: {error}.") from None


def _question(told: dict[str, Any]) -> Question:
    lock = Lock(**told["lock"] | {"replies": tuple(told["lock"]["replies"])})
    return Question(**told | {"lock": lock})


def exercises(folder: Path = BUNDLED) -> list[Exercise]:
    """All exercises of a set, in the course's order."""
    every = [loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    order = list(CHAPTERS)
    return sorted(every, key=lambda one: (order.index(one.chapter), one.level, one.number))


def exercise(number: str, folder: Path = BUNDLED) -> Exercise:
    """The exercise with this number; ``7`` is ``07``.

    Raises:
        UnknownExerciseError: the set has none.
    """
    path = folder / f"{number.rjust(2, '0')}.json"
    if not number.isalnum() or not path.is_file():
        raise UnknownExerciseError(number, sorted(p.stem for p in folder.glob("*.json")))
    return loads(path.read_text(encoding="utf-8"))


def material(one: Exercise, folders: Sequence[Path] = (SAMPLES,)) -> Path:
    """The capture that *one* is about, found by what is in it.

    Raises:
        NoMaterialError: it is in none of *folders*, and did not come with the package.
    """
    for folder in folders:
        for candidate in [folder, *sorted(p for p in folder.glob("*") if p.is_dir())]:
            if fingerprint(candidate) == one.fingerprint:
                return candidate
    archive = ARCHIVES / f"{one.fingerprint}.tar.xz"
    if archive.is_file():
        return _unpacked(archive)
    raise NoMaterialError(one.number, folders)


@cache
def _unpacked(archive: Path) -> Path:
    """What the archive holds, in a folder that is there for as long as this process."""
    folder = workspace.temporary()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with tarfile.open(archive) as packed:
        for member in packed:
            target = folder / member.name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (content := packed.extractfile(member)) is not None:
                target.write_bytes(content.read())
    return folder


def listing(folder: Path) -> list[str]:
    """The files below *folder*, by their path in it."""
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def fingerprint(folder: Path) -> str:
    """What tells a capture from others: names and sizes of its files."""
    told = "\n".join(f"{name} {(folder / name).stat().st_size}" for name in listing(folder))
    return hashlib.sha256(told.encode()).hexdigest()
