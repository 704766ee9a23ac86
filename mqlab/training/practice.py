"""An exercise in a notebook: the material with its verdict locked, the questions, and what comes after them.

::

    from mqlab import training

    exercise = training.begin("07")          # starts it, or goes on with it
    exercise                                 # the story, and what to type next
    capture = exercise.capture               # tables, lines and figures; the verdict is locked
    exercise.ask()                           # the open question as a form; or exercise.answer("mqtt-bridge")
    exercise.debrief()
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqlab import units
from mqlab.capture import Capture, Text, open_capture
from mqlab.diagnosis import Diagnosis, Verdict
from mqlab.findings import Finding
from mqlab.plots import Plots
from mqlab.training import attempt as attempts
from mqlab.training import exercise as exercises
from mqlab.training.attempt import Attempt, Reply
from mqlab.training.desk import Desk
from mqlab.training.errors import LockedError, NothingArrivedError
from mqlab.training.exercise import BUNDLED, CHAPTERS, FOLDER, SAMPLES

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mqlab.training.debrief import Debrief

_LOCKED = Verdict("locked", None, "The verdict opens when you have answered all questions.", ())
_NEXT = (
    ("exercise.capture", "the material: tables, lines, figures; the verdict is locked"),
    ("exercise.ask()", "the open question as a form"),
    ('exercise.answer("…")', "an answer to the open question, as text"),
    ("exercise.hint()", "a hint for the open question; it costs a fifth of its points"),
    ("exercise.debrief()", "what happened, and what an expert would have checked; after the last answer"),
)


class _Figures(Plots):
    def delivery(self, topic: str | None = None) -> go.Figure:
        """Locked: it names why messages were lost."""
        raise LockedError(f"How far the messages of {topic or 'a topic'} got")


@dataclasses.dataclass(frozen=True, repr=False)
class Sealed(Capture):
    """A capture whose findings and verdict nobody sees yet; everything else is as in a real incident."""

    def __post_init__(self) -> None:
        """Whatever it is made of, a part of itself too, has no verdict."""
        object.__setattr__(self, "diagnosis", _without_verdict(self.diagnosis))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Locked."""
        raise LockedError("What mqlab found")

    @property
    def plot(self) -> Plots:
        """Every figure but the one whose legend names the class."""
        return _Figures(self.facts, self.diagnosis, self.options.group, self.options.topic, self.options.client)

    def show(self, finding: str, lines: int = 3) -> Text:
        """Locked."""
        raise LockedError(f"Finding {finding} with its {lines} lines")


def sealed(capture: Capture) -> Sealed:
    """*capture* without its verdict."""
    return Sealed(**{field.name: getattr(capture, field.name) for field in dataclasses.fields(capture)})


def _without_verdict(diagnosis: Diagnosis) -> Diagnosis:
    return dataclasses.replace(
        diagnosis, verdict=_LOCKED, findings=(), rejected=(), clear=(), not_checked=(), symptoms=(), gaps=(), risers=()
    )


