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
from functools import lru_cache

from pyspark.sql import DataFrame

from mqlab.loaders.base import Head
from mqlab.sql import filled, group, matches, quoted, replaced
from mqlab.tables import EVENTS

_DRESS = r"\r|\x{feff}|\x1b(?:\[[0-9;?]*[A-Za-z]|[()][A-Z0-9])"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\s+"
_MONTH = r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_CLOCK = r"(\d{1,2}:\d{2}:\d{2})(?:[.,]\d+)?(?:\s([AP]M))?"
_ZONE = r"(?:\s?([A-Z]{3,5}|Z|[+-]\d{2}:?\d{2}))?"
_DATES = (
    (rf"{_DAY}{_MONTH}\s+(\d{{1,2}})\s+{_CLOCK}{_ZONE}\s+(\d{{4}})\s*$", "$6-$1-$2 $3 $4 $5"),
    (rf"{_DAY}(\d{{1,2}})\s+{_MONTH}\s+(\d{{4}}),?\s+{_CLOCK}{_ZONE}\s*$", "$3-$2-$1 $4 $5 $6"),
    (rf"(20\d\d)[-/](\d\d)[-/](\d\d)[T ]+{_CLOCK}{_ZONE}[\s=*#<-]*$", "$1-$2-$3 $4 $5 $6"),
    (rf"(\d{{4}})年\s*(\d{{1,2}})月\s*(\d{{1,2}})日.*?{_CLOCK}{_ZONE}\s*$", "$1-$2-$3 $4 $5 $6"),
)
_OFFSETS = {"UTC": "Z", "GMT": "Z", "Z": "Z", "CET": "+01:00", "CEST": "+02:00", "EET": "+02:00", "EEST": "+03:00",
            "MSK": "+03:00", "HKT": "+08:00", "JST": "+09:00", "KST": "+09:00", "EST": "-05:00", "EDT": "-04:00",
            "CDT": "-05:00", "MST": "-07:00", "PST": "-08:00", "PDT": "-07:00"}  # fmt: skip
_CLOCKED = r"\d:\d\d:\d\d"
_EPOCH = r"^\d{10}$"
_CELL = r"\s\d+\s+-?\d+\s+-?\d+\s+(?:\S+\s+)?(?:-?\d+\s+){0,2}20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d+)?\s*$"
"""A moment that is the last cell of a row of numbers, such as ``#LastTime``: it does not say when it was printed."""
GLUED = rf"(?:{_DAY}.*\d:\d\d:\d\d.*|20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d.*|\[\w+@[^\]]*\][$#].*)$"
"""What Kafka 3.8 and 3.9 let stick to the last cell, since their tables end without a line break."""

