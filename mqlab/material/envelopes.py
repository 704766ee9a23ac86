"""Envelopes: what a collector wrapped around each line.

ECS, logstash and logback encoders, log4j2 layouts, zap, logrus, pino, Loki and Kibana exports. A message that still
carries its own date is the original line and stays as it is. EMQX's names of clients and topics stay beside its
message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import reduce
from typing import Any

from mqlab.formats.values import instant
from mqlab.sources import Envelope

TIMES = ("@timestamp", "timestamp", "time", "ts", "datetime", "asctime", "eventTime", "timeMillis", "@t")
LEVELS = ("level", "log.level", "severity", "levelname", "loglevel", "log_level", "lvl", "@l")
THREADS = ("thread_name", "process.thread.name", "threadName", "thread")
LOGGERS = ("logger_name", "log.logger", "logger", "loggerName", "name", "component", "caller")
MESSAGES = ("message", "msg", "log", "line", "@m", "@mt")
DETAILS = ("clientid", "peername", "username", "topic", "reason", "action", "dropped", "paused_ms")
"""What EMQX writes beside the message, in the order of its text layout."""
_EMQX = ("clientid", "peername", "mfa")
"""One of these is in nearly every record of EMQX."""
_FAILURES = ("error", "err", "exception", "stack_trace", "stack", "exc_info", "throwable")
_BESIDE = ("groupId", "group", "memberId", "member_id", *_FAILURES)
"""What clients write beside the message: who it is about, and why something failed."""
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


def line_of_object(line: str) -> tuple[str, str | None]:
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
    message += "".join(
        f" {name}={value}" for name in _BESIDE if (value := _beside(fields, name)) and value not in message
    )
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


def _beside(fields: Mapping[str, Any], name: str) -> str | None:
    """What a field says, in one line: of an error that is an object its kind and message, of a trace its causes."""
    value = fields.get(name)
    if name in _FAILURES and isinstance(value, dict):
        return (
            ": ".join(str(value[key]) for key in ("type", "name", "message", "stack_trace") if value.get(key)) or None
        )
    told = _field(fields, name)
    first, *below = told.split("\n") if told else ("",)
    return " ".join([first, *(line.strip() for line in below if line.startswith("Caused by"))]) or None


def _moment(time: str) -> str:
    if not re.search(_NUMBER, time, re.ASCII):
        return time
    number = Decimal(time)
    unit = next((unit for below, unit in _UNITS if number < below), 0)
    micros = int(number * unit if unit else number / 1000)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    fraction = f".{moment.microsecond:06d}".rstrip("0").rstrip(".")
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"


_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_ZONE = r"(?:Z|[+-]\d\d:?\d\d)"
_INSTANT = rf"\d{{4}}-\d\d-\d\dT{_CLOCK}{_ZONE}"
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)"
_OWN_DATE = rf"(?:\W{{0,2}}\d{{4}}[-/]\d\d[-/]\d\d[T ]{_CLOCK}|\d{{10}}: |%\d\|\d{{10}})"
_CONTINUED = r"(?:\s|at |Caused by: |\.\.\. \d|(?![^\n]))"
_COLOUR = r"(?:\x1b\[[0-9;]{0,9}m)?"

_CRI = rf"^{_INSTANT} (?:stdout|stderr) [PF](?::\w{{1,9}})?(?: |(?![^\n]))"
_POD = r"^\[(?:pod|deployment|statefulset|daemonset|replicaset|job|service)/[^\]\s]{1,500}\] ?"
_NANOS = rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{9}}{_ZONE}"
_STAMP = rf"^{_NANOS} (?={_OWN_DATE}|{_CONTINUED})"
"""Of ``--timestamps``; a line that has no date of its own keeps it."""
_SERVICE = rf"^{_COLOUR}([A-Za-z0-9][\w.@\-]{{0,99}}) {{1,99}}\|{_COLOUR}(?: {_COLOUR}|(?![^\n]))"
_DAY = rf"(?:[A-Za-z\u00c0-\u017f\u0400-\u04ff]{{3,5}}\.?| ?\d{{1,2}}[月월]) [ \d]\d {_CLOCK}"
"""The month in the language of the machine: ``gen``, ``févr.``, ``5月``."""
_UNDATED = r"(?:kernel|systemd|supervisord)(?:\[\d{1,9}\])?:"
"""Programs whose own lines have no date."""
_MOSQUITTO = rf"mosquitto(?:\[\d{{1,9}}\])?: (?!{_OWN_DATE})"
"""It writes no date of its own into syslog; its name stays, as what parts the moment from the message."""
_END = r"(?: |(?![^\n]))"
_PROGRAM = r"[^\s:\[\]]{1,99}(?:\[\d{1,9}\])?:"
_CLASSIC = rf"^(?:<\d{{1,3}}>)?({_DAY}) [^\s:]{{1,255}} "
_DATED_ENVELOPE = (
    rf"^(?:<\d{{1,3}}>1 )?({_INSTANT}) (?!{_LEVEL} )[\w.\-]{{1,255}} "
    r"(?:[\w./@\-]{1,99}\[\d{1,9}\]:|(?:kernel|systemd):|\S{1,48} \S{1,128} \S{1,32} (?:-|\[[^\]\n]{0,900}\]))"
    r"(?: |(?![^\n]))"
)
_REMARK = r"^-- .* --$"

_PEELS: dict[Envelope, tuple[tuple[str, str], ...]] = {
    Envelope.CRI: ((_CRI, ""),),
    Envelope.KUBECTL: ((_POD, ""), (_STAMP, "")),
    Envelope.COMPOSE: ((_SERVICE, ""),),
    Envelope.SYSLOG: (
        (rf"{_CLASSIC}{_MOSQUITTO}", "$1 mosquitto: "),
        (rf"^(?:<\d{{1,3}}>1 )?({_INSTANT}) [\w.\-]{{1,255}} {_MOSQUITTO}", "$1 mosquitto: "),
        (rf"{_CLASSIC}(?!{_UNDATED}){_PROGRAM}{_END}", ""), (rf"{_CLASSIC}{_UNDATED}{_END}", "$1 "),
        (rf"{_DATED_ENVELOPE}(?={_OWN_DATE})", ""), (_DATED_ENVELOPE, "$1 "),
    ),
}  # fmt: skip
"""Patterns to replace, one after the other; of the last one the moment stays where the line has none of its own."""

_CLOCKS = {
    Envelope.CRI: re.compile(f"^({_INSTANT}) ", re.ASCII),
    Envelope.KUBECTL: re.compile(rf"^(?:\[[^\]\s]+\] ?)?({_NANOS}) ", re.ASCII),
    Envelope.SYSLOG: re.compile(_DATED_ENVELOPE, re.ASCII),
}

_MAJORITY = 0.8


def detect(lines: Sequence[str]) -> Envelope:
    """The envelope that at least four fifths of the lines that are not blank wear; NONE without such a majority."""
    written = [line.rstrip("\r") for line in lines if line.strip() and not re.search(_REMARK, line)]
    tests: tuple[tuple[Envelope, Callable[[list[str]], bool]], ...] = (
        (Envelope.DOCKER, lambda all_lines: _mostly(all_lines, _is_docker)),
        (Envelope.CRI, lambda all_lines: _mostly(all_lines, _wears(_CRI))),
        (Envelope.KUBECTL, _from_kubectl),
        (Envelope.COMPOSE, _from_compose),
        (
            Envelope.SYSLOG,
            lambda all_lines: _mostly(all_lines, _wears(f"{_CLASSIC}{_PROGRAM}{_END}|{_DATED_ENVELOPE}")),
        ),
        (Envelope.STRUCTURED, lambda all_lines: _mostly(all_lines, is_log_record)),
    )
    return next((envelope for envelope, found in tests if written and found(written)), Envelope.NONE)


def peel(line: str, envelope: Envelope) -> str:
    """The line as the application wrote it; a line that does not wear the envelope stays as it is."""
    if envelope is Envelope.DOCKER:
        return _docker_log(line) if _is_docker(line) else line
    inner = reduce(lambda text, step: _taken_off(text, *step), _PEELS.get(envelope, ()), line)
    is_record = envelope is Envelope.STRUCTURED or (inner != line and is_log_record(inner))
    return rebuilt(inner) if is_record else inner


def unwrapped(line: str, envelope: Envelope) -> tuple[str, int | None]:
    """The line as the application wrote it, and the moment that its envelope shows, in microseconds since 1970.

    The moment is None where the envelope shows none, or one without year and zone.
    """
    if envelope is Envelope.STRUCTURED:
        inner, time = line_of_object(line)
        return inner, instant(time)
    if envelope is Envelope.DOCKER:
        fields = parsed(line) if line.startswith("{") else None
        if fields is None or not isinstance(fields.get("log"), str):
            return line, None
        return fields["log"].rstrip("\r\n"), instant(fields.get("time"))
    clock = _CLOCKS.get(envelope)
    found = clock.search(line) if clock else None
    return peel(line, envelope), instant(found[1]) if found else None


def _taken_off(line: str, pattern: str, rest: str) -> str:
    return re.sub(pattern, rest.replace("$1", r"\g<1>"), line, count=1, flags=re.ASCII)


def _mostly(lines: Sequence[str], test: Callable[[str], bool]) -> bool:
    return sum(map(test, lines)) >= _MAJORITY * len(lines)


def _wears(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.ASCII)
    return lambda line: compiled.search(line) is not None


def _is_docker(line: str) -> bool:
    fields = parsed(line)
    return fields is not None and isinstance(fields.get("log"), str) and {"stream", "time"} <= fields.keys()


def _docker_log(line: str) -> str:
    return str(json.JSONDecoder().raw_decode(line)[0]["log"]).rstrip("\r\n")


def _from_kubectl(lines: Sequence[str]) -> bool:
    doubly = sum(map(_wears(rf"^{_NANOS} {_OWN_DATE}"), lines)) >= (1 - _MAJORITY) * len(lines)
    return _mostly(lines, _wears(_POD)) or (doubly and _mostly(lines, _wears(rf"^{_NANOS} ")))


def _from_compose(lines: Sequence[str]) -> bool:
    matches = [match for line in lines if (match := re.search(_SERVICE, line, re.ASCII))]
    dated = sum(
        re.match(_OWN_DATE, line[match.end() :]) is not None for line, match in zip(lines, matches, strict=False)
    )
    few_names = 2 * len({match[1] for match in matches}) <= len(matches)
    return len(matches) >= _MAJORITY * len(lines) and (few_names or dated == len(lines))
