"""One self-contained HTML file: the postmortem, readable offline, with every number traced to its line."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup as SafeText

from mqlab import jsonout, units
from mqlab.diagnosis import Diagnosis
from mqlab.figures.style import plotly_script
from mqlab.figures.timeline import timeline
from mqlab.frames import where
from mqlab.reporting.running import run
from mqlab.reporting.sections import Section, as_figure, fitting, script_hash
from mqlab.reporting.view import view

if TYPE_CHECKING:
    from mqlab.capture import Capture

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src {}; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
_DRAW = """
const charts = document.querySelectorAll(".chart");
for (const chart of charts) {
  const figure = JSON.parse(chart.querySelector("script").textContent);
  const layout = {...figure.layout, width: undefined, autosize: true};
  const bar = chart.closest(".main") ? false : "hover";
  Plotly.newPlot(chart, figure.data, layout, {responsive: true, displaylogo: false, displayModeBar: bar});
}
addEventListener("beforeprint", () => charts.forEach(chart => Plotly.relayout(chart, {width: 660})));
addEventListener("afterprint", () => charts.forEach(chart => Plotly.relayout(chart, {width: null, autosize: true})));
"""


def render(capture: Capture, out: Path, *, notebooks: Sequence[str] | None = None) -> Path:
    """Run the notebooks (those that fit, unless named), write the report and its findings as JSON beside it.

    Material from standard input cannot be read again, so that no notebook fits it.
    """
    given = parameters(capture)
    fit = () if "-" in capture.paths else fitting(capture.diagnosis, capture.facts)
    chosen = fit if notebooks is None else notebooks
    page = html(capture, run(chosen, given), given)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page, encoding="utf-8", errors="replace")
    findings_beside(out).write_text(jsonout.dumps(capture.diagnosis), encoding="utf-8", errors="backslashreplace")
    return out


def findings_beside(out: Path) -> Path:
    """Where the findings of the report *out* lie: two reports in one folder keep their own."""
    return out.with_name(f"{out.stem}.findings.json")


def parameters(capture: Capture) -> dict[str, Any]:
    """What a notebook needs to open the same capture, from the same folder: its name in the workspace is the same."""
    chosen = {name: value for name, value in asdict(capture.options).items() if value not in (None, (), [])}
    if not isinstance(zones := chosen.get("log_tz", ""), str):
        chosen["log_tz"] = [zone if isinstance(zone, str) else list(zone) for zone in zones]
    if capture.options.plugins:
        chosen["plugins"] = list(capture.options.plugins)
    return {"paths": list(capture.paths), "options": chosen}


def html(capture: Capture, sections: Sequence[Section] = (), given: Mapping[str, Any] | None = None) -> str:
    """The page as text."""
    plotly = plotly_script()
    chart = timeline(capture.facts, capture.diagnosis).to_plotly_json()
    first = next(iter(capture.diagnosis.findings), None)
    return (
        _environment()
        .get_template("default.html.j2")
        .render(
            view=view(capture.facts, capture.diagnosis, capture.notes),
            diagnosis=capture.diagnosis,
            material=capture.diagnosis.material,
            trigger=first.facts.get("trigger") if first else None,
            ledger=first.ledger if first else None,
            timeline=as_figure(chart),
            sections=sections,
            parameters=sorted((given or {}).items()),
            versions=_versions(capture.diagnosis),
            plotly=SafeText(plotly),
            draw=SafeText(_DRAW),
            policy=_POLICY.format(" ".join(map(script_hash, (plotly, _DRAW)))),
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
        where=where,
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
