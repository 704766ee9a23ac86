"""One self-contained HTML file: the postmortem, readable offline, with every number traced to its line.

The same page as PDF where a Chromium is present.
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup as SafeText

from mqlab import jsonout
from mqlab.diagnosis import Diagnosis
from mqlab.errors import CannotWriteError
from mqlab.figures.drawing import drawing
from mqlab.figures.style import DARK, plotly_script
from mqlab.figures.timeline import keys, timeline, told
from mqlab.languages import pages as languages
from mqlab.reporting import markdown, pages, printing
from mqlab.reporting.running import run
from mqlab.reporting.sections import Section, arranged, as_figure, fitting, script_hash
from mqlab.reporting.view import view
from mqlab.terminal import visible
from mqlab.writing import findings_beside, write

if TYPE_CHECKING:
    from mqlab.capture import Capture

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src {}; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
_MARKS = (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""What turns the reading order around."""
_CONTROLS = dict.fromkeys((7, 8, 27, *range(127, 160), *_MARKS), "�")
"""With what a terminal obeys: names and lines of the material may hold both, plotly's script does not."""
_FIRST = Path(__file__).parent / "templates" / "first.html"
_DOCTYPE = re.compile(r"\A\s*<!doctype html>\s*", re.IGNORECASE)
_SCRIPT = Path(__file__).parent / "templates" / "report.js"


def render(
    capture: Capture, out: Path, *, notebooks: Sequence[str] | None = None, template: str = pages.DEFAULT
) -> Path:
    """Run the notebooks (those that fit, unless named), write the report and its findings as JSON beside it.

    A name that ends with ``.pdf`` makes a PDF. The short report shows no notebook. Material from standard input cannot
    be read again, so that no notebook fits it.

    Raises:
        BadTemplateError: *template* is neither built in nor a Jinja file that can be rendered.
        NoBrowserError: there is no Chromium that makes a PDF.
        CannotWriteError: there is no room or no right to write it.
    """
    given = parameters(capture)
    fit = () if "-" in capture.paths or template == pages.SHORT else fitting(capture.diagnosis, capture.facts)
    chosen = fit if notebooks is None else notebooks
    page = html(capture, run(chosen, given), given, template)
    _make_room(out)
    if printing.wanted(out):
        printing.print_page(page, out)
    else:
        write(out, page)
    return _with_findings(capture, out)


def render_markdown(capture: Capture, out: Path, *, short: bool = False) -> Path:
    """Write the same story as Markdown, whole or in eight lines, and its findings as JSON beside it.

    Raises:
        CannotWriteError: there is no room or no right to write it.
    """
    shown = view(capture.facts, capture.diagnosis, capture.notes)
    _make_room(out)
    write(out, markdown.brief(shown) if short else markdown.whole(shown))
    return _with_findings(capture, out)


def _make_room(out: Path) -> None:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWriteError(str(out), error) from error


def _with_findings(capture: Capture, out: Path) -> Path:
    write(findings_beside(out), visible(jsonout.dumps(capture.diagnosis)))
    return out


def parameters(capture: Capture) -> dict[str, Any]:
    """What a notebook needs to open the same capture, from the same folder: its name in the workspace is the same."""
    chosen = {name: value for name, value in asdict(capture.options).items() if value not in (None, (), [])}
    if not isinstance(zones := chosen.get("log_tz", ""), str):
        chosen["log_tz"] = [zone if isinstance(zone, str) else list(zone) for zone in zones]
    if capture.options.plugins:
        chosen["plugins"] = list(capture.options.plugins)
    return {"paths": list(capture.paths), "options": chosen}


def html(
    capture: Capture,
    sections: Sequence[Section] = (),
    given: Mapping[str, Any] | None = None,
    template: str = pages.DEFAULT,
) -> str:
    """The page as text."""
    facts, diagnosis = capture.facts, capture.diagnosis
    first = next(iter(diagnosis.findings), None)
    shown = view(facts, diagnosis, capture.notes)
    chart = timeline(facts, diagnosis, legend=False)
    return page(
        template,
        title=shown.title,
        view=shown,
        story=shown.story,
        diagnosis=diagnosis,
        material=diagnosis.material,
        findings=shown.dossiers,
        changes=shown.changes,
        ledger=first.ledger if first else None,
        timeline=replace(as_figure(chart.to_plotly_json()), spoken=told(facts, diagnosis)),
        drawing=drawing(chart),
        keys=keys(chart),
        sections=arranged(sections, diagnosis),
        parameters=sorted((given or {}).items()),
        versions=_versions(diagnosis),
    )


def page(template: str, **names: Any) -> str:
    """A template as a page that opens offline: its charts are drawn by the one script that it may run.

    That is said before anything else on the page, for a team's template may hold a script or load something.
    The short page runs none: its timeline is drawn already, and it stays small enough for mail.
    """
    scripts: tuple[str, ...] = ()
    if template != pages.SHORT:
        draw = languages.chart_locale() + _SCRIPT.read_text(encoding="utf-8").replace("DARK", json.dumps(DARK))
        scripts = (plotly_script(), draw)
    policy = _POLICY.format(" ".join(map(script_hash, scripts)) or "'none'")
    names |= {"scripts": tuple(map(SafeText, scripts))}
    text = _DOCTYPE.sub("", pages.page(template, names))
    return (_FIRST.read_text(encoding="utf-8").replace("POLICY", policy) + text).translate(_CONTROLS)


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
