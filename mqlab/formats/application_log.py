"""Any other log with a moment in its lines: counted by minute, level and shape; what applications say is read.

Sample lines::

    2026-11-21 12:18:54,559 INFO  [stats] Bridge - stats received=300 receivedBytes=1812937 delivered=300 failed=0
    2026/11/21 11:40:34.483970 progress received=200
    2026-11-21 11:42:51,117 INFO  [main] Worker - processed 500 records in 44.6 s
    2026-11-21 11:42:51,117 DEBUG poll returned 500 records, processing took PT44.6S
    … ERROR [main] Worker - record invoices.xml-1@499 failed, will retry
    … WARN  [main] Worker - entity service call for documents.raw-3@1204 failed after 812 ms: HTTP 500 (attempt 1 of 3)
    … INFO  [main] Worker - queued 5 records, backlog 5589
    … INFO  [main] Worker - worker stopping

A line that sums up a period (``processed 500 records in the last 10 s``) tells of no batch: it does not say how long
its records took.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mqlab.formats import kafka_layout, layouts
from mqlab.formats.base import Head, Signature, Spec, regex
from mqlab.formats.values import real, whole
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, METRICS, POLLS, SETTINGS, VOLUME, Row

FORMAT = Spec(
    "application-log",
    Role.APPLICATION_LOG,
    (EVENTS, VOLUME, METRICS, SETTINGS),
    "",
    Reading.LOG,
    "kafka",
    kafka_layout.LAYOUT,
)

_VERBS = (
    *("received", "delivered", "consumed", "processed", "forwarded", "sent", "acked", "published", "acknowledged"),
    *("failed", "errors", "resubmitted", "retried", "dropped"),
)
_COUNTED = (
    rf"(?:{'|'.join(_VERBS)})"
    r"(?:_?(?:[Bb]ytes|[Pp]ayload\w*|[Tt]otal|[Cc]ount|[Rr]ecords|[Mm]essages))?"
)
_RARE = rf"(?:{'|'.join(_VERBS)})(?:=|_?(?:[Bb]ytes|[Pp]ayload|[Tt]otal|[Cc]ount|[Rr]ecords|[Mm]essages))"
"""How a counter's name goes on: its verb alone stands in many lines."""
_SUMS = ("progress", "finished", "shutting down,")
"""Words behind which a single counter is one, too, whatever system the application works for."""
COUNTERS = "app-counters"
COUNTER = rf"\b({_COUNTED})=(\d+)(?![\d.\w/])"
"""One ``name=number`` that an application counts up."""

BATCH = "batch-processed"
_WORKED = ("processed", "handled", "consumed", "ingested", "indexed", "stored")
_BATCH = ("batch of", "batch processed", "batch done", "batch completed", "batch finished", "poll returned")
_NUMBER = r"\d[\d,]*"
_RECORDS = r"(?:records?|messages?|msgs?|events?|documents?|docs?|rows?|items?)"
_TOOK = r"\b(?:in|took|within|after|elapsed|duration|time)(?:_?[Mm]s)?[=:]? ?"
_TIME = (
    r"(?:PT\d[\dHMS.]*|\d[\d,]* ?m(?:in)? ?\d+(?:\.\d+)? ?s\b"
    r"|\d[\d,]*(?:\.\d+)? ?(?:ms|millis\w*|milliseconds?|s|secs?|seconds?|m|mins?|minutes?)\b)"
)
_PERIOD = r"\b(?:the (?:last|past)|so far|[Tt]otal)\b"
_BARE = r"\b(?:in|took|elapsed|duration|time)_?[Mm]s[=:] ?\d+"
_COUNT = rf"(?:{_NUMBER} {_RECORDS}|\b(?:size|count|{_RECORDS})[=:] ?{_NUMBER})"

_WROTE = ("wrote",)
"""Not with a capital, as brokers begin ``Wrote producer snapshot at offset 17 with 3 producer ids in 2 ms``."""


