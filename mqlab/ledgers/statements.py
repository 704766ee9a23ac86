"""A line of a log as an application put it together: words that stay, and values that vary.

Sample lines, with values in angle brackets::

    2026-11-22 07:00:01,123 INFO  [main] com.acme.Payer - paid <PO-17> (topic=<payouts> partition=<1> offset=<33>)
    2026-11-22T07:00:01.123Z level=<info> msg=sent topic=<orders> partition=<3> offset=<1032> key=<ord-17>
    2026-11-22 07:00:01,123 acked <orders>-<0>@<33>

Behind moment, level, thread and logger begins the statement. Names are followed by values; other words are values
where they hold a digit or are a topic with levels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mqlab.ledgers.verbs import PUT, ROLE_OF, TELLERS, words

FAR = 16_384
"""Characters of a line that may be a row; of longer ones the scan keeps no more."""
_LEVEL = r"(?i:TRACE|DEBUG|DBG|INFO|INF|NOTICE|WARN(?:ING)?|WRN|ERROR|ERR|FATAL|CRITICAL|SEVERE)"
_MOMENT = (
    r"(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+){0,2} ?(?:Z|UTC|[+-]\d\d:?\d\d)?|1\d{9}(?:[.,]\d+)?"
    r"|\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d(?:[.,]\d+)?)"
)
_LOGGER = r"[\w.$/#@-]+(?:\(\w+\))?(?::\d+)?"
PREFIX = (
    rf"[\[(<]?(?:{_MOMENT}[\])>]?[:,|]?[ \t]+)?"
    rf"(?:\[[^\]]*\]:?[ \t]*|[(<]?{_LEVEL}[)>]?(?::[\w.]+:[ \t]*|:?[ \t]+)|\d+[ \t]+"
    rf"|{_LOGGER}[ \t]*[-:|][ \t]+|[-|:>]+[ \t]+){{0,12}}"
)
"""What loggers write before a statement."""
_DATED = re.compile(rf"[\[(<]?{_MOMENT}", re.ASCII)
_START = re.compile(PREFIX, re.ASCII)

QUOTED = r'[^"\\]*(?:\\.[^"\\]*){0,500}'
"""What stands in double quotes; Java recurses into the group, so that its repetition must have an end."""
_BARE = r"[^\s,;|()\[\]{}\"'<>]*"
_WORD = r"[^\s,;|()\[\]{}\"'=<>]+"
_MEMBER = r"[^\s,}\]\"{\[]+"
_TOPIC = r"[A-Za-z0-9_][\w.%-]*"
_NAME = r"[A-Za-z_@][\w.@-]*"
_NUMBER, _PARTITION = r"\d+", r"\d{1,6}"
_OFFSET = r",?[ \t]+(?:at[ \t]+)?offset[ \t]?[=:]?[ \t]?#?"
_TOKEN = re.compile(
    rf"(?P<t1>{_TOPIC})-(?P<p1>{_PARTITION})(?P<s1>[ \t]?@[ \t]?|{_OFFSET})(?P<o1>\d+)"
    rf"|(?P<t2>{_TOPIC})(?P<b2>[ \t]?\[)(?P<p2>{_PARTITION})(?P<s2>\][ \t]?@[ \t]?|\]{_OFFSET}|[ \t]\|[ \t])(?P<o2>\d+)"
    rf"|(?P<b3>topic/partition/offset[ \t])(?P<t3>{_TOPIC})/(?P<p3>{_PARTITION})/(?P<o3>\d+)"
    rf'|"(?P<member>{_NAME})"(?P<colon>[ \t]*:[ \t]*)(?:"(?P<text>{QUOTED})"|(?P<plain>{_MEMBER}))?'
    rf"|(?P<name>{_NAME})(?P<is>[ \t]?(?:=|:=|=>)[ \t]?\[?)"
    rf"(?:\"(?P<quoted>{QUOTED})\"|'(?P<single>[^']*)'|(?P<bare>{_BARE}))"
    r"|(?P<said>(?i:partition|offset))(?P<by>:?[ \t]*[\[#]?|:?[ \t]+)(?P<number>\d+)"
    r"|(?P<of>(?i:topic):?[ \t]+['\"]?)(?!(?i:partition|offset|and|is|with|at|to|for)\b)"
    rf"(?P<title>{_TOPIC})|(?P<gap>[ \t]+)|(?P<word>{_WORD})|\"(?P<alone>{QUOTED})\"|(?P<mark>.)",
    re.ASCII,
)
_END = re.compile(r"[.:!?]+$")
_LEVELS = re.compile(r"[^/:]+(?:/[^/:]+)+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a statement: words that stay, or a value, maybe under a name."""

    text: str
    pattern: str = ""
    """Of a value, which it fits to its end; empty for words."""
    name: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What such pieces of one shape have in common."""
        return (self.name, self.pattern) if self.pattern else (self.text, "")


def is_dated(line: str) -> bool:
    """Whether the line begins with a moment that has a year."""
    return _DATED.match(line) is not None


def statement(line: str) -> str:
    """What stands behind moment, level, thread and logger."""
    return _START.sub("", line, count=1)


def pieces(said: str) -> list[Piece]:
    """The parts of a statement, one after the other."""
    return [piece for token in _TOKEN.finditer(said) for piece in _pieces(token)]


def _pieces(token: re.Match[str]) -> Iterator[Piece]:
    if place := next((n for n in "123" if token[f"t{n}"]), None):
        yield from _place(token, place)
    elif token["member"]:
        yield Piece(f'"{token["member"]}"{token["colon"]}')
        yield from _value(token["member"], (token["text"], None, token["plain"]), _MEMBER)
    elif token["name"]:
        yield Piece(token["name"] + token["is"])
        yield from _value(token["name"], (token["quoted"], token["single"], token["bare"]), _BARE)
    elif token["said"]:
        yield from (Piece(token["said"] + token["by"]), Piece(token["number"], _NUMBER, token["said"].lower()))
    elif token["of"]:
        yield from (Piece(token["of"]), Piece(token["title"], _TOPIC, "topic"))
    elif token["alone"] is not None:
        yield from (Piece('"'), Piece(token["alone"], QUOTED), Piece('"'))
    elif token["word"]:
        yield from _word(token["word"])
    else:
        yield Piece(" " if token["gap"] else token[0])


def _place(token: re.Match[str], form: str) -> Iterator[Piece]:
    marks = {"1": ("", "-", token["s1"]), "2": ("", token["b2"], token["s2"]), "3": (token["b3"], "/", "/")}[form]
    kinds = (("topic", _TOPIC), ("partition", _PARTITION), ("offset", _NUMBER))
    for mark, (name, pattern) in zip(marks, kinds, strict=True):
        if mark:
            yield Piece(mark)
        yield Piece(token[f"{name[0]}{form}"], pattern, name)


def _value(name: str, written: tuple[str | None, str | None, str | None], pattern: str) -> Iterator[Piece]:
    """A value in double, single or no quotes; words where a logger tells under this name what happened."""
    forms = (('"', QUOTED), ("'", "[^']*"), ("", pattern))
    for value, (mark, form) in zip(written, forms, strict=True):
        if value is not None:
            told = TELLERS.fullmatch(name.rpartition(".")[2]) and not re.search(r"\d", value)
            verbs = told and any(word in ROLE_OF or word in PUT for word in words(value))
            inner = Piece(value) if verbs else Piece(value, form, name)
            yield from (Piece(mark), inner, Piece(mark)) if mark else (inner,)
            return


def _word(word: str) -> Iterator[Piece]:
    end = _END.search(word)
    bare = word[: end.start()] if end else word
    if re.search(r"\d", bare) or _LEVELS.fullmatch(bare):
        yield Piece(bare, _WORD)
        if end:
            yield Piece(end[0])
    else:
        yield Piece(word)
