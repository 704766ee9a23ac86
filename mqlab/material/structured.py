"""Structured log lines: one JSON object a line, rebuilt to ``<time> <LEVEL> [<thread or ->] <logger> - <message>``.

ECS, logstash and logback encoders, log4j2 layouts, zap, logrus, pino, Loki and Kibana exports. A message that still
carries its own date is the original line and stays as it is. EMQX's names of clients and topics stay beside its
message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

TIMES = ("@timestamp", "timestamp", "time", "ts", "datetime", "asctime", "eventTime", "timeMillis")
LEVELS = ("level", "log.level", "severity", "levelname", "loglevel", "log_level", "lvl")
THREADS = ("thread_name", "process.thread.name", "threadName", "thread")
LOGGERS = ("logger_name", "log.logger", "logger", "loggerName", "name", "component", "caller")
MESSAGES = ("message", "msg", "log", "line")
DETAILS = ("clientid", "peername", "username", "topic", "reason", "action", "dropped", "paused_ms")
"""What EMQX writes beside the message, in the order of its text layout."""
_EMQX = ("clientid", "peername", "mfa")
"""One of these is in nearly every record of EMQX."""
_NESTED = {
    "log.level": ("log", "level"),
    "log.logger": ("log", "logger"),
    "process.thread.name": ("process", "thread", "name"),
}
_OUTER = ("_source", "log", "process")
_WORDS = {"WARNING": "WARN", "CRITICAL": "FATAL", "ERR": "ERROR", "INFORMATION": "INFO", "NOTICE": "INFO",
          "10": "TRACE", "20": "DEBUG", "30": "INFO", "40": "WARN", "50": "ERROR", "60": "FATAL"}  # fmt: skip
_UNITS = ((10**11, 10**6), (10**14, 10**3), (10**17, 1))
"""Epoch seconds, milliseconds and microseconds by their size, with the microseconds in one; then nanoseconds."""
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str)
_RECORD = frozenset({"offset", "partition", "queueOffset", "queueId", "msgId"})
_DATED = r"^\W{0,2}(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:|\d{10}(?:\.\d+)?: )"
_NUMBER = r"^(?:\d{10,19}(?:\.\d{1,9})?|\d\.\d{1,17}E\d{1,2})$"


def is_log_record(line: str) -> bool:
    """True for a JSON object that holds a message with a time or a level, and is no record of a ledger."""
    fields = parsed(line)
    if fields is None or _first(fields, MESSAGES) is None:
        return False
    leveled, timed = _first(fields, LEVELS) is not None, _first(fields, TIMES) is not None
    return leveled or (timed and not _RECORD & fields.keys())


def parsed(line: str) -> Mapping[str, Any] | None:
    """The fields of the JSON object in *line*, those of a search hit for a search hit; None for anything else."""
    try:
        fields = _DECODER.raw_decode(line)[0] if line.startswith("{") else None
    except (ValueError, RecursionError):
        return None
    source = fields.get("_source") if fields else None
    return source if isinstance(source, dict) else fields


def unwrapped(line: str) -> tuple[str, str | None]:
    """The line as ``rebuilt`` gives it, and the record's own time as ISO text; None without one."""
    fields = parsed(line)
    time = _first(fields, TIMES) if fields else None
    return rebuilt(line, fields), _moment(time) if time else None


def rebuilt(line: str, fields: Mapping[str, Any] | None = None) -> str:
    """The line as the application's own layout would have printed it; *line* itself where it is no log record."""
    fields = fields if fields is not None else parsed(line)
    message = _first(fields, MESSAGES) if fields else None
    if fields is None or message is None:
        return line
    if re.search(_DATED, message):
        return message
    if _first(fields, _EMQX) is not None:
        message = _detailed(fields, message)
    time, level = _first(fields, TIMES), _first(fields, LEVELS)
    words = [_moment(time)] if time else []
    if level is None:
        return " ".join([*words, message])
    thread, logger = _first(fields, THREADS) or "-", _first(fields, LOGGERS) or "-"
    word = _WORDS.get(level.upper(), level.upper())
    return " ".join([*words, word, f"[{thread}]", logger, "-", message])


def _detailed(fields: Mapping[str, Any], message: str) -> str:
    """The message and what EMQX says beside it, as its text layout has them."""
    told = [(name, _first(fields, (name,))) for name in DETAILS]
    return ", ".join([f"msg: {message}", *(f"{name}: {value}" for name, value in told if value is not None)])


def _first(fields: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((value for name in names if (value := _field(fields, name)) is not None), None)


def _field(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is None and name in _NESTED:
        for step in _NESTED[name]:
            fields = fields.get(step) if isinstance(fields, dict) else None  # type: ignore[assignment]
        value = fields
    opens = isinstance(value, str) and value.startswith("{")
    return value if isinstance(value, str) and value and not (opens and name in _OUTER) else None


def _moment(time: str) -> str:
    if not re.search(_NUMBER, time, re.ASCII):
        return time
    number = Decimal(time)
    unit = next((unit for below, unit in _UNITS if number < below), 0)
    micros = int(number * unit if unit else number / 1000)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    fraction = f".{moment.microsecond:06d}".rstrip("0").rstrip(".")
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"
