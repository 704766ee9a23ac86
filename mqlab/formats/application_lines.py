"""What applications write in their own words: starts and stops, queues of their own, records and calls that failed.

Sample lines::

    … ERROR [main] Worker - record invoices.xml-1@499 failed, will retry
    … WARN  [main] Worker - entity service call for documents.raw-3@1204 failed after 812 ms: HTTP 500 (attempt 1 of 3)
    … INFO  [main] Worker - queued 5 records, backlog 5589
    … INFO  [main] Worker - worker stopping
"""

from __future__ import annotations

from mqlab.formats.base import Signature

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
    r"(?:(?:^|[^\w.-])[\w.-]+(?:-\d+(?:@| at offset | offset[ =])| ?\[\d+\] ?@ ?)\d"
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
    Signature(
        "handed-over",
        begins=rf"(?:{'|'.join(_HANDS_OVER)}) \d+ (?:records|messages|events|tasks|jobs)\b.*\b{_WAITING}",
    ),
    Signature("app-started", begins=rf"(?:{'|'.join(_said(_STARTS))}|Started \w+ in \d[\d.]* seconds)"),
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
)
"""Lines of applications, in the order in which they are tried."""
