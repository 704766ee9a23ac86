r"""Access logs of nginx's stream module, which stands in front of brokers → EVENTS: connections that ended.

Sample lines::

    2026-11-21T12:02:02+00:00 10.41.8.21:54538 200 sent=4 received=358400 time=35.009 upstream=10.41.8.10:1883
    2026-11-22T06:42:41+00:00 client=10.81.6.10:56893 status=200 in=34 out=9 secs=20.001 to=10.81.0.4:1883
    10.41.8.21 [21/Nov/2026:12:02:02 +0000] TCP 200 4 358400 35.009
    10.41.8.21 [21/Nov/2026:12:02:02 +0000] TCP 200 4 358400 35.009 "10.41.8.10:1883" "358400" "4" "0.000"

A line is written when a session ends, so its moment is the end. ``received`` counts what came from the client and
``sent`` what went to it, which people also call ``in`` and ``out`` (``$bytes_received`` and ``$bytes_sent``,
ngx_stream_core_module); without names they stand in the order of the example in nginx's manual. Requests of HTTP have a
method in quotes and are no such lines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches, replaced
from mqlab.tables import EVENTS, Table

FORMAT = "nginx-stream-log"
TABLES: tuple[Table, ...] = (EVENTS,)
READING = Reading.TABLE

_ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:?\d\d)"
_ENGLISH = r"\[\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4}\]"
_MSEC = r"1\d{9}\.\d{3}"
_MOMENT = rf"(?:^| )\[?({_ISO}|{_MSEC})\]?(?= )|({_ENGLISH})"
_ADDRESS = (
    r"(?:^|[ =\"])(\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?|\[[0-9A-Fa-f:.]+\]:\d{1,5}"
    r"|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,8}(?::\d{1,5})?|unix:)(?=[ \"\]]|$)"
)
_PROTOCOL = r"(?: (?:TCP|UDP))?"
_STATUS = r"(?:status=)?(?:200|400|403|500|502|503)"
_PLACED = rf"{_PROTOCOL} {_STATUS} (\d+) (\d+) (\d+\.\d{{3}})(?= |$)"
_NAMED = rf" {_STATUS}(?: .*)? (?:(?:\w*(?:sent|received|time)|in|out|secs)=)"
_SENT = r"(?:^|[ \"])(?:(?:bytes_)?sent|out)[=:]\"?(\d+)"
_RECEIVED = r"(?:^|[ \"])(?:(?:bytes_)?received|in)[=:]\"?(\d+)"
_TIME = r"(?:^|[ \"])(?:(?:session_?)?time|secs)[=:]\"?(\d+\.\d{3})"
_REQUEST = r"\"[A-Z]+ \S+ HTTP/"
_LIKELY = 0.9


def recognise(head: Head) -> bool:
    """True when nearly all lines are sessions."""
    lines = console.plain_lines(head)[:200]
    return bool(lines) and sum(map(_is_session, lines)) >= _LIKELY * len(lines)


def _is_session(line: str) -> bool:
    told = re.search(_PLACED, line) or all(re.search(p, line) for p in (_NAMED, _SENT, _RECEIVED, _TIME))
    dated = re.search(_MOMENT, line) and re.search(_ADDRESS, line) and not re.search(_REQUEST, line)
    return bool(told and dated)


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One event of kind ``proxied-connection`` a session."""
    told = rows.where(_is_row("plain")).selectExpr(
        "source", "line", "text", "plain",
        f"coalesce({filled(group('plain', _SENT))}, {group('plain', _PLACED)}) AS sent",
        f"coalesce({filled(group('plain', _RECEIVED))}, {group('plain', _PLACED, 2)}) AS received",
        f"coalesce({filled(group('plain', _TIME))}, {group('plain', _PLACED, 3)}) AS seconds",
    )  # fmt: skip
    columns = {
        "at": _at(),
        "system": "'mqtt'",
        "kind": "'proxied-connection'",
        "peer": filled(group("plain", _ADDRESS)),
        "reason": "concat('received ', received, ' sent ', sent)",
        "value": "try_cast(seconds AS DOUBLE)",
    }
    return {EVENTS: EVENTS.rows(told, columns)}


def line_class(text: str) -> str:
    """Sessions are data."""
    line = console.plain(text)
    remark = console.remark_class(line)
    return f"CASE WHEN {_is_row(line)} THEN 'data' WHEN ({remark}) IS NOT NULL THEN 'noise' END"


def _is_row(line: str) -> str:
    named = " AND ".join(matches(line, p) for p in (_NAMED, _SENT, _RECEIVED, _TIME))
    told = f"({matches(line, _PLACED)} OR ({named}))"
    return f"({told} AND {matches(line, _MOMENT)} AND {matches(line, _ADDRESS)} AND NOT {matches(line, _REQUEST)})"


def _at() -> str:
    plain, english = group("plain", _MOMENT), group("plain", _MOMENT, 2)
    iso = replaced(plain, r"([+-]\d\d):?(\d\d)$", "$1:$2")
    seconds = f"timestamp_millis(try_cast(round(try_cast({filled(plain)} AS DOUBLE) * 1000) AS BIGINT))"
    return f"""coalesce(try_to_timestamp({filled(f"trim(BOTH '[]' FROM {english})")}, 'dd/MMM/yyyy:HH:mm:ss xx'),
        CASE WHEN {matches(plain, f"^{_MSEC}$")} THEN {seconds} ELSE try_cast({filled(iso)} AS TIMESTAMP) END)"""
