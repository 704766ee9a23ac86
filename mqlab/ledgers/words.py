"""How applications write about a message in a line: verbs, moments, statements cut into words and values, payloads.

Sample lines, with values in angle brackets::

    2026-11-22 07:00:01,123 INFO  [main] com.acme.Payer - paid <PO-17> (topic=<payouts> partition=<1> offset=<33>)
    2026-11-22T07:00:01.123Z level=<info> msg=sent topic=<orders> partition=<3> offset=<1032> key=<ord-17>
    2026-11-22 07:00:01,123 acked <orders>-<0>@<33>

Behind moment, level, thread and logger begins the statement. Verbs count only in forms that say that something is over:
``sending`` begins what ``sent`` ends. What a line prints of a record's value is never kept::

    consumed orders-0@33 key=17 value={"card":"4111"}            consumed orders-0@33 key=17 value={…}
    sent value="hello" topic=orders id=17                        sent value="…" topic=orders id=17
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

VERBS = {
    "sent": ("sent", "produced", "published", "emitted"),
    "acked": ("acked", "ack", "acknowledged", "confirmed", "puback"),
    "received": ("received", "recv", "got", "read", "polled", "fetched"),
    "consumed": ("consumed",),
    "processed": ("processed", "handled", "done", "finished", "completed", "stored", "saved"),
    "failed": ("failed", "undelivered", "refused"),
}
"""Verbs by the role that they tell, whatever their case."""
_PAST = re.compile(r"[a-z]{2,}ed|written|wrote|paid|sold|bought|made|built|put|done")
ROLE_OF = {verb: role for role, verbs in VERBS.items() for verb in verbs}
HANDLED = ("received", "consumed", "processed")
"""Stages of one message at one receiver; the last one of them counts."""
PUT = frozenset({*VERBS["sent"], "delivered", "appended", "forwarded", "enqueued", "stored", "written", "wrote"})
"""Verbs of putting a record somewhere."""
INTO = frozenset({"to", "into"})
"""Between such a verb and a place: the record was put there, which only its acknowledgement tells."""
TELLERS = re.compile(r"(?i)msg|message|event|action|op|operation|stage|what|type|kind")
"""Names under which a logger writes what happened."""
NOT_ONE = frozenset({
    *("commit", "commits", "committed", "committing", "position", "positions", "seek", "seeking", "sought", "reset"),
    *("resetting", "checkpoint", "checkpointed", "watermark", "lag", "assigned", "assignment", "revoked", "resumed"),
    *("resuming", "paused", "fetching", "rebalance", "truncated", "truncating", "segment", "snapshot", "until", "up"),
    *("records", "messages", "events", "rows", "items", "msgs", "documents", "docs", "jobs", "tasks", "batch"),
    *("partitions", "offsets", "replica", "replicas", "isr", "leader", "controller", "correlation", "metadata"),
    *("total", "far", "through", "earliest", "latest", "beginning", "end", "next", "last", "first", "between"),
})  # fmt: skip
"""Words of lines about positions, or about many messages at once."""
NOT_ONE_NAMES = re.compile(
    r"(?i)(?:.*(?:end|start|committed|current|first|last|base|next|begin|low|high)_?offset|lag|.*watermark|hw|leo|"
    r"generation(?:_?id)?|member_?id|count|records|messages|total|batch(?:_?size)?|from|until|group_?instance_?id)"
)
"""Names of values in such lines."""
NEGATIVE = (
    r"(?i)\b(?:not|cannot|can't|couldn't|unable|fail\w*|undelivered|error\w*|\w*exception|reject\w*|skip\w*|dropp\w*"
    r"|discard\w*|ignor\w*|retry\w*|retri\w*|invalid|timed out|time-?out|refus\w*|abort\w*|duplicate[ds]?"
    r"|dead.?letter\w*)\b"
)
"""Words that say that it was not done, or in another way."""
PAYLOADS = r"(?:(?:record|message|msg)_?)?(?:value|payload|body|content|data|headers)"
"""Names of what is never kept."""
HARMLESS = (
    r"(?i)(?:\b\w*retr\w*\"?[ \t]?[=:][ \t]?\d*"
    r"|\b\w*(?:err|error|exception|fail\w*|duplicates?|skip\w*|drop\w*|reject\w*)(?:[ \t]?=|\"[ \t]?:)"
    r"[ \t]?\"?(?:null|none|nil|false|no|0)?\"?)(?:[\s,;})\]]|$)"
    rf"|(?i:(?:^|[^\w.])\"?{PAYLOADS}\"?[ \t]?[=:].*$)"
)
"""Negative words that are but names over nothing, and what a record holds, whatever it says."""


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return re.findall(r"[a-z][a-z'-]*", text.lower())


def is_past(word: str) -> bool:
    """Whether a word may be a verb in the past: a regular one, or one of the few that work on records ends with."""
    return _PAST.fullmatch(word) is not None


_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_ZONE = r"Z| ?[+-]\d\d:?\d\d"
_ISO = rf"20\d\d-\d\d-\d\d[T ]{_CLOCK}(?:{_ZONE})?"
_SLASHED = rf"(20\d\d)/(\d\d)/(\d\d)[T ]({_CLOCK})({_ZONE})?"
_DOTTED = rf"(\d\d)\.(\d\d)\.(20\d\d)[T ]({_CLOCK})({_ZONE})?"
_NAMED = rf"(\d\d)/([A-Z][a-z]{{2}})/(20\d\d)[: ]({_CLOCK})({_ZONE})?"
_EPOCH = r"1\d{12}|1[5-9]\d{14}|1\d{9}(?:\.\d{1,9})?"

MOMENT = re.compile(
    "|".join([_EPOCH, _ISO, *(re.sub(r"\((?!\?)", "(?:", form) for form in (_SLASHED, _DOTTED, _NAMED))])
)
"""Epoch seconds, milliseconds or microseconds, or a date with a time of day."""


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
            verbs = told and any(word in ROLE_OF or word in PUT or is_past(word) for word in words(value))
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


_IS = rf"(?i)((?:^|[^\w.])\"?{PAYLOADS}\"?[ \t]?[=:][ \t]?"
NAMED = f"{_IS})"
"""Regex for the name of a value and its sign."""
_FACTS = r"\"?(?:topic|partition|offset|key|id|timestamp)\"?[ \t]?[=:]"
_MANY = "{0,500}"
_INNER = rf"\{{[^{{}}\"]*(?:\"{QUOTED}\"[^{{}}\"]*){_MANY}\}}"
_OBJECT = rf"\{{[^{{}}\"]*(?:(?:\"{QUOTED}\"|{_INNER})[^{{}}\"]*){_MANY}\}}"
STEPS = (
    (rf"{_IS}\"){QUOTED}\"", '$1…"'),
    (rf"{_IS}\")[^…\n][^\n]*$", "$1…"),
    (rf"{_IS}){_OBJECT}", "$1{…}"),
    (rf"{_IS})[^\"\s…{{][^\n]*?((?:,[ \t]*|[ \t]+){_FACTS}|$)", "$1…$2"),
    (rf"{_IS})\{{[^…][^\n]*$", "$1…"),
)
"""Patterns and what they leave, one after the other: in quotes that end or do not, an object within which is one at
most, no quotes, and an object that does not end or is deeper."""
_VALUE_NAMED = re.compile(NAMED, re.ASCII)
_STEPS = tuple((re.compile(pattern, re.ASCII), re.sub(r"\$(\d)", r"\\g<\1>", rest)) for pattern, rest in STEPS)


def without(line: str) -> str:
    """The line without what it prints of a record's value."""
    if not _VALUE_NAMED.search(line):
        return line
    return reduce(lambda text, step: step[0].sub(step[1], text), _STEPS, line)
