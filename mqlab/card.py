"""What notebooks and terminals show of a capture, its findings, its facts: ``html`` and a few words of ``text``.

A capture's card has verdict, window, findings, sizes of the tables, and what to type next. Names and lines of the
material are escaped, and nothing in them moves a cursor or turns the reading order around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import singledispatch
from html import escape
from typing import Any

import pandas as pd

from mqlab import frames, units
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.findings import Evidence, Finding, Rows
from mqlab.rows import Coverage
from mqlab.scope import SYSTEMS, systems
from mqlab.shared.table import table
from mqlab.sources import Source
from mqlab.terminal import safe, visible
from mqlab.units import counted

_SHOWN = 5
"""Findings on a card, and places that prove one; the others are counted or folded."""
_MOST = 20
"""Rows of a table; the others are counted."""
_FEW = 10
"""Rows of a tuple in a terminal; the others are counted."""
_WIDE = 200
"""Letters of a row in a terminal."""
_NEXT = (
    ('capture.show("F1")', "what proves the first finding, with the lines around it"),
    ("capture.plot.timeline()", "what happened when; capture.plot. lists every figure"),
    ('capture.lines("server.log", 834)', "raw lines around a place"),
    ("capture.between(since, until, node=None)", "what log lines say happened then; moments as ISO text"),
    ("capture.events", "a Spark DataFrame; so are metrics, positions, clients, settings, ledger, volume"),
    ('capture.sql("select kind, count(*) from events group by kind")', "the same by SQL"),
    ('capture.where(group="billing")', "less of it, diagnosed anew"),
)


@singledispatch
def text(shown: Any, sizes: Mapping[str, int] | None = None) -> str:
    """What a terminal shows."""
    raise NotImplementedError(type(shown))


@singledispatch
def html(shown: Any, sizes: Mapping[str, int] | None = None) -> str:
    """What a notebook shows."""
    raise NotImplementedError(type(shown))


# -- a capture, a diagnosis, facts -------------------------------------------------------------------------------------


@text.register
def _(shown: Diagnosis, sizes: Mapping[str, int] | None = None) -> str:
    """With *sizes*, rows by table, the card of a capture."""
    said = shown.verdict.statement
    last = _outcomes(shown) if sizes is None else _tables(sizes)
    return _indented([_headline(shown), said, *_findings(shown.findings, _SHOWN), _material(shown), last])


@html.register
def _(shown: Diagnosis, sizes: Mapping[str, int] | None = None) -> str:
    findings = "".join(f"<li>{escape(line)}</li>" for line in _findings(shown.findings, _SHOWN))
    return _box(
        f"<b>{escape(_headline(shown))}</b>{_paragraph(shown.verdict.statement)}",
        f"<ul style='list-style:none;padding-left:0'>{findings}</ul>",
        _quiet(_material(shown), *([] if sizes is None else [_tables(sizes)])),
        _folded("What to type next", _next(shown)) if sizes is not None else "",
        _folded(_outcomes(shown), _whole(frames.verdicts(shown))) if sizes is None else "",
    )


@text.register
def _(shown: Facts) -> str:
    return _indented(_held(shown))


@html.register
def _(shown: Facts) -> str:
    first, rows = _held(shown)
    sources = _folded(counted(len(shown.coverage), "source"), _whole(frames.coverage(shown.coverage)))
    return _box(f"<b>{escape(first)}</b>{_paragraph(rows)}", sources)


def _next(diagnosis: Diagnosis) -> str:
    rows = "".join(
        f"<tr><td style='text-align:left'><code>{escape(call)}</code></td>"
        f"<td style='text-align:left'>{escape(what)}</td></tr>"
        for call, what in _NEXT[0 if diagnosis.findings else 1 :]
    )
    return f"<table>{rows}</table>"


def _headline(diagnosis: Diagnosis) -> str:
    verdict = diagnosis.verdict
    certainty = f", {verdict.certainty.name.lower()}" if verdict.certainty else ""
    return f"{verdict.incident}{certainty}"


def _findings(found: Sequence[Finding], most: int) -> Sequence[str]:
    """A line each, with the number that ``capture.show`` knows."""
    return _few([f"F{number}  {_named(one)}" for number, one in enumerate(found, start=1)], most, "finding")


def _material(diagnosis: Diagnosis) -> str:
    material = diagnosis.material
    window = f"{_window(*material.window)}, " if material.window[0] else ""
    return f"{window}{counted(material.files, 'file')}, {units.size(material.bytes)}, {counted(material.lines, 'line')}"


def _window(since: float | None, until: float | None) -> str:
    return f"{units.stamp(since)} to {units.stamp(until)} UTC"


def _tables(sizes: Mapping[str, int]) -> str:
    """Rows of each table that has any."""
    return ", ".join(f"{name} {units.number(rows)}" for name, rows in sizes.items() if rows)


def _outcomes(diagnosis: Diagnosis) -> str:
    """How many classes are no finding."""
    known = {"ruled out": diagnosis.rejected, "clear": diagnosis.clear, "not checked": diagnosis.unchecked}
    return "other classes: " + ", ".join(f"{name} {len(these)}" for name, these in known.items())


def _held(facts: Facts) -> tuple[str, str]:
    """Systems and window; how many rows there are of each kind."""
    first = min((one.first_at for one in facts.coverage if one.first_at is not None), default=None)
    names = ", ".join(SYSTEMS[name] for name in SYSTEMS if name in systems(facts)) or "no known system"
    rows = {
        field.name.replace("_", " "): len(getattr(facts, field.name))
        for field in fields(facts)
        if field.name != "whole"
    }
    return f"facts of {names}" + (f", {_window(first, facts.covered_until())}" if first else ""), _tables(rows)


# -- findings and evidence ---------------------------------------------------------------------------------------------


@text.register
def _(shown: Finding) -> str:
    return visible(f"{_named(shown)}: {shown.statement}")


@html.register
def _(shown: Finding) -> str:
    left = len(shown.evidence) - _SHOWN
    end = "still open" if shown.ongoing else units.stamp(shown.ended_at)
    actions = (("Do now", shown.mitigate), ("Fix", shown.remedy), ("Verify", shown.verify))
    return _box(
        f"<b>{escape(_named(shown))}</b>",
        _quiet(f"{units.stamp(shown.started_at)} to {end} (UTC)"),
        _paragraph(shown.statement),
        *(_paragraph(what, label) for label, what in actions if what),
        _whole(frames.places(shown.evidence[:_SHOWN])),
        _folded(f"{counted(left, 'place')} more", _whole(frames.places(shown.evidence[_SHOWN:]))) if left > 0 else "",
        _whole(frames.measures(shown)),
    )


@text.register
def _(shown: Evidence) -> str:
    return _cut(" · ".join(filter(None, (shown.place, shown.why, shown.pointer, shown.text))))


@html.register
def _(shown: Evidence) -> str:
    pointer = f"<code>{escape(shown.pointer)}</code>" if shown.pointer else ""
    line = f"<pre style='white-space:pre-wrap;overflow-wrap:anywhere'>{escape(shown.text)}</pre>"
    return _box(f"<code>{escape(shown.place)}</code>", _paragraph(shown.why), pointer, line)


def _named(finding: Finding) -> str:
    severity, certainty = finding.severity.name.lower(), finding.certainty.name.lower()
    return f"{finding.incident} · {severity} · {certainty} · {finding.subject}"


# -- rows of any kind --------------------------------------------------------------------------------------------------


@text.register
def _(shown: Rows) -> str:  # type: ignore[type-arg]
    if shown and isinstance(shown[0], Finding):
        return "\n".join(map(_cut, _findings(shown, _MOST)))
    return "\n".join(map(_cut, _few([repr(one) for one in shown[: _FEW + 1]], _FEW, "row", len(shown)))) or "()"


@html.register
def _(shown: Rows) -> str:  # type: ignore[type-arg]
    if not shown:
        return "<i>none</i>"
    make: Callable[[Any], pd.DataFrame] = _OWN_TABLES.get(type(shown[0]), _by_fields)
    frame = make(shown[:_MOST])
    left = len(shown) - len(frame)
    return _whole(frame) + (_quiet(f"and {counted(left, 'row')} more") if left > 0 else "")


def _by_fields(rows: Sequence[Any]) -> pd.DataFrame:
    names = [field.name for field in fields(rows[0])] if is_dataclass(rows[0]) else []
    return table([[_cell(name, getattr(one, name)) for name in names] or [str(one)] for one in rows], names or ["what"])


def _cell(name: str, value: object) -> str:
    """Moments as people read them, a place for evidence, and how many there are of what is listed."""
    if isinstance(value, float) and (name == "at" or name.endswith("_at")):
        return units.stamp(value)
    if isinstance(value, Evidence):
        return value.place
    if isinstance(value, tuple) and (len(value) > _SHOWN or any(map(is_dataclass, value))):
        return counted(len(value), "row")
    return frames.NOTHING if value is None else _cut(str(value))


def _sources(sources: Sequence[Source]) -> pd.DataFrame:
    rows = [(one.path, one.format, units.size(one.size), one.problem or frames.NOTHING) for one in sources]
    return table(rows, "source|format|size|problem")


_OWN_TABLES: Mapping[type, Callable[[Any], pd.DataFrame]] = {
    Finding: frames.findings,
    Evidence: frames.places,
    Coverage: frames.coverage,
    Source: _sources,
}
"""Rows that have a table for people."""


# -- how all of them are written ---------------------------------------------------------------------------------------


def _few(lines: Sequence[str], most: int, what: str, of: int | None = None) -> Sequence[str]:
    left = (of or len(lines)) - most
    return [*lines[:most], f"and {counted(left, what)} more"] if left > 0 else lines


def _cut(line: str) -> str:
    one = safe(line)
    return one if len(one) <= _WIDE else f"{one[:_WIDE]} …"


def _indented(lines: Sequence[str]) -> str:
    return visible("\n".join(f"  {line}" if number else line for number, line in enumerate(lines)))


def _box(*parts: str) -> str:
    return visible(f"<div style='border-left:4px solid #4c78a8;padding:2px 12px'>{''.join(parts)}</div>")


def _paragraph(line: str, label: str = "") -> str:
    bold = f"<b>{escape(label)}</b> " if label else ""
    return f"<p style='max-width:100ch'>{bold}{escape(line)}</p>" if line else ""


def _quiet(*lines: str) -> str:
    return f"<p style='color:#666'>{'<br>'.join(map(escape, lines))}</p>"


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def _whole(frame: pd.DataFrame) -> str:
    return str(frame._repr_html_()) if len(frame) else ""  # type: ignore[operator]
