"""Command output as people keep it: loops with dates between tables, colour codes, messages of the tool.

Sample lines::

    Thu Oct 24 10:00:00 UTC 2024
    Every 2.0s: kafka-consumer-groups.sh --describe --group billing          host-1: Thu Oct 24 10:00:02 2024
    Error: Executing consumer group command failed due to org.apache.kafka.common.errors.TimeoutException: …
    [root@mq-1 bin]# sh mqadmin consumerProgress -g billing -n 10.0.0.1:9876

A moment without a zone, or with an ambiguous one such as ``CST``, is read as UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from mqlab.formats.base import About, Data, Head, Item, Items, Line, Lines, Noise, Reject, regex
from mqlab.formats.values import MICRO, at_zone, east, filled
from mqlab.tables import EVENTS, Row

_DRESS = re.compile(r"\r|\ufeff|\x1b(?:\[[0-9;?]*[A-Za-z]|[()][A-Z0-9])")
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\s+"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*"
_CLOCK = r"(?P<clock>\d{1,2}:\d{2}:\d{2})(?:[.,]\d+)?(?:\s(?P<half>[AP]M))?"
_ZONE = r"(?:\s?(?P<zone>[A-Z]{3,5}|Z|[+-]\d{2}:?\d{2}))?"
_DATES = (
    rf"{_DAY}{_MONTH}\s+(?P<day>\d{{1,2}})\s+{_CLOCK}{_ZONE}\s+(?P<year>\d{{4}})\s*$",
    rf"{_DAY}(?P<day>\d{{1,2}})\s+{_MONTH}\s+(?P<year>\d{{4}}),?\s+{_CLOCK}{_ZONE}\s*$",
    rf"(?P<year>20\d\d)[-/](?P<month>\d\d)[-/](?P<day>\d\d)[T ]+{_CLOCK}{_ZONE}[\s=*#<-]*$",
    rf"(?P<year>\d{{4}})年\s*(?P<month>\d{{1,2}})月\s*(?P<day>\d{{1,2}})日.*?{_CLOCK}{_ZONE}\s*$",
)
HOUR = rf"^\s*(?:[=*#>-]+\s+|(?=[\d:]+\s*$)){_CLOCK}{_ZONE}(?![\d:])"
"""A heading with an hour alone: its day stands elsewhere, if anywhere."""
_HOUR = regex(HOUR)
_DATED = tuple(regex(date) for date in _DATES)
_OFFSETS = {"UTC": "Z", "GMT": "Z", "Z": "Z", "CET": "+01:00", "CEST": "+02:00", "EET": "+02:00", "EEST": "+03:00",
            "MSK": "+03:00", "HKT": "+08:00", "JST": "+09:00", "KST": "+09:00", "EST": "-05:00", "EDT": "-04:00",
            "CDT": "-05:00", "MST": "-07:00", "PST": "-08:00", "PDT": "-07:00"}  # fmt: skip
_CLOCKED = regex(r"\d:\d\d:\d\d")
_EPOCH = regex(r"^\d{10}$")
_CELL = regex(r"\s\d+\s+-?\d+\s+-?\d+\s+(?:\S+\s+)?(?:-?\d+\s+){0,2}20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d+)?\s*$")
"""A moment that is the last cell of a row of numbers, such as ``#LastTime``: it does not say when it was printed."""
GLUED = regex(rf"(?:{_DAY}.*\d:\d\d:\d\d.*|20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d.*|\[\w+@[^\]]*\][$#].*)$")
"""What Kafka 3.8 and 3.9 let stick to the last cell, since their tables end without a line break."""

