"""Comparisons and histories as one HTML file, in the frame of the report."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from mqlab import report, units
from mqlab.comparing import answer, comparison, history
from mqlab.comparing.comparison import Comparison
from mqlab.comparing.history import History
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
    view = _View(
        title=f"{told.a.name} and {told.b.name}: {told.answer.kind}",
        tone=_TONES.get(told.answer.kind, "open"),
        heading=told.answer.kind,
        subject=f"A: {told.a.name} · B: {told.b.name}",
        sentence=told.answer.sentence,
        remarks_title="What keeps it open",
        remarks=told.answer.open,
        figure_title="Both from their onset",
        before_figure=1,
        tables=comparison.tables(told),
    )
    return report.page("comparison", view=view, figure=as_figure(comparison.timeline(told).to_plotly_json()))


def listed(told: History) -> str:
    """The page of a folder."""
    dated = [one.at for one in told.incidents if one.at is not None]
    view = _View(
        title=f"Incidents in {told.folder}",
        tone="open",
        heading=f"Incidents in {told.folder}",
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
