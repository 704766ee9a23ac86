"""Records of ``__consumer_offsets`` → POSITIONS, and of group metadata CLIENTS, ASSIGNMENTS and EVENTS.

``kafka-dump-log.sh --offsets-decoder`` of all versions, and the console consumer with the formatters for offsets and
group metadata. Sample lines::

    | offset: 1 CreateTime: 1795263301773 … key: {"type":"1","data":{"group":"g","topic":"t","partition":0}} payload: …
    | offset: 1 … CreateTime: 1795262743796 … key: offset_commit::group=g,partition=t-0 payload: offset=981
    [g,t,0]::OffsetAndMetadata(offset=5, leaderEpoch=Optional.empty, metadata=, commitTimestamp=1600000000000, …)

A commit is a position without an end; of several within ten seconds the last is kept. Its moment is that of the
commit, else the record's. What becomes of group metadata stands in ``kafka_group_records``. Tombstones, batches,
markers of transactions and the records of KIP-848 groups are noise. Dumps of other topics are not read here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import console, kafka_group_records
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches, quoted, replaced
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS, POSITIONS, Table

FORMAT = "kafka-dump-offsets"
TABLES: tuple[Table, ...] = (POSITIONS, CLIENTS, ASSIGNMENTS, EVENTS)
READING = Reading.TABLE

BUCKET = 10
"""Seconds of which the last commit of a partition is kept."""

_TOPIC = r"^Dumping \S*__consumer_offsets-\d+/"
_TYPED = r'\{"(?:type|version)":"?\d+"?,"data":\{"group(?:Id)?":'
_GONE = r"(?!<DELETE>|NULL|null)"
_SAYS_COMMIT = r"\bkey: (?:offset_commit::group=(.*),partition=([\w.-]+)-|offset::(\S+):([\w.-]+):)(\d+) payload: "
_COMMIT = rf"{_SAYS_COMMIT}{_GONE}"
_SHOWS_COMMIT = r"^\[(.+),([\w.-]+),(\d+)\]::"
_SHOWN = rf"{_SHOWS_COMMIT}\[?Offset"
_JSON = rf'(?:\bkey: |^\{{"key":){_TYPED}'
_JSON_DATA = (
    r'(?:\bkey: \{"(?:type|version)":"?[012]"?,.* payload: |^\{"key":\{"(?:type|version)":"?[012]"?,.*"value":)\{'
)
_DECODED = rf"\bkey: {_TYPED}"
_CREATED = r"\bCreateTime: (\d{13})"
_PARTED = r"^(?:\| )?offset: (?!.* key: )"
_OFFSET = r"(?: payload: (?:offset=)?|[:(]offset=|OffsetMetadata\[)(\d+)\b"
_COMMITTED_AT = r"(?:commitTimestamp(?:Ms)?=|CommitTime )(\d+)"
_FRAME = (
    r"^(?:\| )?(?:offset|baseOffset|endTxnMarker): |^Dumping |^(?:Log s|S)tarting offset: |^ key: |^\S+::|^\[.+\]::"
)
_SAID = r"^Processed a total of \d+ messages|^Found \d+ invalid messages|^\{\"key\":"
_SCHEMA = (
    "key struct<type string, version string, data struct<`group` string, topic string, partition string>>, "
    "value struct<data struct<offset bigint, commitTimestamp bigint, generation bigint, currentStateTimestamp bigint, "
    f"members {kafka_group_records.MEMBERS}>>"
)


def recognise(head: Head) -> bool:
    """True for a dump of the topic, or for records of groups however they were printed."""
    printed = rf"{_SAYS_COMMIT}|{_SHOWS_COMMIT}|{_JSON}|{kafka_group_records.RECORD}"
    lines = console.plain_lines(head)
    others = [line for line in lines if line.startswith("Dumping ") and not re.search(_TOPIC, line)]
    return not others and any(re.search(f"{_TOPIC}|{printed}", line) for line in lines)


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """Positions from commits; clients, assignments and events from group metadata."""
    typed = f"CASE WHEN startswith(plain, '{{') THEN plain WHEN {matches('plain', _DECODED)} THEN {_document()} END"
    records = _timed(rows).selectExpr("*", f"{typed} AS document")
    parsed = f"from_json({kafka_group_records.closed('document')}, {quoted(_SCHEMA)}) AS record"
    known = records.selectExpr("* EXCEPT (document)", parsed)
    return {POSITIONS: _positions(known), **kafka_group_records.tables(known, rows)}


def line_class(text: str) -> str:
    """Commits and group metadata are data, all other lines of a dump noise."""
    line = console.plain(text)
    return f"""CASE
        WHEN {_is_record(line)} THEN 'data'
        WHEN {matches(line, f"{_FRAME}|{_SAID}")} OR ({console.remark_class(line)}) IS NOT NULL THEN 'noise' END"""


def _is_record(line: str) -> str:
    return matches(line, f"{_COMMIT}|{_SHOWN}|{_JSON_DATA}|{kafka_group_records.RECORD}")


def _timed(rows: DataFrame) -> DataFrame:
    """Records with ``created``, the moment that the dump prints; a log line in its midst parts it from its record."""
    created = f"timestamp_millis(try_cast({group('plain', _CREATED)} AS BIGINT))"
    whole = rows.where(f"{_is_record('plain')} AND NOT startswith(plain, ' key: ')")
    parted = rows.where(f"startswith(plain, ' key: ') OR {matches('plain', _PARTED)}").selectExpr(
        "*", f"{console.nearest_above(created)} AS created"
    )
    return whole.selectExpr("*", f"{created} AS created").unionByName(
        parted.where(f"startswith(plain, ' key: ') AND {_is_record('plain')}")
    )


def _document() -> str:
    """SQL: key and payload of a dumped record as one JSON object, as the console consumer prints it."""
    payload = replaced(replaced("plain", r"^.*?\bkey: "), r"(?<=\}) payload: ", ',"value":')
    return f"concat('{{\"key\":', {payload}, '}}')"


def _positions(records: DataFrame) -> DataFrame:
    at = f"coalesce(record.value.data.commitTimestamp, try_cast({group('plain', _COMMITTED_AT)} AS BIGINT))"
    commits = f"record.key.data.topic IS NOT NULL OR {matches('plain', f'{_COMMIT}|{_SHOWN}')}"
    found = records.where(commits).selectExpr(
        "source", "line", "text", f"coalesce(timestamp_millis({at}), created) AS at",
        f"{_told('`group`', (1, 3), 1)} AS `group`",
        f"{_told('topic', (2, 4), 2)} AS topic",
        f"{_told('partition', (5,), 3)} AS queue",
        f"coalesce(record.value.data.offset, try_cast({group('plain', _OFFSET)} AS BIGINT)) AS committed",
    ).where("committed >= 0")  # fmt: skip
    bucket = F.expr(f"coalesce(floor(unix_seconds(at) / {BUCKET}), -line) AS bucket")
    last = found.groupBy("source", "group", "topic", "queue", bucket).agg(
        F.expr("max(struct(line, text, at, committed)) AS last")
    )
    columns = {name: f"last.{name}" for name in ("line", "text", "at", "committed")}
    return POSITIONS.rows(last, columns | {"group": "`group`", "topic": "topic", "queue": "queue"})


def _told(name: str, said: tuple[int, ...], shown: int) -> str:
    """SQL: a part of a commit's key, from JSON, or from these groups of the text forms."""
    texts = [group("plain", _COMMIT, part) for part in said] + [group("plain", _SHOWN, shown)]
    return f"coalesce(record.key.data.{name}, {', '.join(map(filled, texts))})"