_GROUP = regex(
    r"--group[ =]['\"]?([^\s'\"]+)|[Gg]roup [`']([^`']+)[`']"
    r"|\bmqadmin\b.*\s(?:-g|--groupName)[ =]+['\"]?([^\s'\"]+)|\bgroup\[([^\]]+)\]|: %RETRY%([\w|-]+)"
)
_TOOL_LOG = r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+\] "
_ERROR = regex(
    r"^\s*(?:Error(?::| while | connecting )|Warning: |Exception in thread |command terminated with exit code "
    r"|connect to \S+ failed|(?:[a-z]\w*\.)+\w*(?:Exception|Error)\b"
    r"|Consumer group [`'].*(?:not exist|is rebalancing|no active members)"
    r"|Skip getting offsets|Topics? .* (?:does|do) not exist"
    r"|\S*: (?:line \d+: )?\S+: (?:command not found|No such file or directory|Permission denied))"
    rf"|{_TOOL_LOG}(?:WARN|ERROR|FATAL) "
)
_MARGINS = regex(rf"{_TOOL_LOG}|^\s+|\s+$")
_NOISE = regex(
    r"^\s*$|^Note: |^\s*at [\w.$]+[(/]|^\s*Caused by: |^\s*\.\.\. \d+ |^OpenJDK .* warning|^Java HotSpot|^SLF4J:"
    r"|^Picked up |^[-=#*_+~\s]+$|^Every [\d.,]+s: |^[^|{}]*\bkafka[-\w]*\.sh |^[$#>%+]+ \S|^\[?\S+@\S+[^$#]*[$#]( |$)"
    r"|^[^|{}]*\bmqadmin(?:\.\w+)? [a-z]\w+( |$)"
    r"|^RocketMQLog:WARN|^See https?://\S+ for further details|^For more information, please visit the url"
    rf"|^\d{{10}}$|{_TOOL_LOG}(?:TRACE|DEBUG|INFO) |"
    + "|".join(f"^[\\s=*#>-]*{re.sub(r'[?]P<[a-z]+>', '?:', date)}" for date in (*_DATES, rf"{HOUR}[\s=*#<-]*$"))
)
_STAMP = r"(?:[._-]?(?:\d{8}[T_-]?\d{6}Z?|1\d{9}(?:\d{3})?))?(?:\.(?:txt|log|out|json))*$"
CONSUMERS = r"consumer[-_]?(?:progress|connection|status)(?![-_.]all\b)(?:-s(?=-))?"
"""Commands of RocketMQ about one group, as files with their answers are named."""
_CAUSE = regex(r"^\s*Caused by: (?:\w+\.)*\w+: (.*\S)")
_SOON = 12
"""Lines behind an exception of RocketMQ's tools in which its cause is told."""
_ROCKETMQ = regex(r"rocketmq|mqadmin|CODE: \d+ +DESC: ")


class Shown(NamedTuple):
    """A line and what stands around it."""

    line: Line
    plain: str
    """Without carriage return, byte order mark and terminal codes."""
    at: int | None
    """The moment shown nearest above, else the snapshot's."""
    named: str | None
    """The group that is named nearest above, else below."""
    error: Row | None
    """EVENTS of kind ``tool-error`` where the tool complains."""


def plain(text: str) -> str:
    """The line without carriage return, byte order mark and terminal codes."""
    return _DRESS.sub("", text)


def shown(lines: Lines, about: About) -> list[Shown]:
    """All *lines* of a file, each with what stands around it."""
    bare = [(line, plain(line.text)) for line in lines]
    names = [group_named(text) for _, text in bare]
    named = next((name for name in names if name), None)
    at, found = about.snapshot_at, []
    for place, ((line, text), name) in enumerate(zip(bare, names, strict=True)):
        named = name or named
        error = _complaint(bare, place, at, named, about) if _ERROR.search(text) else None
        found.append(Shown(line, text, at, named, error))
        at = _moment(text, about.day) or at
    return found


def table(lines: Lines, about: About, rows: Callable[[Shown], Sequence[Row]], aside: Callable[[str], object]) -> Items:
    """Lines whose *rows* tell something are data, those that are *aside* noise, the others remarks."""
    for one in shown(lines, about):
        if found := rows(one):
            yield Data(one.line, found)
        else:
            yield Noise(one.line) if aside(one.plain) else remark(one)


