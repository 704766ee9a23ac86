"""The debrief: what really happened, what proves it, and what an expert would have looked at in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from mqlab import units
from mqlab.catalogue import INCIDENTS
from mqlab.training.answers import moment_of
from mqlab.training.attempt import Attempt, Standing
from mqlab.training.keys import STARTS

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mqlab.capture import Capture
    from mqlab.training.desk import Desk, Review

_ASKED = {
    "starts_in": "where it starts", "since": "since when", "who": "who", "mechanism": "which mechanism",
    "line": "which line proves it", "amount": "how much", "repair": "what now", "side_effect": "its side effect",
    "verify": "how to verify",
}  # fmt: skip


@dataclass(frozen=True)
class Debrief:
    """What a learner reads when he has answered everything."""

    title: str
    incident: str
    points: float
    standing: Sequence[Standing]
    key: dict[str, Any]
    review: Review | None = None

    def timeline(self, capture: Capture) -> go.Figure:
        """What happened when: the capture's timeline, with the debrief's moments marked by their number."""
        chart = capture.plot.timeline()
        for number, entry in enumerate(self.key.get("timeline", ()), start=1):
            at = units.iso(moment_of(entry["at"]))
            chart.add_vline(x=at, line={"color": "#5b6675", "width": 1, "dash": "dot"})
            chart.add_annotation(
                x=at, y=1.0, yref="paper", yanchor="bottom", text=str(number), hovertext=entry["what"], showarrow=False
            )
        return chart

    def __str__(self) -> str:
        blocks = [
            f"{self.title}: {self.points:g} of 100 points",
            f"What it was: {self._named()}\n{self._because()}",
            _block("Your answers", [f"  {' · '.join(row)}" for row in self._rows()]),
            _block("What happened", [f"  {' · '.join(row)}" for row in self._moments()]),
            _block(
                "What an expert looks at, in this order",
                [f"  {n}. {look}\n     {call}\n     {shows}" for n, (look, call, shows) in self._steps()],
            ),
            _block(
                "How to get the answers from the material",
                [f"  {name}:\n    {call}" for name, call in self._solved()],
            ),
            f"What to remember\n{self._lesson()}",
            str(self.review or ""),
        ]
        return "\n\n".join(filter(None, blocks))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        steps = [(str(number), look, call, shows) for number, (look, call, shows) in self._steps()]
        parts = [
            f"<h3>{escape(self.title)}: {self.points:g} of 100 points</h3>",
            f"<p><b>{escape(self._named())}</b></p><p>{escape(self._because())}</p>",
            _table("Your answers", ("question", "your answers", "points", "right"), self._rows()),
            _table("What happened", ("", "UTC", "what", "where to see it"), self._moments()),
            _table("What an expert looks at, in this order", ("", "look at", "type", "what it shows"), steps, code=2),
            _table("How to get the answers from the material", ("question", "type"), self._solved(), code=1),
            f"<h4>What to remember</h4><p>{escape(self._lesson())}</p>",
            *([self.review._repr_html_()] if self.review else []),
        ]
        return f"<div style='max-width:100ch'>{''.join(parts)}</div>"

    def _named(self) -> str:
        title = INCIDENTS[self.incident].title if self.incident in INCIDENTS else "nothing is wrong"
        return f"{self.incident}: {title}"

    def _because(self) -> str:
        return str(self.key["mechanism"]["because"])

    def _lesson(self) -> str:
        return str(self.key["lesson"]["text"]).strip()

    def _rows(self) -> list[tuple[str, str, str, str]]:
        return [
            (
                _ASKED.get(one.question.name, one.question.name),
                ", ".join(_short(one, answer) for answer in one.answers) or "given up",
                f"{one.points:g} of {one.question.points}" + _after_hints(one),
                self._right(one.question.name),
            )
            for one in self.standing
        ]

    def _right(self, question: str) -> str:
        """What is right, in the words of the key."""
        if question == "mechanism":
            return self.incident
        if question == "starts_in":
            return STARTS[self.key["starts_in"]["right"]]
        if question == "side_effect":
            return str(self.key["repair"]["right"]["side_effect"])
        part = self.key[question]
        if question == "line":
            first = {one["because"]: one for one in reversed(part["proof"])}
            return "; ".join(
                f"{one['file']}: {one.get('contains', one.get('line', 'the file'))}"
                for one in part["proof"]
                if one is first[one["because"]]
            )
        if question == "amount":
            return f"{units.number(part['value'])} {part['unit']}. {part['because']}"
        if question == "since":
            return f"{units.clock(moment_of(part['at']))} UTC. {part['because']}"
        best = part["right"]
        return str(best if isinstance(best, str) else best.get("do") or best["by"])

    def _moments(self) -> list[tuple[str, str, str, str]]:
        return [
            (str(number), units.clock(moment_of(entry["at"])), entry["what"], self._place(entry))
            for number, entry in enumerate(self.key.get("timeline", ()), start=1)
        ]

    def _place(self, entry: dict[str, Any]) -> str:
        """Where to see it; a line that was accepted as proof is called one."""
        if "line" not in entry:
            return str(entry.get("file", ""))
        place = f"{entry['file']}:{entry['line']}"
        asked = (one.question for one in self.standing if one.question.name == "line")
        replies = (question.lock.open(text) for question in asked for text in (place, entry["file"]))
        reply = next(filter(None, replies), None)
        return f"{place}, a proof" if reply and reply["credit"] == 1.0 else place

    def _steps(self) -> list[tuple[int, tuple[str, str, str]]]:
        return [
            (number, (step["look"], step["call"].strip(), step["shows"]))
            for number, step in enumerate(self.key.get("order", ()), start=1)
        ]

    def _solved(self) -> list[tuple[str, str]]:
        parts = ((name, self.key.get(name)) for name in _ASKED)
        return [(_ASKED[name], part["solve"].strip()) for name, part in parts if part and "solve" in part]


def debrief(attempt: Attempt, desk: Desk | None = None) -> Debrief:
    """The debrief of an attempt whose questions are all closed; with *desk*, how its time was spent.

    Raises:
        TrainingError: a question is still open.
    """
    key = attempt.debrief()
    one = attempt.exercise
    order = [step["look"] for step in key.get("order", ())]
    proof = [(place["file"], place.get("contains", "")) for place in key.get("line", {}).get("proof", ())]
    review = desk.review(order, proof) if desk else None
    title = f"Exercise {one.number}: {one.title}"
    return Debrief(title, key["class"], attempt.points, attempt.standing(), key, review)


def _short(one: Standing, answer: str) -> str:
    names = list(one.question.options)
    chosen = names[int(answer) - 1] if answer.isdigit() and 0 < int(answer) <= len(names) else answer
    return chosen if len(chosen) < 60 else chosen[:57] + "…"


def _after_hints(one: Standing) -> str:
    return f", {units.counted(len(one.hints), 'hint')}" if one.hints else ""


def _block(title: str, lines: Sequence[str]) -> str:
    """Lines below their title; nothing without lines."""
    return "\n".join([title, *lines]) if lines else ""


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], code: int | None = None) -> str:
    """Rows as HTML, the column *code* as it is typed; nothing without rows."""
    if not rows:
        return ""
    cells = "".join(
        "<tr>"
        + "".join(
            f"<td style='text-align:left;vertical-align:top'>{_code(cell) if number == code else escape(cell)}</td>"
            for number, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in heads)
    return f"<h4>{escape(title)}</h4><table><tr>{head}</tr>{cells}</table>"


def _code(text: str) -> str:
    return f"<pre style='white-space:pre-wrap;margin:0'>{escape(text)}</pre>"