_GROUP = (
    r"--group[ =]['\"]?([^\s'\"]+)|[Gg]roup [`']([^`']+)[`']"
    r"|\bmqadmin\b.*\s(?:-g|--groupName)[ =]+['\"]?([^\s'\"]+)|\bgroup\[([^\]]+)\]|: %RETRY%([\w|-]+)"
)
_NAMES_GROUP = r"[Gg]roup|mqadmin|%RETRY%"
_TOOL_LOG = r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+\] "
_ERROR = (
    r"^\s*(?:Error(?::| while | connecting )|Warning: |Exception in thread |command terminated with exit code "
    r"|connect to \S+ failed|(?:[a-z]\w*\.)+\w*(?:Exception|Error)\b"
    r"|Consumer group [`'].*(?:not exist|is rebalancing|no active members)"
    r"|Skip getting offsets|Topics? .* (?:does|do) not exist"
    r"|\S*: (?:line \d+: )?\S+: (?:command not found|No such file or directory|Permission denied))"
    rf"|{_TOOL_LOG}(?:WARN|ERROR|FATAL) "
)
_MARGINS = rf"{_TOOL_LOG}|^\s+|\s+$"
_NOISE = (
    r"^\s*$|^Note: |^\s*at [\w.$]+[(/]|^\s*Caused by: |^\s*\.\.\. \d+ |^OpenJDK .* warning|^Java HotSpot|^SLF4J:"
    r"|^Picked up |^[-=#*_+~\s]+$|^Every [\d.,]+s: |^[^|{}]*\bkafka[-\w]*\.sh |^[$#>%+]+ \S|^\[?\S+@\S+[^$#]*[$#]( |$)"
    r"|^[^|{}]*\bmqadmin(?:\.\w+)? [a-z]\w+( |$)"
    r"|^RocketMQLog:WARN|^See https?://\S+ for further details|^For more information, please visit the url"
    rf"|^\d{{10}}$|{_TOOL_LOG}(?:TRACE|DEBUG|INFO) |" + "|".join(f"^[\\s=*#>-]*{date}" for date, _ in _DATES)
)
_STAMP = r"(?:[._-]?(?:\d{8}[T_-]?\d{6}Z?|1\d{9}(?:\d{3})?))?(?:\.(?:txt|log|out|json))*$"
CONSUMERS = r"consumer[-_]?(?:progress|connection|status)(?![-_.]all\b)(?:-s(?=-))?"
"""Commands of RocketMQ about one group, as files with their answers are named."""
_CAUSE = r"^\s*Caused by: (?:\w+\.)*\w+: (.*\S)"
_UNTOLD = (
    "'ledger-csv', 'ledger-json', 'ledger-lines', 'ledger-mapped', 'access-log', 'gc-log', 'kafka-dump-offsets', "
    "'kafka-dump-records'"
)
"""Formats that no tool interrupts with errors of its own, and that may be very large."""
_ROCKETMQ = r"rocketmq|mqadmin|CODE: \d+ +DESC: "


IN_ORDER = "PARTITION BY source ORDER BY line"
_ABOVE = f"OVER ({IN_ORDER} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
_UPWARD = f"OVER ({IN_ORDER} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
_SOON = f"OVER ({IN_ORDER} ROWS BETWEEN CURRENT ROW AND 12 FOLLOWING)"
_DOWNWARD = f"OVER ({IN_ORDER} ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)"


def plain(text: str) -> str:
    """The line without carriage return, byte order mark and terminal codes."""
    return replaced(text, _DRESS)


def nearest_above(value: str) -> str:
    """The last *value* that is not null, of the same source, up to and including the line."""
    return f"last({value}, true) {_UPWARD}"


def group_named(line: str) -> str:
    """The consumer group that a command line or a message names; else null."""
    parts = ", ".join(group(line, _GROUP, part) for part in range(1, 6))
    return f"CASE WHEN {matches(line, _NAMES_GROUP)} THEN {filled(f'concat({parts})')} END"


def named_after(command: str) -> str:
    """What a file, whose name begins with the *command* (a regex), is named after: a group, a topic; else null."""
    return filled(group("name", rf"(?i)^(?:{command})[-_.](.+?){_STAMP}"))


def _date_written() -> str:
    """Date, clock, half of the day and zone, parted by blanks, as the line shows them; else null.

    Such a line is that of ``date``, the header of ``watch`` or a comment such as ``# at …``, but no row of a table.
    """
    dates = [f"WHEN {matches('plain', p)} THEN {replaced('plain', f'^.*?{p}', form)}" for p, form in _DATES]
    clocked = f"{matches('plain', _CLOCKED)} AND NOT {matches('plain', _CELL)}"
    return f"CASE WHEN {clocked} THEN CASE {' '.join(dates)} END END"


