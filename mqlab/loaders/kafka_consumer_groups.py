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

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
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
_SAID = r"^Error.*consumer group|^(?:(?:Warning|Error): )?(?:The )?[Cc]onsumer group [`'\"]|ConsumerGroupCommand"


def recognise(head: Head) -> bool:
    """True for output of describe, also where it holds only the tool's messages."""
    lines = console.plain_lines(head)
    return any(re.search(_HEADER, line) for line in lines) or console.only_errors(head, _SAID, r"consumer-groups")


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """POSITIONS of every row of every table."""
    return {POSITIONS: _positions(rows.transform(_with_next).transform(_with_header))}


def line_class(text: Column) -> Column:
    """Rows and their second halves are data, headers and members without partitions noise."""
    line = console.plain(text)
    data = line.rlike(f"{_ROW}|{_REST_OF_ROW}")
    noise = line.rlike(f"{_HEADER}|{_REST_OF_HEADER}|{_IDLE}")
    return F.when(data, F.lit("data")).when(noise, F.lit("noise")).otherwise(console.remark_class(line))


def _with_next(lines: DataFrame) -> DataFrame:
    below = Window.partitionBy("source").orderBy("line")
    return lines.withColumn("next", F.lead("plain").over(below))


def _with_header(lines: DataFrame) -> DataFrame:
    """Add the names of the columns in force."""
    wrapped = F.when(F.col("next").rlike(_REST_OF_HEADER), F.concat_ws(" ", "plain", "next")).otherwise(F.col("plain"))
    modern = F.when(F.col("plain").rlike(_MODERN), F.split(F.trim(wrapped), r"\s+"))
    header = F.when(F.col("plain").rlike(_OLD), F.split(F.lit(_OLD_NAMES), " ")).otherwise(modern)
    return lines.withColumn("header", F.last(header, True).over(console.upward()))


def _positions(lines: DataFrame) -> DataFrame:
    tidy = F.regexp_replace(F.regexp_replace("plain", console.GLUED, ""), r",(?=\s|$)", "")
    short = F.size(F.split(F.trim(tidy), r"\s+")) < F.size("header")
    both = F.when(F.col("next").rlike(_REST_OF_ROW), F.concat_ws(" ", tidy, "next")).otherwise(tidy)
    whole = F.when(short, F.regexp_replace(both, _HOST, " $1")).otherwise(tidy)
    tokens = F.split(F.trim(whole), r"\s+")
    rows = lines.where(F.col("plain").rlike(_ROW) & F.col("header").isNotNull())
    cells = rows.select("source", "line", "text", "at", "named", "header", tokens.alias("tokens"))
    owner = _cell("OWNER")
    old_client = F.when(owner.contains("/"), owner)
    return cells.select(
        "source", "line", "text", "at",
        F.coalesce(_cell("GROUP"), F.col("named")).alias("group"),
        _cell("TOPIC").alias("topic"),
        _cell("PARTITION").alias("queue"),
        _cell("CURRENT-OFFSET").try_cast("long").alias("committed"),
        _cell("LOG-END-OFFSET").try_cast("long").alias("end"),
        F.coalesce(_client(), F.regexp_extract(old_client, r"^(.+?)_?/", 1)).alias("client_id"),
        F.coalesce(_cell("CONSUMER-ID"), F.when(~owner.contains("/"), owner)).alias("member_id"),
        F.substring_index(F.coalesce(_cell("HOST"), old_client), "/", -1).alias("peer"),
    ).transform(POSITIONS.conform)  # fmt: skip


def _place(name: str) -> Column:
    return (F.array_position("header", name) - 1).cast("int")


def _cell(name: str) -> Column:
    """Cell of the named column; null where the column or its value is missing."""
    cell = F.get(F.col("tokens"), _place(name))
    return F.when(~cell.isin("-", "none", "unknown"), cell)


def _client(*, last: str = "CLIENT-ID") -> Column:
    """The rest of the line: a client id may hold spaces."""
    rest = F.array_join(F.slice("tokens", F.greatest(_place(last), F.lit(0)) + 1, 99), " ")
    return F.when((_place(last) > 0) & ~rest.isin("", "-"), rest)
