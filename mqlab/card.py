"""A capture at a glance: verdict, window, findings, sizes of the tables, and what to type next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from mqlab import units
from mqlab.diagnosis import Diagnosis
from mqlab.units import counted

_SHOWN = 5
"""Findings on the card; the others are counted."""
_NEXT = (
    ('capture.show("F1")', "what proves the first finding, with the lines around it"),
    ("capture.plot.timeline()", "what happened when; capture.plot. lists every figure"),
    ('capture.lines("server.log", 834)', "raw lines around a place"),
    ("capture.between(since, until, node=None)", "what log lines say happened then; moments as ISO text"),
    ("capture.events", "a Spark DataFrame; so are metrics, positions, clients, settings, ledger, volume"),
    ('capture.sql("select kind, count(*) from events group by kind")', "the same by SQL"),
    ('capture.where(group="billing")', "less of it, diagnosed anew"),
)


def text(diagnosis: Diagnosis, sizes: Mapping[str, int]) -> str:
    """The card for a terminal; *sizes* are rows by table."""
    said = diagnosis.verdict.statement
    lines = [_headline(diagnosis), said, *_findings(diagnosis), _material(diagnosis), _tables(sizes)]
    return "\n".join(f"  {line}" if number else line for number, line in enumerate(lines))


def html(diagnosis: Diagnosis, sizes: Mapping[str, int]) -> str:
    """The card for a notebook; what comes from the material is escaped."""
    findings = "".join(f"<li>{escape(line)}</li>" for line in _findings(diagnosis))
    following = "".join(
        f"<tr><td style='text-align:left'><code>{escape(call)}</code></td>"
        f"<td style='text-align:left'>{escape(what)}</td></tr>"
        for call, what in _NEXT[0 if diagnosis.findings else 1 :]
    )
    return (
        "<div style='border-left:4px solid #4c78a8;padding:2px 12px'>"
        f"<b>{escape(_headline(diagnosis))}</b><p>{escape(diagnosis.verdict.statement)}</p>"
        f"<ul style='list-style:none;padding-left:0'>{findings}</ul>"
        f"<p style='color:#666'>{escape(_material(diagnosis))}<br>{escape(_tables(sizes))}</p>"
        f"<details><summary>What to type next</summary><table>{following}</table></details></div>"
    )


def _headline(diagnosis: Diagnosis) -> str:
    verdict = diagnosis.verdict
    certainty = f", {verdict.certainty.name.lower()}" if verdict.certainty else ""
    return f"{verdict.incident}{certainty}"


def _findings(diagnosis: Diagnosis) -> Sequence[str]:
    rows = [
        f"F{number}  {one.incident} · {one.severity.name.lower()} · {one.certainty.name.lower()} · {one.subject}"
        for number, one in enumerate(diagnosis.findings[:_SHOWN], start=1)
    ]
    left = len(diagnosis.findings) - _SHOWN
    return [*rows, f"and {counted(left, 'finding')} more"] if left > 0 else rows


def _material(diagnosis: Diagnosis) -> str:
    material = diagnosis.material
    since, until = material.window
    window = f"{units.stamp(since)} to {units.stamp(until)} UTC, " if since else ""
    return f"{window}{counted(material.files, 'file')}, {units.size(material.bytes)}, {counted(material.lines, 'line')}"


def _tables(sizes: Mapping[str, int]) -> str:
    """Rows of each table that has any."""
    return ", ".join(f"{name} {units.number(rows)}" for name, rows in sizes.items() if rows)
