r"""Access logs of HTTP servers and proxies → METRICS: requests, their times and the slowest, by status and ten seconds.

Sample lines::

    10.21.0.14 - - [21/Nov/2026:11:40:55 +0000] "POST /ner HTTP/1.1" 200 15 rt=0.004
    10.0.0.1 - bob [21/Nov/2026:11:40:55 +0000] "GET / HTTP/1.1" 503 0 "-" "curl/8.5" 2.104
    {"time":"2026-11-21T11:40:55+00:00","request":"POST /ner HTTP/1.1","status":200,"request_time":0.004}

``http.requests`` counts, ``http.seconds`` adds up and ``http.slowest_seconds`` is the longest of what came in within
ten seconds, at the begin of them; label ``status`` is 2xx, 5xx and so on. The moment of a line is that of the request's
end in nginx, of its begin in Apache. A bare number is a time only with a fraction (nginx); Apache's ``%D`` must be
named, such as ``D=4000``, ``duration_us=4000``, ``took=4ms``. Of addresses, URLs and clients nothing is taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches, replaced
from mqlab.tables import METRICS, Table

FORMAT = "access-log"
TABLES: tuple[Table, ...] = (METRICS,)
READING = Reading.TABLE

BUCKET = 10
"""Seconds that one sample spans."""

_STAMP = r"\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4}"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_ROW = rf'^[^\[\]"{{]*\[({_STAMP})\] {_QUOTED} (\d{{3}}) (?:\d+|-)(?= |$)(.*)$'
_ASIDE = rf"(?<= ){_QUOTED}"
"""Referrer and agent may hold anything."""
_BARE = r"(?:^| )(\d{1,6}\.\d{3})(?= |$)"
_TIME = r"(?:(?:r|req|request|resp|response)_?t(?:ime)?|duration|took|elapsed|latency|time)"
_NAMED = rf'(?i)(?:^|[\s"])({_TIME}|D)(?:_?(s|ms|us|micros))?[=:]"?(\d+(?:\.\d+)?)(s|ms|us|µs)?\b'
_SECONDS = r"(?i)^(?:rt|request_time)$"
"""What nginx's own variable is called, which counts seconds."""

_JSON_STATUS = r'"(?:status|status_code|response_code)"\s*:\s*"?(\d{3})\b'
_JSON_TIME = r'"(?:time|time_local|time_iso8601|timestamp|@timestamp|start_time|ts|msec)"\s*:\s*"?([^",}]+)'
_JSON_REQUEST = r'"(?:request|request_method|method|uri|request_uri|path)"\s*:'
_JSON_SECONDS = r'"request_time"\s*:\s*"?(\d+(?:\.\d+)?)"?\s*[,}]'
_JSON_MILLIS = r'"(?:duration|latency|response_time|request_time)_ms"\s*:\s*"?(\d+(?:\.\d+)?)"?\s*[,}]'
_JSON = rf"^\s*\{{(?=.*{_JSON_STATUS})(?=.*{_JSON_TIME})(?=.*{_JSON_REQUEST}).*\}}\s*$"

_LINE = "rtrim('\\r', text)"
_LIKELY = 0.9
"""Share of lines that are requests; the rest may be cut, or remarks of the server."""


def recognise(head: Head) -> bool:
    """True when nearly all lines are requests."""
    lines = console.plain_lines(head)[:200]
    return bool(lines) and sum(bool(re.search(f"{_ROW}|{_JSON}", line)) for line in lines) >= _LIKELY * len(lines)


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """Three samples for each status class and ten seconds; nothing is asked of what stands around a line."""
    requests = rows.where(_is_row("text")).selectExpr("source", "line", f"{_LINE} AS said").selectExpr(
        "source", "line", f"{_at()} AS at", f"concat(left({_status()}, 1), 'xx') AS status", f"{_seconds()} AS seconds"
    )  # fmt: skip
    counted = (
        requests.where("at IS NOT NULL")
        .groupBy("source", "status", F.expr(f"floor(unix_seconds(at) / {BUCKET}) * {BUCKET} AS begin"))
        .agg(
            F.expr("min(line) AS line"),
            F.expr("CAST(count(1) AS DOUBLE) AS requests"),
            F.expr("round(sum(seconds), 6) AS seconds"),
            F.expr("max(seconds) AS slowest"),
            F.expr("-max(struct(seconds, -line AS place)).place AS slowest_line"),
        )
    )
    samples = ", ".join(
        f"named_struct('name', 'http.{name}', 'value', {value}, 'line', {line})"
        for name, value, line in (
            ("requests", "requests", "line"),
            ("seconds", "seconds", "line"),
            ("slowest_seconds", "slowest", "slowest_line"),
        )
    )
    told = counted.selectExpr("source", "status", "begin", f"inline(array({samples}))")
    columns = {
        "at": "timestamp_seconds(begin)", "name": "name", "labels": "map('status', status)", "value": "value",
        "text": "NULL",
    }  # fmt: skip
    return {METRICS: METRICS.rows(told.where("value IS NOT NULL"), columns)}


def line_class(text: str) -> str:
    """Requests are data, what a tool says besides is noise."""
    remark = console.remark_class(console.plain(text))
    return f"CASE WHEN {_is_row(text)} THEN 'data' WHEN ({remark}) IS NOT NULL THEN 'noise' END"


def _is_row(text: str) -> str:
    return f"(CASE WHEN startswith(ltrim({text}), '{{') THEN {matches(text, _JSON)} ELSE {matches(text, _ROW)} END)"


def _is_json() -> str:
    return "startswith(ltrim(said), '{')"


def _at() -> str:
    told = group("said", _JSON_TIME)
    number = f"timestamp_millis(try_cast(round(try_cast({told} AS DOUBLE) * 1000) AS BIGINT))"
    iso = f"coalesce({number}, try_cast({told} AS TIMESTAMP), {_english(told)})"
    return f"CASE WHEN {_is_json()} THEN {iso} ELSE {_english(group('said', _ROW))} END"


def _english(moment: str) -> str:
    return f"try_to_timestamp({filled(moment)}, 'dd/MMM/yyyy:HH:mm:ss xx')"


def _status() -> str:
    return f"CASE WHEN {_is_json()} THEN {group('said', _JSON_STATUS)} ELSE {group('said', _ROW, 2)} END"


def _seconds() -> str:
    """SQL: how long the request took, in seconds; null where the line does not say."""
    rest = replaced(group("said", _ROW, 3), _ASIDE)
    name, number = group(rest, _NAMED), f"try_cast({filled(group(rest, _NAMED, 3))} AS DOUBLE)"
    unit = f"lower(concat({group(rest, _NAMED, 2)}, {group(rest, _NAMED, 4)}))"
    factor = f"""CASE
        WHEN {unit} IN ('us', 'µs', 'micros') OR {name} = 'D' THEN 1e-6
        WHEN {unit} = 'ms' THEN 1e-3
        WHEN {unit} = 's' OR {matches(name, _SECONDS)} THEN 1 END"""
    bare = f"try_cast({filled(group(rest, _BARE))} AS DOUBLE)"
    seconds, millis = (f"try_cast({filled(group('said', p))} AS DOUBLE)" for p in (_JSON_SECONDS, _JSON_MILLIS))
    written = f"coalesce({number} * {factor}, {bare})"
    return f"CASE WHEN {_is_json()} THEN coalesce({seconds}, {millis} / 1000) ELSE {written} END"
