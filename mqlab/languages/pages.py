"""Light Markdown in the language that is spoken, and how a page's charts write moments in it."""

from __future__ import annotations

import json
import re
from typing import Literal

from mqlab.languages import ENGLISH, language_tag, said, spoken

_HEAD = re.compile(r"(\s*(?:[#>*-]+ +)*(?:\d+\. +)?)(.*)")
_WIDTHS: tuple[Literal["wide", "abbreviated"], ...] = ("wide", "abbreviated")


def chart_locale() -> str:
    """The script that tells plotly how moments are written; it goes by the language of the page."""
    if spoken() == ENGLISH:
        return ""
    from babel.dates import get_day_names, get_month_names

    months = {width: list(get_month_names(width, locale=spoken()).values()) for width in ("wide", "abbreviated")}
    days = {width: [get_day_names(width, locale=spoken())[n % 7] for n in range(6, 13)] for width in _WIDTHS}
    written = {
        "months": months["wide"], "shortMonths": months["abbreviated"], "days": days["wide"],
        "shortDays": days["abbreviated"], "date": "%Y-%m-%d", "year": "%Y年", "month": "%Y年%b", "dayMonth": "%b%-d日",
        "dayMonthYear": "%Y年%b%-d日",
    }  # fmt: skip
    module = {"moduleType": "locale", "name": language_tag(), "dictionary": {}, "format": written}
    return f"Plotly.register({json.dumps(module)});\nPlotly.setPlotConfig({{locale: {json.dumps(module['name'])}}});\n"


def markdown(text: str) -> str:
    """Light Markdown, a line being a paragraph; what is indented by four is code."""
    if spoken() == ENGLISH:
        return text
    return "\n".join(line if line.startswith("    ") else _line(line) for line in text.split("\n"))


def prose(text: str) -> str:
    """Light Markdown whose paragraphs and items go over several lines."""
    if spoken() == ENGLISH:
        return text
    blocks = re.split(r"(\n\s*\n|\n(?=[-*#|] ))", text)
    return "".join(block if place % 2 else _line(" ".join(block.split())) for place, block in enumerate(blocks))


def _line(text: str) -> str:
    head = _HEAD.fullmatch(text)
    return head[1] + said(head[2]) if head else said(text)
