"""Pages and light Markdown in the language that is spoken."""

from __future__ import annotations

import json
import re
from html import escape, unescape
from typing import Literal

from mqlab.languages import ENGLISH, said, spoken

_MARKUP = re.compile(
    r"(<(script|style|pre|code)\b.*?</\2>|<[^>]*>)", re.DOTALL | re.IGNORECASE
)  # text and attributes of a page are escaped, so that no other < or > stands there
_READ = re.compile(r'(?<= )(title|aria-label|alt)="([^"]*)"')
_HEAD = re.compile(r"(\s*(?:[#>*-]+ +)*(?:\d+\. +)?)(.*)")
_WIDTHS: tuple[Literal["wide", "abbreviated"], ...] = ("wide", "abbreviated")
_LANGUAGE_TAGS = {"zh": "zh-CN"}


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
    module = {"moduleType": "locale", "name": _LANGUAGE_TAGS[spoken()], "dictionary": {}, "format": written}
    return f"Plotly.register({json.dumps(module)});\nPlotly.setPlotConfig({{locale: {json.dumps(module['name'])}}});\n"


def page(html: str) -> str:
    """An HTML page: texts and what is said of pictures and links; code, literal lines and scripts stay."""
    if spoken() == ENGLISH:
        return html
    parts = _MARKUP.split(html)
    told = [
        _READ.sub(lambda one: f'{one[1]}="{_escaped(one[2])}"', part) if place % 3 == 1 else _escaped(part)
        for place, part in enumerate(parts)
        if place % 3 != 2
    ]
    return "".join(told).replace('<html lang="en">', f'<html lang="{_LANGUAGE_TAGS.get(spoken(), spoken())}">', 1)


def _escaped(text: str) -> str:
    lines = [_words(unescape(line)) for line in text.split("\n")]
    told = "\n".join(escape(line) for line in lines)
    return text if told == escape(unescape(text)) else told


def _words(text: str) -> str:
    inner = text.strip()
    return text.replace(inner, said(inner), 1) if inner else text


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
