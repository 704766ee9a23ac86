r"""What a terminal, a browser or an editor added to a line: colours, overwritten text, tags, quotes, numbers of lines.

Sample lines, and what is left of the last part of each::

    ESC[36m12:18:43 ESC[0mpoll timed out           also as text: ^[[36m, \x1b[0m, \u001b[0m, \033[0m
    downloading  10 %\rdownloading 100 %           the terminal shows what came last
    > 2024-05-01 12:18:43 WARN …                   a mail, Markdown
    logs/app.log:812:2024-05-01 12:18:43 WARN …    grep -n
        Zeile  12: 2024-05-01 12:18:43 WARN …      an editor's list of hits
        17  2024-05-01 12:18:43 WARN …             less -N, cat -n
"""

from __future__ import annotations

import html
import re

_ESCAPE = r"(?:\x1b|\^\[|\\x1[bB]|\\u001[bB]|\\033|\\e|\u241b)"
_CONTROL = re.compile(
    rf"{_ESCAPE}(?:\[[0-9;?]{{0,30}}[A-Za-z]|[()][A-Z0-9]|\][^\x07\x1b]{{0,200}}(?:\x07|{_ESCAPE}\\))"
    r"|\ufeff|\u200b|[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]"
)
_BARE = re.compile(r"(?<![\w\]])\[(?:\d{1,2};){0,4}\d{1,2}m(?=\S)|(?<=\S)\[(?:0|39|49)m|(?<=\S)\[m(?=\s|$)")
"""Colours whose escape was lost when they were copied: ``[36mINFO[0m``."""
_RUBBED = re.compile(r"[^\x08]\x08")
_TAGS = re.compile(
    r"</?(?:a|b|body|code|div|em|font|h[1-6]|head|html|i|li|ol|p|pre|samp|span|strong|table|tbody|td|th|title|tr|tt|ul)"
    r"(?:\s[^<>]{0,500})?>",
    re.IGNORECASE,
)
_BREAK = re.compile(r"<br ?/?>|</(?:p|div|tr|li)>(?=.)", re.IGNORECASE)
MARKS = re.compile(
    rf"{_ESCAPE}\[[0-9;]{{0,30}}[A-Za-z]|[^\r\n]\r[^\r\n]|^[ \t]*(?:```|~~~)|<pre\b|<br ?/?>|&(?:lt|gt|quot|amp|#\d+);"
    r"|^[ \t]*\"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:"
    r"|^(?:(?:time|ts|t)=\S{1,40} (?:level|lvl)|(?:level|lvl)=\w{1,9} (?:time|ts|t))=\S+ [^\n]{0,200}(?:msg|message)="
    r"|(?<=\S)\[0m|\\n(?:\\t|\s)*at ",
    re.MULTILINE,
)
"""What no log has that lies as it was written."""
MARKUP = re.compile(r"<(?:pre|br|span|code|div)\b[^<>]{0,500}>|&(?:lt|gt|quot|#\d+);", re.IGNORECASE)
"""What tells that a text was copied from the source of a page."""

PREFIXES = tuple(
    re.compile(prefix)
    for prefix in (
        r"(?:>[ ]?)+",
        r"[ \t]*[-*+\u2022\u00b7][ \t]+",
        r"(?:[A-Za-z]:)?(?:[\w.@~+ -]{0,80}[/\\])*[\w.@~+-]{1,120}(?:[:-]\d{1,7}[:-]|\(\d{1,7}\): ?)",
        r"(?:[\w.@~+-]{0,80}/)*[\w.@~+-]{0,100}\.(?:log|txt|out|err)(?:\.\d+)?:",
        r"[ \t]{0,8}\d{1,7}[:.)|\t]?[ \t]{1,6}",
        r"\d{1,7}:|\[\d{1,7}\]",
        r"[ \t]*[^\W\d_]{1,12}\.?[ \t]{0,7}\d{1,7}[ \t]?[:)\uff1a][ \t]*",
        r"[a-z][\w-]{0,30}\.\d{1,2}[ \t]{1,4}",
        r"\|[ \t]*",
        r"\([\w.@-]{1,200}\)\d{1,6}> ?",
        r"`{1,2}",
        r"(?:\[\w{1,20}\] )?(?:\d{1,4}\|)?[A-Za-z][\w.@-]{0,99} {1,40}\| ",
        r"log4j, ",
        r"\[(?:pod|deployment|statefulset|job|service)/[^\]\s]{1,300}\] ",
        r"[ \t]+",
    )
)
"""What may stand before a record that it does not belong to."""


def clean(text: str, *, markup: bool) -> str:
    r"""*text* as a terminal would have shown it, of HTML what a browser shows; a line break of HTML is ``\n``."""
    if markup:
        text = html.unescape(_TAGS.sub("", _BREAK.sub("\n", text)))
    text = _CONTROL.sub("", text.rstrip("\r"))
    if "[" in text and "m" in text:
        text = _BARE.sub("", text)
    while "\x08" in text and (shorter := _RUBBED.sub("", text)) != text:
        text = shorter
    if "\r" in text:
        text = next((part for part in reversed(text.split("\r")) if part.strip()), "")
    return text.replace("\u00a0", " ").replace("\u202f", " ")