def _either(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(w for word in words for w in (word, word[0].upper() + word[1:]))


_WORDS = (*_either((*_WORKED, *_BATCH)), *_WROTE)
_BEGINS = rf"(?:{'|'.join(_WORDS)})\b[^\n]{{0,40}}?{_COUNT}[^\n]{{0,80}}?(?:{_TOOK}{_TIME}|{_BARE})"


_SAID = regex(rf"({_BEGINS})")
_COUNT_IN = regex(rf"({_COUNT})")
_TAKEN = regex(rf"({_TOOK}{_TIME}|{_BARE})$")
_TIMED = regex(rf"({_TIME})$")
_BARE_MILLIS = regex(r"_?[Mm]s[=:] ?([0-9]+)$")
_OF_A_PERIOD = regex(_PERIOD)
_UNITS = (
    (regex(r"(\d+)H"), 3600.0),
    (regex(r"(\d[\d,]*(?:\.\d+)?) ?(?:m|M|mins?|minutes?)(?![a-z])"), 60.0),
    (regex(r"(\d[\d,]*(?:\.\d+)?) ?(?:s|S|secs?|seconds?)(?![a-z])"), 1.0),
    (regex(r"(\d[\d,]*(?:\.\d+)?) ?(?:ms|milli)"), 0.001),
)

_WHO = ("worker", "consumer", "application", "service", "process")
_STARTS = ("starting", "started", "is starting")
_STOPS = ("stopping", "is stopping", "shutting down", "is shutting down")


def _said(endings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{who} {end}" for name in _WHO for who in (name, name.capitalize()) for end in endings)


_LAST_WORDS = (
    *("Commencing graceful shutdown", "Received SIGTERM", "received SIGTERM", "Caught SIGTERM", "caught SIGTERM"),
    *("Received signal SIGTERM", "received signal SIGTERM", "Shutting down gracefully", "shutting down gracefully"),
)
_FAILURE = r"(?:ailed|ailure|rror\b|xception|annot |ould not|nable to|etrying|nvalid|kipp)"
_RECORD = (
    r"(?:(?:^|[^\w.=-]|(?:[^Dd]|[^Ii][Dd])=)[\w.-]+(?:-\d+(?:@| at offset | offset[ =])| ?\[\d+\] ?@ ?)\d"
    r"|\b[Pp]artition ?[=:] ?\d+\b.{0,120}\b[Oo]ffset ?[=:] ?\d)"
)
_MILLIS = r"\b(?:after|in|took) (?P<value>\d+) ?ms"
_LATE = r"(?:timed out|[Tt]ime-?out)"
_HTTP = r"HTTP(?:/[\d.]+)?(?: status| code)*[ :=]+[45]\d\d\b"
_STATUS = r"status(?: code)?[=: ]+[45]\d\d\b"

_HANDS_OVER = tuple(word for verb in ("queued", "enqueued", "submitted", "dispatched") for word in (verb, verb.title()))
_WAITING = r"(?:backlog|queue(?: size| depth| length|Size|Depth)|pending|waiting|in flight)[ =:]+(?P<value>\d+)"


def _record(offset: str) -> str:
    """How applications and clients other than Java's name a record; *offset* is a regex for its offset."""
    return (
        r"(?<![\w.-])(?P<topic>[\w.-]+)(?:-(?P<queue>\d+)(?:@| at offset | offset[ =])| ?\[(?P<queue2>\d+)\] ?@ ?)"
        rf"{offset}|\btopic ?[=:] ?'?(?P<topic2>[\w.-]+)'?,? partition ?[=:] ?(?P<queue3>\d+)"
    )


_CALL = rf"{_MILLIS}|{_record('[0-9]')}"

SIGNATURES: tuple[Signature, ...] = (
    Signature(COUNTERS, begins=rf"(?:{'|'.join(_SUMS)}) {_COUNTED}=\d+", rare=_RARE, system="os"),
    Signature(COUNTERS, begins=rf"(?:[\w-]+:? )?{_COUNTED}=\d+,? \w+=\d+", rare=_RARE),
    Signature(BATCH, begins=_BEGINS),
    Signature(
        "handed-over", begins=rf"(?:{'|'.join(_HANDS_OVER)}) \d+ (?:records|messages|events|tasks|jobs)\b.*\b{_WAITING}"
    ),
    Signature("app-started", begins=rf"(?:{'|'.join(_said(_STARTS))}|Started \w+ in \d[\d.]* seconds)"),
    Signature("app-started", begins=r"[Ss]tarting, [^\n]*[\w.]=\S", also=r"\bgroup=(?P<group>[\w.%-]+)"),
    Signature("app-stopping", begins=rf"(?:{'|'.join((*_said(_STOPS), *_LAST_WORDS))})"),
    Signature("call-failed", contains=rf"(?P<reason>{_HTTP}|{_STATUS})", also=_CALL),
    Signature("call-failed", contains=rf"https?://.*{_LATE}|{_LATE}.*https?://", also=_CALL, told="timeout"),
    Signature(
        "call-failed",
        contains=r"https?://.*[Cc]onnection (?:refused|reset)|[Cc]onnection (?:refused|reset).*https?://",
        also=_CALL,
        told="connection refused",
    ),
    Signature(
        "record-failed",
        contains=rf"{_FAILURE}.*{_RECORD}|{_RECORD}.*{_FAILURE}",
        rare=r"-\d*(?:[0-9]@[0-9]|[0-9] at offset |[0-9] offset[ =])|\] ?@|artition ?[=:] ?[0-9]",
        also=rf"{_record('(?P<value>[0-9]+)')}|\b[Oo]ffset ?[=:] ?(?P<value2>\d+)|failed(?:,|:) (?=(?P<reason>.*))"
        r"|(?<![\w$.])(?=(?P<reason2>(?:[\w$]+\.)+\w*(?:Exception|Error)\b.*))",
    ),
    Signature(
        "task-killed",
        contains=r"Task (?:threw an uncaught and unrecoverable exception|is being killed and will)"
        r"|Exiting WorkerSinkTask due to unrecoverable exception",
    ),
    Signature(
        "records-held",
        contains=r"has waited for (?P<value>\d+) seconds to be acknowledged|TooManyMessagesWithoutAckException",
    ),
    Signature(
        "record-failed",
        contains=r"Error when calling each(?:Message|Batch)",
        also=r"\"topic\":\"(?P<topic>[\w.-]+)\"|\"partition\":(?P<queue>\d+)|\"offset\":\"(?P<value>\d+)",
    ),
    Signature(
        "record-failed",
        contains=r"Batch entry (?P<value>\d+) .*was aborted: (?P<reason>.*)|rows were rejected by the server"
        r"|BatchUpdateException: (?P<reason2>Data trunc.*)",
    ),
    Signature(
        "record-failed",
        contains=r"Backoff \S.{0,120} exhausted for ",
        also=_record("(?P<value>[0-9]+)"),
        told="retries exhausted",
    ),
    Signature("pod-rolled", begins=r"Rolling Pod (?P<reason>\S+) due to "),
    Signature("producer-forgotten", contains=r"UnknownProducerId(?:Exception)?\b|UNKNOWN_PRODUCER_ID"),
    Signature("listener-failed", contains=r"ListenerExecutionFailedException|Seek to current after exception"),
    Signature(
        "record-unreadable",
        contains=r"Unknown magic byte|Tolerance exceeded in error handler"
        r"|[Ff]ailed to deserialize|(?:Record)?DeserializationException"
        r"|[Ee]rror deserializing |upon a deserialization error|_(?:KEY|VALUE)_DESERIALIZATION"
        r"|caught during Deserialization"
        r"|Converting byte\[\] to Kafka Connect data failed|requires \"schema\" and \"payload\" fields"
        r"|cannot process .SerializationException.s directly|Received exception when fetching the next record from",
    ),
)

_DATED = re.compile(
    r"^\W{0,2}(?:<\d+>)?(?:\[[A-Z]+\]\s+|(?:time|timestamp|ts)=\W?)?"
    r"(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\d{2}:\d{2}:\d{2}[.,]\d{3} |\d{10}: )"
)


_CONTINUED = re.compile(r"\s|Caused by|\.\.\. \d+ more|[\w.$]+(?:Exception|Error)\b")


def recognise(head: Head) -> bool:
    """True when at least a tenth of the lines begin with a moment, those of stack traces not counted."""
    lines = [line for line in head.lines if line.strip() and not _CONTINUED.match(line)]
    return bool(lines) and sum(map(is_dated, lines)) * 10 >= len(lines)


def is_dated(line: str) -> bool:
    """Whether a line begins with a moment."""
    return _DATED.match(line) is not None or layouts.other_moment(line[:80]) is not None


def poll(message: str, told: Mapping[str, Any]) -> Row | None:
    """POLLS of a *message* of ``BATCH``, *told* is what its layout says; None where its numbers make no sense."""
    said = _SAID.search(message)
    if not said or _OF_A_PERIOD.search(said[1]):
        return None
    count, took = _COUNT_IN.search(said[1]), _TAKEN.search(said[1])
    records = whole(re.sub("[^0-9]", "", count[1])) if count else None
    seconds = _seconds(took[1]) if took else None
    if records is None or seconds is None:
        return None
    return POLLS.row(client_id=told.get("client_id"), group=told.get("group"), records=records, seconds=seconds)


def _seconds(took: str) -> float | None:
    """The time in seconds, from the parts that are written."""
    timed = _TIMED.search(took)
    if not timed:
        bare = _BARE_MILLIS.search(took)
        return None if bare is None else int(bare[1]) * 0.001
    parts = [(pattern.search(timed[1]), unit) for pattern, unit in _UNITS]
    return sum((real(found[1].replace(",", "")) or 0.0) * unit for found, unit in parts if found)
