"""What each line is: the part of the scan that runs on every line, so the part whose cost counts.

Cutting a piece out of a line costs about as much as a small regex, and CASE evaluates what it compares anew for each
of its branches. Hence the stages: each piece is cut once, into a column of its own, and out of bytes, which unlike
characters need not be counted. The brokers' own layout is read by position::

    [2026-11-21 12:18:43,427] INFO [GroupCoordinator 1]: Preparing to rebalance …
     minute                 mark   opening               message

Other layouts take the general, slower expressions of ``layouts``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pyspark.sql import DataFrame

from mqlab.loaders import kafka_dump_records, layouts, noted_lines, own_lines
from mqlab.loaders.signatures import FIRST, SETTING, kept
from mqlab.scanning import shapes
from mqlab.sources import Reading
from mqlab.sql import quoted

LONGEST = 16_384
"""Characters kept of one line; longer ones end in an ellipsis."""
TAGS = ("count", "event", "setting", "row")
"""A tag's number is its place here."""
COUNT, EVENT, SETTINGS, ROW = range(4)

_DUMP = f"split_part(file, '.', 2) = '{kafka_dump_records.FORMAT}'"
_NOTE = f"tag = {ROW} AND (raw IS NOT NULL OR {noted_lines.is_file('file')})"
"""SQL: true for lines in words that are rows of a ledger."""
_COMPONENT = 160
"""Bytes in which the end of a ``[component]`` is looked for."""
_BY_FREQUENCY = ("INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL")
_MARKS = {f"] {name:<5}": layouts.LEVELS.index(name) + 1 for name in _BY_FREQUENCY}
_SHORT = [number for number, name in enumerate(layouts.LEVELS, 1) if len(name) == 4]
_WARN = layouts.LEVELS.index("WARN") + 1


def tagged(located: DataFrame, ledgers: Mapping[str, str] = MappingProxyType({})) -> DataFrame:
    """One row a line, with what it is grouped by: itself where it is kept, its minute, level and shape elsewhere.

    *located* has value, inner (the value without its envelope), clock, size, seq, file and block; tag and level of the
    result are numbers. *ledgers* are the layouts of logs that hold lines of ledgers, by link.
    """
    log = f"startswith(file, '{Reading.LOG.value}')"
    staged = (
        located.selectExpr("*", f"CASE WHEN {log} THEN CAST(inner AS BINARY) END AS raw")
        .selectExpr("*", f"CASE WHEN raw IS NOT NULL AND startswith(inner, '[') THEN {_bytes(25, 7)} END AS mark")
        .selectExpr("*", f"CASE {_cases('mark', _MARKS)} END AS severity")
        .selectExpr("*", f"CASE WHEN severity IS NOT NULL THEN {_opening()} END AS opening")
        .selectExpr("*", "CASE WHEN startswith(opening, '[') THEN locate(']', opening) END AS closing")
        .selectExpr("*", f"{_message()} AS message", f"{_level()} AS level")
        .selectExpr("*", "substring(message, 1, 4) AS word", f"{_severe()} AS severe")
        .selectExpr("*", f"{_tag(ledgers)} AS tag")
    )
    counted = f"tag = {COUNT} AND raw IS NOT NULL"
    return staged.selectExpr(
        "size",
        "seq",
        "file",
        "block",
        "tag",
        f"CASE WHEN severity IS NOT NULL THEN {_bytes(2, 16)} WHEN raw IS NOT NULL THEN {layouts.minute('inner')} END "
        "AS minute",
        f"CASE WHEN tag = {COUNT} THEN level END AS level",
        f"CASE WHEN {counted} THEN {_rough()} END AS shape",
        f"CASE WHEN tag <> {COUNT} THEN seq END AS row",
        f"CASE WHEN tag <> {COUNT} THEN {_cut('value', bool(ledgers))} END AS text",
        f"CASE WHEN tag <> {COUNT} AND inner <> value THEN {_cut('inner', bool(ledgers))} END AS inner",
        f"CASE WHEN tag IN ({EVENT}, {SETTINGS}) OR {_NOTE} THEN clock END AS at",
    )


def _bytes(start: int, length: int) -> str:
    return f"CAST(substring(raw, {start}, {length}) AS STRING)"


def _cases(column: str, numbers: dict[str, int]) -> str:
    return " ".join(f"WHEN {column} = {quoted(name)} THEN {number}" for name, number in numbers.items())


def _opening() -> str:
    short = ", ".join(map(str, _SHORT))
    return f"CASE WHEN severity IN ({short}) THEN {_bytes(32, _COMPONENT)} ELSE {_bytes(33, _COMPONENT)} END"


def _message() -> str:
    """SQL: the message's beginning; behind a component it may begin with a blank.

    It is ``[`` where the component never ends, or is a partition, whose name may be what begins the message.
    """
    behind = f"CASE WHEN startswith(opening, '[Partition ') THEN '[' ELSE substring(opening, closing + 2, {FIRST}) END"
    return f"CASE WHEN closing > 0 THEN {behind} ELSE substring(opening, 1, {FIRST}) END"


def _level() -> str:
    return f"CASE WHEN severity IS NOT NULL THEN severity WHEN raw IS NOT NULL THEN {layouts.level_number('inner')} END"


def _severe() -> str:
    """SQL: WARN or worse, or no level at all, as in the lines of an exception; but no frame of a stack."""
    return f"level >= {_WARN} OR (level IS NULL AND NOT startswith(inner, '\\tat '))"


def _tag(ledgers: Mapping[str, str]) -> str:
    noted = noted_lines.is_row("file", noted_lines.line("file", "value", "inner"), ledgers)
    return (
        f"CASE WHEN {_is_row()} THEN {ROW} "
        f"WHEN raw IS NOT NULL AND CASE WHEN {own_lines.is_own('file', 'inner')} "
        f"THEN {own_lines.kept('inner')} ELSE {kept('inner', 'severe', 'message', 'word')} END THEN {EVENT} "
        f"WHEN raw IS NOT NULL AND severity IS NULL AND inner RLIKE {quoted(SETTING)} THEN {SETTINGS} "
        f"WHEN raw IS NOT NULL AND {noted} THEN {ROW} ELSE {COUNT} END"
    )


def _is_row() -> str:
    """SQL: true for a line of a table, but not for lines that payloads add to a dump of records."""
    table = f"startswith(file, '{Reading.TABLE.value}') AND trim(inner) <> ''"
    return f"{table} AND (NOT {_DUMP} OR inner RLIKE {quoted(kafka_dump_records.FRAME)})"


def _rough() -> str:
    length = shapes.LENGTH
    start = (
        f"CASE WHEN severity IS NOT NULL THEN 27 WHEN {layouts.is_plain('inner')} THEN 20 "
        f"WHEN {layouts.is_seconds('inner')} THEN 13 ELSE 1 END"
    )
    return shapes.rough(f"substring(raw, {start}, {length})")


def _cut(text: str, noted: bool) -> str:
    payload = f"WHEN {_NOTE} THEN {noted_lines.without_payload(f'substring({text}, 1, {LONGEST})')} "
    return (
        f"CASE WHEN tag = {ROW} AND {_DUMP} THEN {kafka_dump_records.without_payload(text)} {payload if noted else ''}"
        f"WHEN length({text}) > {LONGEST} THEN concat(substring({text}, 1, {LONGEST}), '…') ELSE {text} END"
    )
