"""``kafka-dump-log.sh`` and DumpLogSegments on segments of topics, of all versions → LEDGER of what is stored.

Sample lines::

    Dumping /var/lib/kafka/data/orders-0/00000000000000000000.log
    Log starting offset: 0
    baseOffset: 0 lastOffset: 53 count: 54 baseSequence: 0 lastSequence: 53 producerId: 0 … CreateTime: 1795263292540 …
    | offset: 0 CreateTime: 1795263292148 keySize: 2 valueSize: 287 sequence: 0 headerKeys: [] key: 17 payload: …

A record is a row of role ``stored``, and each dumped file one of role ``dump``: its first offset, and when it was made.
The status of a record is ``idempotent`` or ``plain`` as its producer numbered it or not, ``control`` for a marker of a
transaction, ``invalid`` where its checksum is wrong. Where a dump shows batches only, each offset of a batch is a row;
the status is ``spanned`` where the batch holds fewer records than that, as compaction leaves it: which of them is not
told. Payloads are not kept. Dumps of ``__consumer_offsets`` are read elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import console, ledger_rows
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches
from mqlab.tables import LEDGER, Table

FORMAT = "kafka-dump-records"
TABLES: tuple[Table, ...] = (LEDGER,)
READING = Reading.TABLE

FRAME = (
    r"^(?:\| )?(?:offset|baseOffset): \d|^Dumping |^(?:Log s|S)tarting offset: "
    r"|^[\s=*#<>-]*(?:[A-Z][a-z]{2},? .*\d:\d\d:\d\d|\[?20\d\d[-/]\d\d[-/]\d\d[ T]\d)"
)
"""Lines that are kept: records, batches and what holds a moment. All others are of payloads, or say nothing."""

_DUMPING = (
    r"^Dumping (?:.*[/\\])?([\w.-]+)-(\d+)(?:\.[0-9a-f]{32}-(?:delete|future|stray))?[/\\](\d+)\.log(?:\.\w+)?\s*$"
)
_BEGINS = r"^Dumping "
_RECORD = r"^(?:\| )?offset: (\d+) (?:\w+: \S+ )*?(?:key|payload)[sS]ize: -?\d"
_BATCH = r"^baseOffset: (\d+) lastOffset: (\d+) (?:\w+: \S+ ){3}"
_NUMBERED = r"^(?:\| )?(?:baseO|o)ffset: "
_CUT = r"^(?:\| offset|baseOffset): "
_AT = r"\b(?:CreateTime|LogAppendTime): (\d+)"
_VALUE_SIZE = r" (?:value|payload)[sS]ize: (\d+)"
_KEY = r" key: (.*)$"
_INVALID = r" is[vV]alid: false\b"
_LOGGED = r"^\[(20\d\d-\d\d-\d\d \d\d:\d\d:\d\d)"
_NEAR = 3
"""Lines below the first of a dump in which the tool's own log, which is another stream, says when it started."""
_LARGEST = 1_000_000
"""Offsets of one batch that become rows; more is no batch of a broker, whose requests hold 100 MB at most."""
_ORDER = "OVER (PARTITION BY source ORDER BY line"
_INTERNAL = "startswith(coalesce(topic, ''), '__')"


def recognise(head: Head) -> bool:
    """True for records or batches of a segment, or for the beginning of a dump of one."""
    return any(re.search(f"{_DUMPING}|{_RECORD}|{_BATCH}", line) for line in console.plain_lines(head))


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """Records, records of batches where nothing else is shown, and dumps."""
    dumps = _dumps(rows)
    lines = rows.where(matches("text", _NUMBERED)).selectExpr("source", "line", f"{without_payload('text')} AS text")
    within = F.expr("source = origin AND line > first AND line < next")
    known = lines.join(F.broadcast(dumps), within, "left").where(f"NOT {_INTERNAL}")
    made = dumps.where(f"NOT {_INTERNAL}")
    return {LEDGER: _records(known).unionByName(_batches(known)).unionByName(_made(made))}


def line_class(text: str) -> str:
    """Records, batches and beginnings of dumps are data, lines of payloads and of the tool noise; others were cut."""
    return f"""CASE
        WHEN {matches(text, f"{_RECORD}|{_BATCH}|{_BEGINS}")} THEN 'data'
        WHEN {matches(text, _CUT)} THEN NULL
        ELSE 'noise' END"""


