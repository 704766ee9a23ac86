"""``kafka-consumer-groups.sh --describe`` (0.9 … 4.x) and ConsumerOffsetChecker → POSITIONS.

Sample lines::

    GROUP    TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID                                 HOST        CLIENT-ID
    billing  orders  0          709             718             9    billing-76138202-0b91-44c9-96c4-d85811c453f7 /10.60.1.13 billing

Columns are found by the header's names. LOG-END-OFFSET is the high watermark; LAG is not used. 0.10.2 to 1.0 glue a
long CONSUMER-ID to the HOST; narrow terminals wrap a row into two lines; 3.8 and 3.9 end without a line break.
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import group, matches, replaced
from mqlab.tables import POSITIONS, Table

FORMAT = "kafka-consumer-groups"
TABLES: tuple[Table, ...] = (POSITIONS,)
READING = Reading.TABLE

_MODERN = r"^\s*(?:GROUP\s+)?TOPIC\s+PARTITION\s+(?:LEADER-EPOCH\s+)?CURRENT-OFFSET\s+LOG-END-OFFSET\b"
_OLD = r"^\s*(?:Group\s+Topic\s+Pid\s+Offset\s+logSize\s+Lag\b|GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET)"
_HEADER = rf"{_MODERN}|{_OLD}"
_REST_OF_HEADER = r"^\s*(?:(?:LAG|CONSUMER-ID|HOST|CLIENT-ID)(?:\s+|$))+$"
_OLD_NAMES = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG OWNER"
_ROW = (
    r"^\s*(?:\S+\s+)?\S+\s+\d+,?\s+(?:(?:\d+|-)\s+)?(?:\d+|-|unknown|none),?\s+(?:\d+|-|unknown|none),?"
    r"\s+(?:-?\d+|-|unknown|none),?(?:\s|$)"
)
_REST_OF_ROW = r"^\s*(?:\S+?\s*/(?:\d+\.|[0-9a-f]*:)\S*|-\s+-)(?:\s+\S+)?\s*$"
_IDLE = r"^\s*-\s+-\s+-\s+-\s+|^BROKER INFO|^\d+ -> \S+:\d+$"
_HOST = r"(?<=[^\s/])(/(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]*(?::[0-9a-f]*){2,}))"
_COMMA = r",(?=\s|$)"
_SAID = r"^Error.*consumer group|^(?:(?:Warning|Error): )?(?:The )?[Cc]onsumer group [`'\"]|ConsumerGroupCommand"


def recognise(head: Head) -> bool:
    """True for output of describe, also where it holds only the tool's messages."""
    lines = console.plain_lines(head)
    return any(re.search(_HEADER, line) for line in lines) or console.only_errors(head, _SAID, r"consumer-groups")


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """POSITIONS of every row of every table."""
    return {POSITIONS: _positions(rows.transform(_with_next).transform(_with_header))}


def line_class(text: str) -> str:
    """Rows and their second halves are data, headers and members without partitions noise."""
    line = console.plain(text)
    return f"""CASE
        WHEN {matches(line, f"{_ROW}|{_REST_OF_ROW}")} THEN 'data'
        WHEN {matches(line, f"{_HEADER}|{_REST_OF_HEADER}|{_IDLE}")} THEN 'noise'
        ELSE {console.remark_class(line)} END"""


def _with_next(lines: DataFrame) -> DataFrame:
    return lines.selectExpr("*", f"lead(plain) OVER ({console.IN_ORDER}) AS next")


def _with_header(lines: DataFrame) -> DataFrame:
    """Add the names of the columns in force."""
    wrapped = f"CASE WHEN {matches('next', _REST_OF_HEADER)} THEN concat_ws(' ', plain, next) ELSE plain END"
    header = f"""CASE
        WHEN {matches("plain", _OLD)} THEN split('{_OLD_NAMES}', ' ')
        WHEN {matches("plain", _MODERN)} THEN {_words(wrapped)} END"""
    return lines.selectExpr("*", f"{console.nearest_above(header)} AS header")


def _positions(lines: DataFrame) -> DataFrame:
    rows = lines.where(f"{matches('plain', _ROW)} AND header IS NOT NULL")
    tidy = rows.selectExpr("*", f"{replaced(replaced('plain', console.GLUED), _COMMA)} AS tidy")
    both = f"CASE WHEN {matches('next', _REST_OF_ROW)} THEN concat_ws(' ', tidy, next) ELSE tidy END"
    short = f"size({_words('tidy')}) < size(header)"
    whole = f"CASE WHEN {short} THEN {replaced(both, _HOST, ' $1')} ELSE tidy END"
    cells = tidy.selectExpr("*", f"{_words(whole)} AS tokens").selectExpr("*", f"{_cell('OWNER')} AS owner")
    old_client = "CASE WHEN contains(owner, '/') THEN owner END"
    old_member = "CASE WHEN NOT contains(owner, '/') THEN owner END"
    columns = {
        "at": "at",
        "group": f"coalesce({_cell('GROUP')}, named)",
        "topic": _cell("TOPIC"),
        "queue": _cell("PARTITION"),
        "committed": f"try_cast({_cell('CURRENT-OFFSET')} AS BIGINT)",
        "end": f"try_cast({_cell('LOG-END-OFFSET')} AS BIGINT)",
        "client_id": f"coalesce({_CLIENT}, {group(old_client, '^(.+?)_?/')})",
        "member_id": f"coalesce({_cell('CONSUMER-ID')}, {old_member})",
        "peer": f"substring_index(coalesce({_cell('HOST')}, {old_client}), '/', -1)",
    }
    return POSITIONS.rows(cells, columns)


def _words(text: str) -> str:
    return f"split(trim({text}), '\\\\s+')"


def _place(name: str) -> str:
    return f"CAST(array_position(header, '{name}') - 1 AS INT)"


def _cell(name: str) -> str:
    """Cell of the named column; null where the column or its value is missing."""
    cell = f"get(tokens, {_place(name)})"
    return f"CASE WHEN {cell} NOT IN ('-', 'none', 'unknown') THEN {cell} END"


_REST = f"array_join(slice(tokens, greatest({_place('CLIENT-ID')}, 0) + 1, 99), ' ')"
_CLIENT = f"CASE WHEN {_place('CLIENT-ID')} > 0 AND {_REST} NOT IN ('', '-') THEN {_REST} END"
"""The rest of the line: a client id may hold spaces."""
