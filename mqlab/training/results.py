"""The instructor's side of a class: what was submitted, judged again with the instructor's key, and what went wrong.

A submission is the folder of an attempt, or its ``submission.jsonl`` under any name; which exercise it is about stands
in its first line. Points are worked out anew from the answers, whatever the file says.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqlab import units
from mqlab.figures.style import figure
from mqlab.training import exercise as exercises
from mqlab.training import sealing
from mqlab.training.attempt import HINT, TRIES
from mqlab.training.errors import BadAnswerError, TrainingError
from mqlab.training.exercise import Exercise, Question
from mqlab.training.journal import Journal

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


@dataclass(frozen=True, slots=True)
class Answered:
    """What one learner did with one question."""

    learner: str
    exercise: str
    incident: str
    question: str
    points: float
    of: int
    answers: tuple[str, ...]
    """As given, the first one first; of a choice its name."""
    wrong: tuple[str, ...]
    hints: int
    given_up: bool


def read(folder: Path, chosen: Path, secret: bytes) -> list[Answered]:
    """Every question of every submission below *folder*, in the order of exercises and learners.

    Raises:
        TrainingError: there is no submission.
        BadKeyError: the set was sealed with another key.
    """
    known = {one.number: one for one in exercises.exercises(chosen)}
    classes = {number: sealing.truth_of(one, secret)["key"]["class"] for number, one in known.items()}
    rows: list[Answered] = []
    for path in sorted(folder.rglob("*.jsonl")):
        entries = Journal(path).entries
        started = next((entry for entry in entries if entry["kind"] == "started"), None)
        if started and started["exercise"] in known:
            one = known[started["exercise"]]
            learner = started.get("learner") or path.relative_to(folder).as_posix()
            rows += (_judged(learner, one, classes[one.number], question, entries) for question in one.questions)
    if not rows:
        raise TrainingError(f"{folder} contains no submission.jsonl of this set: check the folder and --set.")
    return sorted(rows, key=lambda row: (row.exercise, row.learner))


def table(rows: Sequence[Answered]) -> pd.DataFrame:
    """A row a question of a learner: learner, exercise, class, question, points, of, answers, hints, given up."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "learner": row.learner, "exercise": row.exercise, "class": row.incident, "question": row.question,
                "points": row.points, "of": row.of, "answers": ", ".join(row.answers), "hints": row.hints,
                "given up": row.given_up,
            }
            for row in rows
        ]
    )  # fmt: skip


def mistakes(rows: Sequence[Answered]) -> pd.DataFrame:
    """Columns exercise, question, wrong answer, learners; what most learners took for right first."""
    import pandas as pd

    counted = Counter((row.exercise, row.question, text) for row in rows for text in set(row.wrong))
    ordered = sorted(counted.items(), key=lambda one: (-one[1], one[0]))
    names = ["exercise", "question", "wrong answer", "learners"]
    return pd.DataFrame([(*key, count) for key, count in ordered], columns=names)


def plot_exercises(rows: Sequence[Answered]) -> go.Figure:
    """Points of each learner by exercise, the hardest first."""
    totals: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for row in rows:
        totals[f"{row.exercise} {row.incident}"][row.learner] += row.points
    ordered = sorted(totals, key=lambda name: sum(totals[name].values()) / len(totals[name]))
    chart = figure(height=140 + 26 * len(ordered))
    chart.add_scatter(
        x=[points for name in ordered for points in totals[name].values()],
        y=[name for name in ordered for _ in totals[name]],
        text=[learner for name in ordered for learner in totals[name]],
        mode="markers", hovertemplate="%{text}: %{x:.0f} points<extra></extra>",
    )  # fmt: skip
    chart.update_xaxes(title_text="points of a hundred", range=[-2, 102])
    return chart.update_yaxes(autorange="reversed", type="category")


def plot_questions(rows: Sequence[Answered]) -> go.Figure:
    """The share of its points that each question gave, of all learners and exercises."""
    shares: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        shares[row.question].append(row.points / row.of)
    means = [100 * sum(got) / len(got) for got in shares.values()]
    chart = figure(height=300)
    chart.add_bar(x=list(shares), y=means, hovertemplate="%{x}: %{y:.0f} %<extra></extra>")
    return chart.update_yaxes(title_text="% of its points, on average", range=[0, 100])