def remark(one: Shown) -> Item:
    """What a line is that is no row of a table: data for the tool's errors, noise, or not understood."""
    if one.error:
        return Data(one.line, (one.error,))
    return Noise(one.line) if _NOISE.search(one.plain) else Reject(one.line)


def group_named(line: str) -> str | None:
    """The consumer group that a command line or a message names."""
    if not ("roup" in line or "mqadmin" in line or "%RETRY%" in line):
        return None
    found = _GROUP.search(line)
    return next((part for part in found.groups() if part), None) if found else None


def named_after(command: str, about: About) -> str | None:
    """What a file, whose name begins with the *command* (a regex), is named after: a group, a topic; else None."""
    found = re.search(rf"(?i)^(?:{command})[-_.](.+?){_STAMP}", about.name, re.ASCII)
    return filled(found[1]) if found else None


@lru_cache(maxsize=1)
def plain_lines(head: Head) -> tuple[str, ...]:
    """Lines of the head without terminal codes; blank ones and a cut last one are left out.

    Cached, since every format asks for the same head in turn.
    """
    lines = plain(head.text).split("\n")
    cut = len(head.text) < head.size and len(lines) > 1
    return tuple(line for line in (lines[:-1] if cut else lines) if line.strip())


def is_remark(line: str) -> bool:
    """True for an error of a tool, a date, a prompt, a line of a stack trace."""
    return _ERROR.search(line) is not None or _NOISE.search(line) is not None


def only_errors(head: Head, said: str, named: str) -> bool:
    """True when a tool printed nothing but errors, and its text (*said*) or the file's name (*named*) tells which."""
    lines = plain_lines(head)
    told = any(re.search(said, line) for line in lines) or re.search(named, head.name) is not None
    return told and all(is_remark(line) for line in lines) and any(_ERROR.search(line) for line in lines)


def with_next(lines: Sequence[Shown]) -> Iterator[tuple[Shown, str]]:
    """Each line with the plain text of the one below; empty below the last."""
    below = [one.plain for one in lines[1:]]
    return zip(lines, [*below, ""], strict=True)


def _complaint(bare: Sequence[tuple[Line, str]], place: int, at: int | None, named: str | None, about: About) -> Row:
    """What caused an exception, which RocketMQ's tools say some lines below, joins its reason."""
    text, cause = bare[place][1], None
    if "SubCommandException" in text:
        soon = islice(bare, place, place + _SOON + 1)
        cause = next((found[1] for _, line in soon if (found := _CAUSE.search(line))), None)
    group = group_named(text) or (group_named(cause) if cause else None) or named or named_after(CONSUMERS, about)
    reason = _MARGINS.sub("", text)
    return EVENTS.row(
        at=at,
        system="rocketmq" if _ROCKETMQ.search(text) else "kafka",
        kind="tool-error",
        group=group,
        reason=f"{reason}: {cause}" if cause else reason,
    )


def _moment(text: str, day: str | None = None) -> int | None:
    """The instant that a line shows which is that of ``date``, the header of ``watch`` or a comment such as ``# at …``."""  # noqa: E501
    if _EPOCH.search(text):
        return int(text) * MICRO
    if not _CLOCKED.search(text) or _CELL.search(text):
        return None
    if day and (found := _HOUR.search(text)):
        return _instant(found.groupdict() | dict(zip(("year", "month", "day"), day.split("-"), strict=True)))
    found = next((found for date in _DATED if (found := date.search(text))), None)
    return _instant(found.groupdict()) if found else None


def _instant(parts: Mapping[str, str]) -> int | None:
    month = parts["month"]
    number = _MONTHS.index(month) + 1 if month in _MONTHS else int(month)
    hour, minute, second = map(int, parts["clock"].split(":"))
    if parts["half"]:
        hour = hour % 12 + (12 if parts["half"] == "PM" else 0)
    zone = parts["zone"] or "Z"
    try:
        moment = datetime(int(parts["year"]), number, int(parts["day"]), hour, minute, second)  # noqa: DTZ001
    except ValueError:
        return None
    return at_zone(moment, east(_OFFSETS.get(zone, zone)) or 0)