class Practice:
    """One attempt, for people who type."""

    def __init__(self, attempt: Attempt, samples: Sequence[Path] = (SAMPLES,)) -> None:
        self.attempt = attempt
        self._samples = tuple(samples)
        self._opened: tuple[object, Capture] | None = None

    # -- the material ------------------------------------------------------------------------------------------------

    @property
    def capture(self) -> Capture:
        """The material as it is known now; its verdict opens with the last answer."""
        if not any(path.is_file() for path in self.attempt.material.rglob("*")):
            raise NothingArrivedError
        arrived = (len(self.attempt.journal.entries) if self.attempt.rolled_back else 0, self.attempt.submitted)
        if self._opened is None or self._opened[0] != arrived:
            opened = open_capture(str(self.attempt.material), workspace=str(self.attempt.folder / "workspace"))
            self._opened = arrived, opened if self.attempt.submitted else sealed(opened)
        return self._opened[1]

    @property
    def desk(self) -> Desk | Text:
        """The clock and what can be asked for, where time is rolled back; else that everything is there."""
        return desk_of(self.attempt, self._samples) if self.rolled_back else Text("All material is there.")

    @property
    def rolled_back(self) -> bool:
        """Time is rolled back: nothing is there but what is asked for."""
        return self.attempt.rolled_back

    # -- the questions -----------------------------------------------------------------------------------------------

    def ask(self, question: str | None = None) -> Any:
        """A question (else the open one) as a form; as text where forms cannot be shown."""
        from mqlab.training.forms import form

        return form(self.attempt, question)

    def answer(self, text: str, question: str | None = None) -> Text:
        """What is said to an answer to the open question.

        Raises:
            BadAnswerError: it cannot be read, or *question* is not the open one; nothing is counted.
        """
        return Text(told(self.attempt, self.attempt.answer(text, question)))

    def hint(self) -> Text:
        """One more hint for the open question; it costs a fifth of its points."""
        return Text(self.attempt.hint())

    def give_up(self) -> Text:
        """The open question is closed without points."""
        return Text(told(self.attempt, self.attempt.give_up()))

    # -- afterwards --------------------------------------------------------------------------------------------------

    def debrief(self) -> Debrief | Text:
        """What happened, what proves it, and what an expert would have looked at in which order.

        Until the last answer is given, it says which question is open.
        """
        from mqlab.training.debrief import debrief

        if question := self.attempt.open_question:
            return Text(f"The debrief opens when all questions are answered; this one is open: {question.text}")
        return debrief(self.attempt, desk_of(self.attempt, self._samples) if self.rolled_back else None)

    def timeline(self) -> go.Figure | Text:
        """The capture's timeline with the moments of the debrief; before the last answer, why it is not there."""
        found = self.debrief()
        return found if isinstance(found, Text) else found.timeline(self.capture)

    # -- shown -------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        one = self.attempt.exercise
        lines = [headline(self.attempt), "", one.story, "", *(f"  {call:<24} {what}" for call, what in _NEXT)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:left'><code>{escape(call)}</code></td>"
            f"<td style='text-align:left'>{escape(what)}</td></tr>"
            for call, what in _NEXT
        )
        return (
            "<div style='border-left:4px solid #4c78a8;padding:2px 12px;max-width:80ch'>"
            f"<b>{escape(headline(self.attempt))}</b><p>{escape(self.attempt.exercise.story)}</p>"
            f"<details><summary>What to type next</summary><table>{rows}</table></details></div>"
        )


def begin(
    number: str = "01",
    folder: str | Path = FOLDER,
    *,
    learner: str = "",
    roll_back: bool = False,
    exercises_in: str | Path = BUNDLED,
    samples: str | Path | None = None,
) -> Practice:
    """Exercise *number* below *folder*: goes on with it, or starts it.

    With *roll_back* the material comes when it is asked for, as it was known then. *exercises_in* is a set of a team's
    own, *samples* the folder with the captures that its exercises are about, unless those came with mqlab.

    Raises:
        TrainingError: no such exercise, or its material is nowhere.
    """
    place, known = Path(folder) / str(number).rjust(2, "0"), (Path(samples or SAMPLES),)
    if not (place / "exercise.json").is_file():
        one = exercises.exercise(str(number), Path(exercises_in))
        attempts.start(one, exercises.material(one, known), place, learner, roll_back)
    return Practice(Attempt(place), known)


def at(folder: str | Path, samples: str | Path | None = None) -> Practice:
    """The attempt in *folder*, as ``mqlab train start`` made it.

    Raises:
        NotStartedError: it holds none.
    """
    return Practice(Attempt(Path(folder)), (Path(samples or SAMPLES),))


def desk_of(attempt: Attempt, samples: Sequence[Path]) -> Desk:
    """The desk of an attempt whose time is rolled back."""
    one = attempt.exercise
    originals = exercises.material(one, samples)
    return Desk(originals, attempt.material, one.known, one.alarm, one.window[1], attempt.journal)


def headline(attempt: Attempt) -> str:
    """Number, title, chapter, and how far the learner is."""
    one = attempt.exercise
    closed = sum(standing.closed for standing in attempt.standing())
    return (
        f"Exercise {one.number}: {one.title} · {CHAPTERS[one.chapter]} · about {one.minutes} minutes · "
        f"{closed} of {units.counted(len(one.questions), 'question')}, {attempt.points:g} points"
    )


def told(attempt: Attempt, reply: Reply) -> str:
    """What is said to an answer, and what comes next."""
    mark = "Right." if reply.right else "Not quite." if reply.points else "No." if not reply.closed else "Closed."
    text = reply.text.removeprefix("No. ")
    lines = [f"{mark} {text} ({reply.points:g} points)"]
    if reply.closed:
        following = attempt.open_question
        lines += ["", attempts.shown(following) if following else "That was the last question: read the debrief."]
    return "\n".join(lines)