def _moment() -> str:
    """The instant that the line shows, from what is ``written``; else null."""
    offsets = ", ".join(quoted(word) for pair in _OFFSETS.items() for word in pair)
    zone, half = "get(written, 3)", "get(written, 2)"
    offset = f"coalesce(try_element_at(map({offsets}), {zone}), CASE WHEN {zone} RLIKE '^[+-]' THEN {zone} END, 'Z')"
    clock = "concat_ws(' ', get(written, 0), get(written, 1))"
    return f"""CASE
        WHEN {half} != '' THEN
            try_to_timestamp(concat({clock}, {half}, {offset}), 'yyyy-[MMM][M]-d h:mm:ssa[XXX][XX]')
        WHEN {matches("plain", _CLOCKED)} THEN
            try_to_timestamp(concat({clock}, {offset}), 'yyyy-[MMM][M]-d H:mm:ss[XXX][XX]')
        WHEN {matches("plain", _EPOCH)} THEN timestamp_seconds(try_cast(plain AS BIGINT)) END"""


def dated(rows: DataFrame) -> DataFrame:
    """*rows* with what stands around each line.

    ``plain`` is the line without dress, ``at`` the moment shown nearest above, else the snapshot's, ``named`` the
    group named nearest above, else below.
    """
    lines = rows.selectExpr("*", f"{plain('text')} AS plain")
    parted = lines.selectExpr("*", f"split({_date_written()}, ' ') AS written", f"{group_named('plain')} AS said")
    return parted.selectExpr("*", f"{_moment()} AS shown").selectExpr(
        "* EXCEPT (written, said, shown)",
        f"coalesce(last(shown, true) {_ABOVE}, snapshot_at) AS at",
        f"coalesce({nearest_above('said')}, first(said, true) {_DOWNWARD}) AS named",
    )


def tool_errors(lines: DataFrame) -> DataFrame:
    """EVENTS of kind ``tool-error`` from the lines that ``dated`` gives; the group is the one that is named.

    What caused an exception, which RocketMQ's tools say some lines below, joins its reason.
    """
    caused = f"first({filled(group('plain', _CAUSE))}, true) {_SOON}"
    told = lines.where(f"split_part(source, '.', 2) NOT IN ({_UNTOLD})").selectExpr(
        "*", f"CASE WHEN {matches('plain', 'SubCommandException')} THEN {caused} END AS cause"
    )
    columns = {
        "at": "at",
        "system": f"CASE WHEN {matches('plain', _ROCKETMQ)} THEN 'rocketmq' ELSE 'kafka' END",
        "kind": "'tool-error'",
        "group": f"coalesce({group_named('plain')}, {group_named('cause')}, named, {named_after(CONSUMERS)})",
        "reason": f"concat_ws(': ', {replaced('plain', _MARGINS)}, cause)",
    }
    return EVENTS.rows(told.where(matches("plain", _ERROR)), columns)


def remark_class(line: str) -> str:
    """Class of a plain line that is no row of a table: ``data`` for the tool's errors, ``noise``, or null."""
    return f"CASE WHEN {matches(line, _ERROR)} THEN 'data' WHEN {matches(line, _NOISE)} THEN 'noise' END"


@lru_cache(maxsize=1)
def plain_lines(head: Head) -> tuple[str, ...]:
    """Lines of the head without terminal codes; blank ones and a cut last one are left out.

    Cached, since every loader asks for the same head in turn.
    """
    lines = re.sub(_DRESS.replace(r"\x{feff}", "\ufeff"), "", head.text).split("\n")
    cut = len(head.text) < head.size and len(lines) > 1
    return tuple(line for line in (lines[:-1] if cut else lines) if line.strip())


def is_remark(line: str) -> bool:
    """True for an error of a tool, a date, a prompt, a line of a stack trace."""
    return re.search(_ERROR, line) is not None or re.search(_NOISE, line) is not None


def only_errors(head: Head, said: str, named: str) -> bool:
    """True when a tool printed nothing but errors, and its text (*said*) or the file's name (*named*) tells which."""
    lines = plain_lines(head)
    told = any(re.search(said, line) for line in lines) or re.search(named, head.name) is not None
    return told and all(is_remark(line) for line in lines) and any(re.search(_ERROR, line) for line in lines)
