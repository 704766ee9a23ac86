"""What can go wrong for learners and instructors, one clear sentence each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mqlab.errors import MqlabError


class TrainingError(MqlabError):
    """Something that a learner or an instructor can act upon."""


class UnknownExerciseError(TrainingError):
    """No exercise has this number."""

    def __init__(self, asked: str, known: Iterable[str]) -> None:
        super().__init__(f"There is no exercise {asked!r}. Known: {', '.join(known) or 'none'}.")


class NotStartedError(TrainingError):
    """A folder holds no exercise."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"{folder} has no exercise: start one with `mqlab train start NUMBER`.")


class NoMaterialError(TrainingError):
    """The capture that an exercise is about is nowhere."""

    def __init__(self, number: str, folders: Iterable[Path]) -> None:
        places = ", ".join(map(str, folders)) or "no folder"
        super().__init__(
            f"The material of exercise {number} was not found (looked in {places}): "
            "give the folder of the samples with --samples."
        )


class LockedError(TrainingError):
    """The verdict was asked for before the answers were given."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} is locked until you have answered all questions: look at the tables, the lines and the figures."
        )


class NothingArrivedError(TrainingError):
    """Time is rolled back, and nothing was asked for yet."""

    def __init__(self) -> None:
        super().__init__("No material has arrived yet: `exercise.desk.sources()` lists what you can request.")


class BadAnswerError(TrainingError):
    """An answer cannot be read, or its question is not open."""


class BadKeyError(TrainingError):
    """A key file opens nothing, or a truth or key file cannot be read."""