def told(rows: Sequence[Answered]) -> str:
    """Points by exercise and question, and the commonest wrong answers, for a terminal."""
    by_exercise: Mapping[tuple[str, str], list[Answered]] = _grouped(rows)
    lines = ["exercise  class                           learners  points  weakest question"]
    for (number, incident), inside in by_exercise.items():
        learners = {row.learner for row in inside}
        mean = sum(row.points for row in inside) / len(learners)
        lines.append(f"{number:<9} {incident:<31} {len(learners):>8}  {mean:>6.1f}  {_weakest(inside)}")
    wrong = mistakes(rows).head(10).itertuples(index=False)
    said = [f"  {n} × exercise {number}, {question}: {text}" for number, question, text, n in wrong]
    return "\n".join([*lines, "", "Commonest wrong answers", *(said or ["  none"]), ""])


def answers(one: Exercise, secret: bytes) -> str:
    """Everything that is right in an exercise, and what is said to each wrong answer.

    Raises:
        BadKeyError: it was sealed with another key.
    """
    truth = sealing.truth_of(one, secret)
    key = truth["key"]
    head = f"Exercise {one.number}: {one.title}\n{truth['name']}: {key['class']}"
    return "\n\n".join([head, *_sections(key)]) + "\n"


def _sections(key: Mapping[str, Any]) -> Iterator[str]:
    """One block for each question: right first, then the wrong ones with their reasons."""
    for name, part in key.items():
        if isinstance(part, dict) and name not in ("lesson", "points"):
            yield f"[{name}]\n" + "\n".join(_flat(part))


def _flat(part: Mapping[str, Any], indent: str = "  ") -> Iterator[str]:
    for name, value in part.items():
        if isinstance(value, dict):
            yield f"{indent}{name}:"
            yield from _flat(value, indent + "  ")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"{indent}{name}:"
            yield from (f"{indent}  - " + " · ".join(map(str, one.values())) for one in value)
        else:
            yield f"{indent}{name}: {value}"


def _judged(learner: str, one: Exercise, incident: str, question: Question, entries: list[dict[str, Any]]) -> Answered:
    """The points of one question by its answers: each looked up again."""
    points, hints = 0.0, 0
    given: list[str] = []
    wrong: list[str] = []
    mine = [entry for entry in entries if entry.get("question") == question.name]
    for entry in mine:
        if entry["kind"] == "hint":
            hints += 1
        elif entry["kind"] == "answer" and len(given) < len(TRIES):
            name, credit = _credit(one, question, entry["answer"])
            earned = credit * TRIES[len(given)] * question.points * (1 - HINT * hints)
            points = max(points, round(earned, 1))
            given.append(name)
            if credit < 1.0:
                wrong.append(name)
    gave_up = any(entry["kind"] == "given-up" for entry in mine)
    return Answered(
        learner,
        one.number,
        incident,
        question.name,
        points,
        question.points,
        tuple(given),
        tuple(wrong),
        hints,
        gave_up,
    )


def _credit(one: Exercise, question: Question, answer: str) -> tuple[str, float]:
    """The answer in its own words, and its credit."""
    try:
        keys = one.form(question).keys(answer)
    except BadAnswerError:
        return answer, 0.0
    reply = next(filter(None, map(question.lock.open, keys)), None)
    name = keys[0] if question.kind in ("choice", "place") else answer
    return name, float(reply["credit"]) if reply else 0.0


def _weakest(rows: Sequence[Answered]) -> str:
    shares: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        shares[row.question].append(row.points / row.of)
    name, got = min(shares.items(), key=lambda one: sum(one[1]) / len(one[1]))
    return f"{name} ({units.percent(sum(got) / len(got))})"


def _grouped(rows: Sequence[Answered]) -> Mapping[tuple[str, str], list[Answered]]:
    groups: dict[tuple[str, str], list[Answered]] = defaultdict(list)
    for row in rows:
        groups[row.exercise, row.incident].append(row)
    return groups
