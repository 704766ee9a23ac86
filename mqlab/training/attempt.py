"""One learner's attempt at an exercise: questions in their order, replies at once, points, hints, the debrief.

A folder holds it: ``exercise.json`` (sealed), ``submission.jsonl`` (the journal, from which everything here follows)
and ``material/``. An answer has three tries, worth all, six and three tenths of its credit; a hint costs a fifth of the
question's points. A question ends with the full credit, after three tries, or when it is given up.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mqlab import units
from mqlab.training import exercise as exercises
from mqlab.training.answers import EXAMPLES
from mqlab.training.errors import BadAnswerError, BadKeyError, NotStartedError, TrainingError
from mqlab.training.exercise import Exercise, Question
from mqlab.training.journal import NAME, Journal

TRIES = (1.0, 0.6, 0.3)
"""What an answer is worth at the first, second and third try."""
HINT = 0.2
"""What a hint costs, as a part of the question's points."""
_NOTHING = "No. That is not it."
_NEXT_TRY = ("Two tries are left.", "One try is left.", "")


@dataclass(frozen=True, slots=True)
class Reply:
    """What is said to an answer."""

    text: str
    points: float
    """Earned by it."""
    closed: bool
    """The question is over."""
    right: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one question stands."""

    question: Question
    answers: tuple[str, ...]
    hints: tuple[str, ...]
    credits: tuple[float, ...]
    replies: tuple[str, ...]
    """To the answers, and to giving up."""
    points: float
    closed: bool


class Attempt:
    """What a learner does with one exercise, in *folder*."""

    def __init__(self, folder: Path) -> None:
        file = folder / "exercise.json"
        if not file.is_file():
            raise NotStartedError(folder)
        self.folder = folder
        self.exercise: Exercise = exercises.loads(file.read_text(encoding="utf-8"))
        self.journal = Journal(folder / NAME)

    @property
    def material(self) -> Path:
        """The folder with what the learner may look at."""
        return self.folder / "material"

    @cached_property
    def rolled_back(self) -> bool:
        """Time is rolled back: material comes when it is asked for."""
        return any(entry["kind"] == "started" and entry.get("rolled_back") for entry in self.journal.entries)

    # -- questions ---------------------------------------------------------------------------------------------------

    def standing(self) -> list[Standing]:
        """Every question, in order, with what was answered so far."""
        entries = self.journal.entries
        return [_standing(question, [e for e in entries if e.get("question") == question.name])
                for question in self.exercise.questions]  # fmt: skip

    @property
    def open_question(self) -> Question | None:
        """The one that is to be answered next; none when all are closed."""
        return next((one.question for one in self.standing() if not one.closed), None)

    @property
    def points(self) -> float:
        """Of a hundred, so far."""
        return round(sum(one.points for one in self.standing()), 1)

    def answer(self, text: str, question: str | None = None) -> Reply:
        """The reply to *text* as an answer to the open question.

        Raises:
            BadAnswerError: it cannot be read, or *question* is not the open one; nothing is counted.
        """
        asked = self._asked(question)
        tries = len(self._now(asked).answers)
        reply = self._looked_up(asked, self.exercise.form(asked).keys(str(text)))
        credit = reply["credit"] if reply else 0.0
        closed = credit == 1.0 or tries + 1 == len(TRIES)
        told = reply["text"] if reply else _NOTHING
        if closed and credit < 1.0:
            told += f" {self._revealed(asked)}"
        elif not closed:
            told += f" {_NEXT_TRY[tries]}"
        earned = round(credit * TRIES[tries] * self._worth(asked), 1)
        fields = {"credit": credit, "points": earned, "text": told, "closed": closed}
        self.journal.append("answer", question=asked.name, answer=str(text), **fields)
        return Reply(told, earned, closed, credit == 1.0)

    def hint(self, question: str | None = None) -> str:
        """One more hint to the open question; it costs a fifth of its points.

        Raises:
            BadAnswerError: there is none left, or *question* is not the open one.
        """
        asked = self._asked(question)
        number = len(self._now(asked).hints) + 1
        if number > asked.hints:
            raise BadAnswerError("There are no more hints for this question.")
        text: str = asked.lock.open(exercises.hint(number))["text"]  # type: ignore[index]
        self.journal.append("hint", question=asked.name, text=text)
        return text

    def give_up(self, question: str | None = None) -> Reply:
        """The open question is closed with the points that it has; what was right is said where options were offered.

        Raises:
            BadAnswerError: *question* is not the open one.
        """
        asked = self._asked(question)
        told = self._revealed(asked)
        self.journal.append("given-up", question=asked.name, text=told)
        return Reply(told, 0.0, closed=True, right=False)

    @property
    def submitted(self) -> bool:
        """All questions are closed."""
        return self.open_question is None

    def debrief(self) -> dict[str, Any]:
        """What the exercise was sealed from.

        Raises:
            TrainingError: a question is still open.
        """
        if question := self.open_question:
            raise TrainingError(f"The debrief opens when all questions are answered; {question.name!r} is still open.")
        return self.exercise.told(self._shares)

    # -- helpers -----------------------------------------------------------------------------------------------------

    @cached_property
    def _shares(self) -> Sequence[str]:
        """The shares of the right replies, each found by trying every option."""
        return [self._best(question)["share"] for question in self.exercise.questions if question.kind == "choice"]

    def _best(self, question: Question) -> dict[str, Any]:
        for name in question.options:
            reply = question.lock.open(name)
            if reply and reply["credit"] == 1.0:
                return {**reply, "name": name}
        raise BadKeyError(f"No option of {question.name!r} is right: the exercise's file is damaged.")

    def _revealed(self, question: Question) -> str:
        if question.kind != "choice":
            return "The debrief says what it was."
        best = self._best(question)
        return f"Right would have been “{question.options[best['name']]}”. {best['text']}"

    def _looked_up(self, question: Question, keys: Sequence[str]) -> dict[str, Any] | None:
        return next(filter(None, map(question.lock.open, keys)), None)

    def _asked(self, name: str | None) -> Question:
        question = self.open_question
        if question is None:
            raise BadAnswerError("All questions are answered: read the debrief.")
        if name not in (None, question.name):
            raise BadAnswerError(f"The open question is {question.name!r}: {question.text}")
        return question

    def _now(self, question: Question) -> Standing:
        return next(one for one in self.standing() if one.question is question)

    def _worth(self, question: Question) -> float:
        return question.points * (1 - HINT * len(self._now(question).hints))


def start(one: Exercise, originals: Path, folder: Path, learner: str, rolled_back: bool) -> Attempt:
    """A new attempt in *folder*, which must not hold one; with all material, or none where time is rolled back.

    Raises:
        TrainingError: there is an attempt already.
    """
    if (folder / NAME).exists():
        raise TrainingError(f"{folder} already has an attempt: continue it, or choose another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    if rolled_back:
        (folder / "material").mkdir(exist_ok=True)
    else:
        shutil.copytree(originals, folder / "material", dirs_exist_ok=True)
    (folder / "exercise.json").write_text(one.dumps(), encoding="utf-8")
    attempt = Attempt(folder)
    attempt.journal.append("started", exercise=one.number, learner=learner, rolled_back=rolled_back)
    return attempt


def _standing(question: Question, entries: Sequence[dict[str, Any]]) -> Standing:
    answers = [e for e in entries if e["kind"] == "answer"]
    best = max((e["points"] for e in answers), default=0.0)
    return Standing(
        question,
        tuple(e["answer"] for e in answers),
        tuple(e["text"] for e in entries if e["kind"] == "hint"),
        tuple(e["credit"] for e in answers),
        tuple(e["text"] for e in entries if e["kind"] != "hint"),
        best,
        any(e["kind"] == "given-up" or e.get("closed") for e in entries),
    )


def shown(question: Question) -> str:
    """A question as text: what is asked, the options by number, how to write the answer."""
    ways = {"moment": "A moment in UTC", "amount": f"A number of {question.unit}", "place": "A line"}
    options = [f"  {number}. {text}" for number, text in enumerate(question.options.values(), start=1)]
    head = f"{question.text} ({units.counted(question.points, 'point')})"
    return "\n".join([head, *(options or [f"  {ways[question.kind]}, as {EXAMPLES[question.kind]}."])])
