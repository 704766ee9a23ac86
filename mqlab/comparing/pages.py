"""Comparisons and histories as one HTML file, in the frame of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mqlab import report, units, words
from mqlab.comparing import answer, comparison, history
from mqlab.comparing.comparison import Comparison
from mqlab.comparing.history import History
from mqlab.comparing.sides import Side
from mqlab.comparing.tables import Table
from mqlab.figures import comparing as figures
from mqlab.languages import said
from mqlab.reporting.sections import as_figure

say = words.room("comparison-tables")

_TONES: Mapping[str, str] = {
    answer.REPAIRED: "calm", answer.NEITHER: "calm", answer.SAME_MATERIAL: "calm", answer.SAME_PLACE: "critical",
    answer.SAME_INCIDENT: "critical", answer.NEW: "critical",
}  # fmt: skip
"""How alarming an answer is; all others are open questions."""


@dataclass(frozen=True, slots=True)
class _View:
    """What the page says outside its figure."""

    title: str
    tone: str
    heading: str
    subject: str
    sentence: str
    remarks_title: str
    remarks: tuple[str, ...]
    figure_title: str
    before_figure: int
    """How many tables stand above it."""
    tables: tuple[Table, ...]


def compared(told: Comparison) -> str:
    """The page of two captures."""
    kind = told.answer.kind
    view = _View(
        title=say("title", a=told.a.name, b=told.b.name, answer=kind),
        tone=_TONES.get(kind, "open"),
        heading=say("heading", incident=told.a.lead.incident, answer=kind) if told.a.lead else _capital(said(kind)),
        subject=say("both", a=told.a.name, b=told.b.name),
        sentence=told.answer.sentence,
        remarks_title=say("remarks"),
        remarks=told.answer.open + told.answer.changed,
        figure_title=say("figure", a=_start(told.a), b=_start(told.b)),
        before_figure=1,
        tables=comparison.tables(told),
    )
    return report.page("comparison", view=view, figure=as_figure(comparison.timeline(told).to_plotly_json()))


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _start(side: Side) -> str:
    return "onset" if side.onset is not None else "beginning"


def _days(dated: Sequence[float]) -> str:
    """From which day to which the incidents go."""
    first, last = (units.stamp(at)[:10] for at in (min(dated), max(dated)))
    return history.say("days", first=first, last=last if last != first else None)


def listed(told: History) -> str:
    """The page of a folder."""
    name = Path(told.folder).resolve().name or told.folder
    dated = [one.at for one in told.incidents if one.at is not None]
    view = _View(
        title=history.say("title", folder=name),
        tone="open",
        heading=history.say("title", folder=name),
        subject=_days(dated) if dated else "",
        sentence=words.listed((history.summary(told), *history.times(told)), " "),
        remarks_title=history.say("repeats"),
        remarks=tuple(
            history.say("repeat", incident=one.incident, places=one.places, times=len(one.entries))
            for one in told.repeats
        ),
        figure_title=history.say("figure"),
        before_figure=0,
        tables=history.tables(told),
    )
    chart = figures.history(*history.marks(told))
    return report.page("comparison", view=view, figure=as_figure(chart.to_plotly_json()))
