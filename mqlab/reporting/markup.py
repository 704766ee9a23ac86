"""The gate to the page: nothing from the material or from a notebook passes it as live mark-up."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import mistune
import nh3
from markupsafe import Markup as SafeText

from mqlab.figures.style import FigureTable, figure_table

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


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart as script-safe JSON, with the table behind it."""

    json: SafeText
    table: FigureTable
    height: int


def clean_html(html: str) -> Markup:
    """HTML of a notebook's output without scripts, styles, events and images."""
    return Markup(SafeText(nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"https"})))


def markdown(text: str) -> Markup:
    """Prose of a notebook."""
    return clean_html(str(_PROSE(text)))


def literal(text: str) -> Markup:
    """Text that keeps its line breaks and means nothing."""
    return Markup(SafeText(f"<pre>{escape(text)}</pre>"))


def as_figure(figure: Mapping[str, Any]) -> Figure:
    """A figure in plotly's JSON form."""
    chart = {"data": figure.get("data", []), "layout": figure.get("layout", {})}
    return Figure(script_json(chart), figure_table(chart), int(chart["layout"].get("height") or 320))


def script_json(value: object) -> SafeText:
    """JSON that cannot end the script element it stands in: no ``<``, ``>``, ``&``, U+2028."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return SafeText(text)


def script_hash(script: str) -> str:
    """What the content security policy calls this very script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
