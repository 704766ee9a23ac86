"""Which notebooks fit, how what they show becomes sections of the report, and which of these this incident needs.

The heading of a section has tags in its notebook: the classes of incident that it serves, by name or by family
(``traffic-amplification``), ``undetermined`` for what helps where no class is found, or ``notebook`` for what a report
says elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

import mistune
import nh3
from markupsafe import Markup as SafeText

from mqlab.delivery.audit import audits
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.figures.style import FigureTable, figure_table, spoken
from mqlab.findings import Certainty, Severity
from mqlab.languages import pages
from mqlab.mqtt.connections import connections
from mqlab.reporting.evidence import TRAFFIC, family
from mqlab.scope import systems
from mqlab.views.kafka_group import groups_to_show

_TAGS = {
    "p", "ul", "ol", "li", "strong", "em", "code", "pre", "blockquote", "br", "hr", "h3", "h4", "a",
    "table", "thead", "tbody", "tr", "th", "td", "caption", "sub", "sup",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan", "scope"}}
_PROSE = mistune.create_markdown(escape=True, plugins=["table"])


@dataclass(frozen=True, slots=True)
class Markup:
    """HTML that passed the gate."""

    html: SafeText

    @property
    def rows(self) -> int:
        """Of its tables, without their heads."""
        return self.html.count("<tr") - self.html.count("<thead")


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart as script-safe JSON, with the table behind it."""

    json: SafeText
    table: FigureTable
    height: int
    spoken: str
    """What it shows, for those who do not see it."""


def clean_html(html: str) -> Markup:
    """HTML of a notebook's output without scripts, styles, events and images."""
    return Markup(SafeText(nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"https"})))


def markdown(text: str) -> Markup:
    """Prose of a notebook."""
    return clean_html(str(_PROSE(pages.prose(text))))


def literal(text: str) -> Markup:
    """Text that keeps its line breaks and means nothing."""
    return Markup(SafeText(f"<pre>{escape(text)}</pre>"))


def as_figure(figure: Mapping[str, Any]) -> Figure:
    """A figure in plotly's JSON form."""
    chart = {"data": figure.get("data", []), "layout": figure.get("layout", {})}
    table = figure_table(chart)
    return Figure(script_json(chart), table, int(chart["layout"].get("height") or 320), spoken(chart))


def script_json(value: object) -> SafeText:
    """JSON that cannot end the script element it stands in: no ``<``, ``>``, ``&``, U+2028."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return SafeText(text)


def script_hash(script: str) -> str:
    """What the content security policy calls this very script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


PLOTLY = "application/vnd.plotly.v1+json"
"""The type under which a notebook keeps a figure."""


@dataclass
class Section:
    """One question: prose, figures and tables in the order of the notebook."""

    title: str
    blocks: list[Markup | Figure] = field(default_factory=list)
    shows: bool = False
    """True once it holds more than prose."""
    serves: tuple[str, ...] = ()
    """Classes and families that it tells about."""


@dataclass(frozen=True, slots=True)
class Arranged:
    """Sections in the order of the findings."""

    own: tuple[Section, ...]
    """About what was found."""
    also: tuple[Section, ...]
    """About subjects of which nothing was found."""
    silent: tuple[str, ...]
    """Titles of those that have nothing to show."""


def arranged(sections: Iterable[Section], diagnosis: Diagnosis) -> Arranged:
    """This incident's sections first, in the order of its findings; one without a tag belongs to any incident."""
    every = [section for section in sections if "notebook" not in section.serves]
    wanted = _wanted(diagnosis)

    def place(section: Section) -> int:
        numbers = [number for number, names in enumerate(wanted) if names & set(section.serves)]
        return min(numbers, default=len(wanted) + bool(section.serves))

    shown = [section for section in every if section.shows]
    return Arranged(
        tuple(sorted((one for one in shown if place(one) <= len(wanted)), key=place)),
        tuple(one for one in shown if place(one) > len(wanted)),
        tuple(dict.fromkeys(section.title for section in every if not section.shows)),
    )


def _wanted(diagnosis: Diagnosis) -> tuple[set[str], ...]:
    """Class and family of the incident and what else was found, else of what it may be."""
    verdict = diagnosis.verdict
    found = [one.incident for one in diagnosis.findings if one.severity > Severity.NOTICE]
    led = [one.incident for one in diagnosis.findings[:1] if one.incident == verdict.incident]
    if verdict.incident == "undetermined":
        found = ["undetermined", *(one.incident for one in verdict.hypotheses), *found]
    return tuple({slug, family_tag(slug)} for slug in dict.fromkeys((*led, *found)))


def family_tag(incident: str) -> str:
    """The family of a class as a tag: ``delivery-loss-and-duplication``."""
    return re.sub(r"\W+", "-", family(incident).lower()).strip("-")


def fitting(diagnosis: Diagnosis, facts: Facts) -> tuple[str, ...]:
    """The triage notebook, that of traffic where it was found at least likely, and those about what is there."""
    likely = [finding for finding in diagnosis.findings if finding.certainty >= Certainty.LIKELY]
    fits = {
        "00_triage": True,
        "01_traffic_amplification": any(family(finding.incident) == TRAFFIC for finding in likely),
        "02_duplicate_client_ids": "rocketmq" in systems(facts),
        "03_rebalance_timeouts": bool(groups_to_show(facts)),
        "04_delivery_audit": bool(audits(facts)),
        "05_mqtt_sessions": bool(connections(facts) or facts.flows),
    }
    return tuple(name for name, fit in fits.items() if fit)


def sections_of(notebook: Any) -> list[Section]:
    """A section for each ``##`` heading; what stands before the first one is for readers of the notebook only."""
    sections: list[Section] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading, _, prose = cell.source.strip().partition("\n")
            if heading.startswith("## "):
                served = tuple(cell.metadata.get("tags", ()))
                sections.append(Section(heading.removeprefix("## ").strip(), serves=served))
            else:
                prose = cell.source
            if sections and prose.strip():
                sections[-1].blocks.append(markdown(prose))
        elif sections and cell.cell_type == "code" and "hide" not in cell.metadata.get("tags", ()):
            shown = _blocks(cell.get("outputs", ()))
            sections[-1].blocks.extend(shown)
            sections[-1].shows |= bool(shown)
    return sections


def _says_something(block: Markup) -> bool:
    """False for a table that has only its header."""
    return "<table" not in block.html or "<td" in block.html


def _blocks(outputs: Iterable[Mapping[str, Any]]) -> list[Markup | Figure]:
    blocks: list[Markup | Figure] = []
    for output in outputs:
        data = output.get("data", {})
        if PLOTLY in data:
            blocks.extend([as_figure(data[PLOTLY])] if data[PLOTLY].get("data") else [])
        elif "text/html" in data:
            cleaned = clean_html("".join(data["text/html"]))
            blocks.extend([cleaned] if _says_something(cleaned) else [])
        elif "text/markdown" in data:
            blocks.append(markdown("".join(data["text/markdown"])))
        elif "text/plain" in data:
            blocks.append(literal("".join(data["text/plain"])))
    return blocks
