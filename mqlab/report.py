"""One self-contained HTML file: the postmortem, readable offline, with every number traced to its line."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import jinja2
from markupsafe import Markup as SafeText
from plotly.offline import get_plotlyjs

from mqlab import jsonout, units
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.figures.timeline import timeline
from mqlab.notes import IncidentNotes
from mqlab.report_markup import as_figure, script_hash
from mqlab.report_notebooks import Section, fitting, run
from mqlab.report_view import view

FINDINGS = "findings.json"
_DRAW = """
for (const chart of document.querySelectorAll(".chart")) {
  const figure = JSON.parse(chart.querySelector("script").textContent);
  const layout = {...figure.layout, width: undefined, autosize: true};
  Plotly.newPlot(chart, figure.data, layout, {responsive: true, displaylogo: false, displayModeBar: "hover"});
}
"""


class Told(Protocol):
    """What a report needs of a capture."""

    @property
    def facts(self) -> Facts:
        """Everything the detectors looked at."""

    @property
    def diagnosis(self) -> Diagnosis:
        """What they found."""

    @property
    def notes(self) -> IncidentNotes:
        """What people wrote beside the material."""

    @property
    def paths(self) -> Sequence[str]:
        """What was given on the command line."""


def render(
    capture: Told, out: Path, *, notebooks: Sequence[str] | None = None, parameters: Mapping[str, Any] | None = None
) -> Path:
    """Run the notebooks (those that fit, unless named), write the report and ``findings.json`` beside it."""
    given = {"paths": list(capture.paths), **(parameters or {})}
    chosen = fitting(capture.diagnosis) if notebooks is None else notebooks
    page = html(capture, run(chosen, given), given)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page, encoding="utf-8", errors="replace")
    beside = out.with_name(FINDINGS)
    beside.write_text(jsonout.dumps(capture.diagnosis), encoding="utf-8", errors="backslashreplace")
    return out


def html(capture: Told, sections: Sequence[Section] = (), parameters: Mapping[str, Any] | None = None) -> str:
    """The page as text."""
    plotly = get_plotlyjs()
    chart = timeline(capture.facts, capture.diagnosis).to_plotly_json()
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            view=view(capture.facts, capture.diagnosis, capture.notes),
            timeline=as_figure(chart),
            sections=sections,
            parameters=sorted((parameters or {}).items()),
            versions=_versions(capture.diagnosis),
            plotly=SafeText(plotly),
            draw=SafeText(_DRAW),
            policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src {script_hash(plotly)} {script_hash(_DRAW)}; "
            "img-src data: blob:; base-uri 'none'; form-action 'none'",
        )
    )


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("mqlab"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        size=units.size,
        number=units.number,
        factor=units.factor,
        clock=units.clock,
        stamp=units.stamp,
        percent=units.percent,
    )
    environment.tests["figure"] = lambda block: hasattr(block, "json")
    return environment


def _versions(diagnosis: Diagnosis) -> tuple[tuple[str, str], ...]:
    return (
        ("mqlab", diagnosis.version),
        ("Python", platform.python_version()),
        *((name, _installed(name)) for name in ("pyspark", "plotly", "papermill")),
    )


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
