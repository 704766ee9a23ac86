"""Questions as forms: ipywidgets in JupyterLab, text where they cannot be shown.

A form shows the question, takes an answer, says at once what it is worth, and stays as it was answered when the
notebook is run again.
"""

from __future__ import annotations

import sys
from functools import partial
from html import escape
from typing import Any

from mqlab.capture import Text
from mqlab.training import attempt as attempts
from mqlab.training.answers import EXAMPLES
from mqlab.training.attempt import Attempt, Standing
from mqlab.training.errors import BadAnswerError, TrainingError

_STYLE = """<style>.mqlab-form .widget-radio-box label {
  display: flex; flex-direction: row-reverse; justify-content: flex-end; align-items: flex-start; gap: 6px;
  height: auto; line-height: 1.4; margin: 3px 0; }</style>"""
"""Options that are longer than a line wrap."""
_ADVICE = {
    "since": "Look for the first unusual event, not the loudest. A log line dates it more exactly than a sample.",
    "mechanism": "What else would each hypothesis leave in the material? Look for evidence against yours. "
    "`mqlab explain CLASS` explains a class; reading it is allowed.",
    "line": "A line proves a mechanism if nothing else causes such a line; an effect is not enough.",
    "amount": "The number shows whether the mechanism accounts for the damage.",
    "repair": "What stops the damage now?",
}
"""Said below a question, by its name."""


def form(attempt: Attempt, name: str | None = None) -> Any:
    """The question called *name*, else the open one, as a widget; as ``Text`` without a notebook's front end."""
    names = [question.name for question in attempt.exercise.questions]
    chosen = name or (attempt.open_question.name if attempt.open_question else names[-1])
    if chosen not in names:
        return Text(f"This exercise has no question {chosen!r}: continue with the next one.")
    return _Form(attempt, chosen) if _in_notebook() else Text(as_text(attempt, chosen))


def as_text(attempt: Attempt, name: str) -> str:
    """The question called *name* as text, with what was answered so far."""
    one = _standing(attempt, name)
    return "\n".join([attempts.shown(one.question), *_said(one), *_following(attempt, one)])


def _in_notebook() -> bool:
    """A kernel runs this, so that a front end may show widgets."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


class _Form:
    """One question, its input, its buttons, and what was said."""

    def __init__(self, attempt: Attempt, name: str) -> None:
        import ipywidgets as widgets

        self.attempt, self.name = attempt, name
        question = _standing(attempt, name).question
        wide = widgets.Layout(width="100%", max_width="90ch")
        if question.options:
            options = [(text, key) for key, text in question.options.items()]
            self.field = widgets.RadioButtons(options=options, value=None, layout=widgets.Layout(width="auto"))
        else:
            self.field = widgets.Text(placeholder=EXAMPLES[question.kind], layout=widgets.Layout(width="50ch"))
        self.buttons = {
            "Check": widgets.Button(description="Check", button_style="primary"),
            "Hint": widgets.Button(description="Hint", tooltip="A hint costs a fifth of the question's points"),
            "Give up": widgets.Button(description="Give up", tooltip="No points; continue with the next question"),
        }
        self.head, self.said = widgets.HTML(layout=wide), widgets.HTML(layout=wide)
        self.buttons["Check"].on_click(lambda _: self._do(self._check))
        self.buttons["Hint"].on_click(lambda _: self._do(partial(attempt.hint, name)))
        self.buttons["Give up"].on_click(lambda _: self._do(partial(attempt.give_up, name)))
        row = widgets.HBox(list(self.buttons.values()))
        self.box = widgets.VBox([self.head, self.field, row, self.said], layout=wide)
        self.box.add_class("mqlab-form")
        self._refresh("")

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget, and the question as text for a front end that has no widgets."""
        shown = self.box._repr_mimebundle_(**kwargs)
        data = shown[0] if isinstance(shown, tuple) else shown
        return {**data, "text/plain": as_text(self.attempt, self.name)}

    def _check(self) -> None:
        if self.field.value is None or not str(self.field.value).strip():
            raise BadAnswerError("Choose an option or enter an answer first.")
        self.attempt.answer(str(self.field.value), self.name)

    def _do(self, action: Any) -> None:
        try:
            action()
        except TrainingError as error:
            self._refresh(str(error))
        else:
            self._refresh("")

    def _refresh(self, problem: str) -> None:
        one = _standing(self.attempt, self.name)
        asked = f"<h3>{escape(one.question.text)} ({one.question.points} points)</h3>"
        self.head.value = f"{_STYLE}{asked}<p>{escape(_ADVICE.get(self.name, ''))}</p>"
        self.field.disabled = one.closed
        self.buttons["Check"].disabled = self.buttons["Give up"].disabled = one.closed
        self.buttons["Hint"].disabled = one.closed or len(one.hints) == one.question.hints
        lines = [*_said(one), *([problem] if problem else []), *_following(self.attempt, one)]
        self.said.value = "".join(f"<p style='margin:2px 0'>{escape(line)}</p>" for line in lines)


def _standing(attempt: Attempt, name: str) -> Standing:
    return next(one for one in attempt.standing() if one.question.name == name)


def _said(one: Standing) -> list[str]:
    """Hints and answers so far, with the replies."""
    hints = [f"Hint: {text}" for text in one.hints]
    given = [
        f"{_words(one, answer)} is {'right' if credit == 1 else 'partly right' if credit else 'not right'}."
        for answer, credit in zip(one.answers, one.credits, strict=True)
    ]
    return [*hints, *(f"{text} {reply}" for text, reply in zip([*given, "Given up."], one.replies, strict=False))]


def _words(one: Standing, answer: str) -> str:
    return one.question.options.get(answer, answer).removesuffix(".")


def _following(attempt: Attempt, one: Standing) -> list[str]:
    if not one.closed:
        return []
    earned = f"{one.points:g} of {one.question.points} points."
    return [f"{earned} " + ("Continue with the next question." if attempt.open_question else "Now read the debrief.")]