def without_payload(text: str) -> str:
    """SQL: the line *text* without what it prints of a record's value."""
    return f"substring_index({text}, ' payload: ', 1)"


def _dumps(rows: DataFrame) -> DataFrame:
    """One row a dumped file: its ``first`` line and the ``next`` one's, what it is of, when it was made.

    When it was made is the earlier of what the name or a line above says and of the tool's own log, whose zone nobody
    knows: too early hides a loss, too late would invent one.
    """
    others = rows.where(f"NOT {matches('text', _NUMBERED)}").select("source", "line", "text", "name", "snapshot_at")
    logged = f"try_to_timestamp(concat({group('plain', _LOGGED)}, 'Z'), 'yyyy-MM-dd HH:mm:ssX')"
    told = console.dated(others).selectExpr("*", f"{logged} AS logged").selectExpr(
        "*",
        f"coalesce(last(logged, true) {_ORDER} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), "
        f"first(logged, true) {_ORDER} RANGE BETWEEN CURRENT ROW AND {_NEAR} FOLLOWING)) AS started",
    )  # fmt: skip
    return told.where(matches("plain", _BEGINS)).selectExpr(
        "source AS origin", "line AS first", f"coalesce(lead(line) {_ORDER}), {2**62}) AS next",
        *[f"{filled(group('plain', _DUMPING, n))} AS {name}" for n, name in enumerate(("topic", "queue", "start"), 1)],
        "least(at, started) AS made", "text AS heading",
    )  # fmt: skip


def _records(lines: DataFrame) -> DataFrame:
    columns = _place() | {
        "offset": f"try_cast({group('text', _RECORD)} AS BIGINT)",
        "key": ledger_rows.kept_key(filled(f"""trim('"' FROM trim({group("text", _KEY)}))""")),
        "status": f"""CASE
            WHEN {matches("text", _INVALID)} THEN 'invalid'
            WHEN contains(text, ' endTxnMarker: ') OR contains(text, ' isControl: true') THEN 'control'
            WHEN text RLIKE ' sequence: [0-9]' THEN 'idempotent'
            WHEN text RLIKE ' (?:sequence: -1|magic: [01])\\\\b' THEN 'plain' END""",
        "bytes": f"try_cast({group('text', _VALUE_SIZE)} AS BIGINT)",
    }
    return LEDGER.rows(lines.where(matches("text", _RECORD)), columns)


def _batches(lines: DataFrame) -> DataFrame:
    """A row for each offset of the batches of dumps that show no record."""
    dumped = lines.selectExpr("*", "coalesce(first, 0) AS dump")
    shown = dumped.where(matches("text", r"^(?:\| )?offset: ")).select("source", "dump").distinct()
    base, last = (f"try_cast({group('text', _BATCH, n)} AS BIGINT)" for n in (1, 2))
    bare = dumped.where(matches("text", _BATCH)).join(F.broadcast(shown), ["source", "dump"], "left_anti")
    count = f"coalesce(try_cast({group('text', r' count: ([0-9]+)')} AS BIGINT), 0)"
    sized = bare.selectExpr("*", f"{base} AS base", f"{last} AS last", f"{count} AS count")
    whole = sized.where(f"last BETWEEN base AND base + {_LARGEST}").selectExpr(
        "*", "explode(sequence(base, last)) AS offset"
    )
    columns = _place() | {
        "offset": "offset",
        "status": f"""CASE
            WHEN {matches("text", _INVALID)} THEN 'invalid'
            WHEN contains(text, ' isControl: true') THEN 'control'
            WHEN count <> last - base + 1 THEN 'spanned'
            WHEN contains(text, ' producerId: -1 ') THEN 'plain'
            WHEN contains(text, ' producerId: ') THEN 'idempotent' END""",
    }
    return LEDGER.rows(whole, columns)


def _place() -> dict[str, str]:
    at = f"timestamp_millis(try_cast({group('text', _AT)} AS BIGINT))"
    return {"at": at, "role": "'stored'", "topic": "topic", "queue": "queue"}


def _made(dumps: DataFrame) -> DataFrame:
    told = {"source": "origin", "line": "first", "text": "heading", "at": "made", "offset": "try_cast(start AS BIGINT)"}
    return LEDGER.rows(dumps, told | {"role": "'dump'", "topic": "topic", "queue": "queue"})
