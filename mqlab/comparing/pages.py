"""Comparisons and histories as one HTML file, in the frame of the report."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from mqlab import report, units
from mqlab.comparing import answer, comparison, history
from mqlab.comparing.comparison import Comparison
from mqlab.comparing.history import History
from mqlab.comparing.sides import Side
from mqlab.comparing.tables import Table
from mqlab.figures import comparing as figures
from mqlab.reporting.sections import as_figure

_TONES = {
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
        title=f"{told.a.name} and {told.b.name}: {kind}",
        tone=_TONES.get(kind, "open"),
        heading=f"{told.a.lead.incident}: {kind}" if told.a.lead else kind[0].upper() + kind[1:],
        subject=f"A: {told.a.name} · B: {told.b.name}",
        sentence=told.answer.sentence,
        remarks_title="What to know about it",
        remarks=told.answer.open + told.answer.changed,
        figure_title=f"A from its {_start(told.a)}, B from its {_start(told.b)}",
        before_figure=1,
        tables=comparison.tables(told),
    )
    return report.page("comparison", view=view, figure=as_figure(comparison.timeline(told).to_plotly_json()))


def _start(side: Side) -> str:
    return "onset" if side.onset is not None else "beginning"


def listed(told: History) -> str:
    """The page of a folder."""
    name = Path(told.folder).resolve().name or told.folder
    dated = [one.at for one in told.incidents if one.at is not None]
    view = _View(
        title=f"Incidents in {name}",
        tone="open",
        heading=f"Incidents in {name}",
        subject=" to ".join(dict.fromkeys(units.stamp(at)[:10] for at in (min(dated), max(dated)))) if dated else "",
        sentence=" ".join(chain([history.summary(told)], history.times(told))),
        remarks_title="The same cause again",
        remarks=tuple(
            f"{one.incident} in {', '.join(one.places)}: {units.counted(len(one.entries), 'time')}"
            for one in told.repeats
        ),
        figure_title="Classes over time",
        before_figure=0,
        tables=history.tables(told),
    )
    chart = figures.history(*history.marks(told))
    return report.page("comparison", view=view, figure=as_figure(chart.to_plotly_json()))
