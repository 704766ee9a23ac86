"""Command output as people keep it: loops with dates between tables, colour codes, messages of the tool.

Sample lines::

    Thu Oct 24 10:00:00 UTC 2024
    Every 2.0s: kafka-consumer-groups.sh --describe --group billing          host-1: Thu Oct 24 10:00:02 2024
    Error: Executing consumer group command failed due to org.apache.kafka.common.errors.TimeoutException: …

A moment without a zone, or with an ambiguous one such as ``CST``, is read as UTC.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from mqlab.loaders.base import Head
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
GLUED = rf"(?:{_DAY}.*\d:\d\d:\d\d.*|20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d.*|\[\w+@[^\]]*\][$#].*)$"
"""What Kafka 3.8 and 3.9 let stick to the last cell, since their tables end without a line break."""

_GROUP = r"--group[ =]['\"]?([^\s'\"]+)|[Gg]roup [`']([^`']+)[`']"
_TOOL_LOG = r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+\] "
_ERROR = (
    r"^\s*(?:Error(?::| while | connecting )|Warning: |Exception in thread |command terminated with exit code "
    r"|(?:[a-z]\w*\.)+\w*(?:Exception|Error)\b|Consumer group [`'].*(?:not exist|is rebalancing|no active members)"
    r"|Skip getting offsets|Topics? .* (?:does|do) not exist"
    r"|\S*: (?:line \d+: )?\S+: (?:command not found|No such file or directory|Permission denied))"
    rf"|{_TOOL_LOG}(?:WARN|ERROR|FATAL) "
)
_NOISE = (
    r"^\s*$|^Note: |^\s*at [\w.$]+[(/]|^\s*Caused by: |^\s*\.\.\. \d+ |^OpenJDK .* warning|^Java HotSpot|^SLF4J:"
    r"|^Picked up |^[-=#*_+~\s]+$|^Every [\d.,]+s: |^[^|{}]*\bkafka[-\w]*\.sh |^[$#>%+]+ \S|^\[?\S+@\S+[^$#]*[$#]( |$)"
    rf"|^\d{{10}}$|{_TOOL_LOG}(?:TRACE|DEBUG|INFO) |" + "|".join(f"^[\\s=*#>-]*{date}" for date, _ in _DATES)
)


def plain(text: Column) -> Column:
    """The line without carriage return, byte order mark and terminal codes."""
    return F.regexp_replace(text, _DRESS, "")


def moment(line: Column) -> Column:
    """The instant that a ``date`` line, a ``watch`` header or a comment such as ``# at …`` shows; else null."""
    written = F.coalesce(*[F.when(line.rlike(p), F.regexp_replace(line, f"^.*?{p}", form)) for p, form in _DATES])
    parts = F.split(written, " ")
    zone = F.get(parts, 3)
    offsets = F.create_map(*[F.lit(word) for pair in _OFFSETS.items() for word in pair])
    offset = F.coalesce(F.try_element_at(offsets, zone), F.when(zone.rlike(r"^[+-]"), zone), F.lit("Z"))
    clock = F.concat_ws(" ", F.get(parts, 0), F.get(parts, 1))
    half = F.get(parts, 2)
    day = F.try_to_timestamp(F.concat(clock, offset), F.lit("yyyy-[MMM][M]-d H:mm:ss[XXX][XX]"))
    halves = F.try_to_timestamp(F.concat(clock, half, offset), F.lit("yyyy-[MMM][M]-d h:mm:ssa[XXX][XX]"))
    epoch = F.when(line.rlike(r"^\d{10}$"), F.timestamp_seconds(line.try_cast("long")))
    return F.when(line.rlike(r"\d:\d\d:\d\d"), F.when(half != "", halves).otherwise(day)).otherwise(epoch)


def group_named(line: Column) -> Column:
    """The consumer group that a command line or a message names; else null."""
    return F.nullif(F.concat(*[F.regexp_extract(line, _GROUP, part) for part in (1, 2)]), F.lit(""))


def upward() -> WindowSpec:
    """All lines of the same source above a line, and the line."""
    return Window.partitionBy("source").orderBy("line").rowsBetween(Window.unboundedPreceding, Window.currentRow)


def dated(rows: DataFrame) -> DataFrame:
    """*rows* with what stands around each line.

    ``plain`` is the line without dress, ``at`` the moment shown nearest above, else the snapshot's, ``named`` the
    group named nearest above, else below.
    """
    lines = rows.withColumn("plain", plain(F.col("text")))
    in_order = Window.partitionBy("source").orderBy("line")
    above = in_order.rowsBetween(Window.unboundedPreceding, -1)
    downward = in_order.rowsBetween(Window.currentRow, Window.unboundedFollowing)
    shown, said = F.last(moment(F.col("plain")), True).over(above), group_named(F.col("plain"))
    return lines.withColumns(
        {
            "at": F.coalesce(shown, F.col("snapshot_at")),
            "named": F.coalesce(F.last(said, True).over(upward()), F.first(said, True).over(downward)),
        }
    )


def tool_errors(lines: DataFrame) -> DataFrame:
    """EVENTS of kind ``tool-error`` from the lines that ``dated`` gives; the group is the one that is named."""
    said = F.regexp_replace("plain", rf"{_TOOL_LOG}|^\s+|\s+$", "")
    return lines.where(F.col("plain").rlike(_ERROR)).select(
        "source", "line", "text", "at", F.lit("kafka").alias("system"), F.lit("tool-error").alias("kind"),
        F.coalesce(group_named(F.col("plain")), "named").alias("group"), said.alias("reason"),
    ).transform(EVENTS.conform)  # fmt: skip


def remark_class(line: Column) -> Column:
    """Class of a plain line that is no row of a table: ``data`` for the tool's errors, ``noise``, or null."""
    return F.when(line.rlike(_ERROR), F.lit("data")).when(line.rlike(_NOISE), F.lit("noise"))


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
