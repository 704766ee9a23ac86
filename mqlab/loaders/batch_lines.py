"""Lines in which an application says how long it worked on the records of one poll.

Sample lines::

    2026-11-21 11:42:51,117 INFO  [main] Worker - processed 500 records in 44.6 s
    2026-11-21 11:42:51,117 INFO  Batch processed: size=500, duration=44600 ms
    2026-11-21 11:42:51,117 DEBUG poll returned 500 records, processing took PT44.6S

A line that sums up a period (``processed 500 records in the last 10 s``) is none: it does not say how long they took.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from mqlab.loaders.base import Signature
from mqlab.sql import filled, group, matches, replaced

KIND = "batch-processed"
_VERBS = ("processed", "handled", "consumed", "ingested", "indexed", "stored")
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

_CLIENT, _GROUP = r"clientId=([^,\]\s]+)", r"groupId=([^,\]\s]+)"
_WROTE = ("wrote",)
"""Not with a capital, as brokers begin ``Wrote producer snapshot at offset 17 with 3 producer ids in 2 ms``."""


def _either(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(w for word in words for w in (word, word[0].upper() + word[1:]))


_WORDS = (*_either((*_VERBS, *_BATCH)), *_WROTE)
_BEGINS = rf"(?:{'|'.join(_WORDS)})\b[^\n]{{0,40}}?{_COUNT}[^\n]{{0,80}}?(?:{_TOOK}{_TIME}|{_BARE})"

SIGNATURES: tuple[Signature, ...] = (Signature(KIND, begins=_BEGINS, words=_WORDS),)
"""The one kind that becomes Facts.batches."""


def batches(lines: DataFrame) -> DataFrame:
    """One row a line: source, line, lines, text, wall, offset, client_id, group, records and seconds.

    *lines* are those of ``KIND`` as ``logs.beginning`` gives them; those whose numbers make no sense are passed over.
    """
    told = lines.selectExpr(
        "*", f"{group('message', f'({_BEGINS})')} AS said",
        f"{filled(group('text', _CLIENT))} AS client_id", f"{filled(group('text', _GROUP))} AS `group`",
    ).where(f"NOT {matches('said', _PERIOD)}")  # fmt: skip
    counted = told.selectExpr(
        "*",
        f"{group('said', f'({_COUNT})')} AS count",
        f"{group('said', f'({_TOOK}{_TIME}|{_BARE})$')} AS took",
    ).selectExpr("*", f"{group('took', f'({_TIME})$')} AS time")
    return counted.selectExpr(
        "source", "line", "lines", "text", "wall", "offset", "client_id", "`group`",
        f"try_cast({replaced('count', '[^0-9]')} AS BIGINT) AS records",
        f"{_seconds()} AS seconds",
    ).where("records IS NOT NULL AND seconds IS NOT NULL")  # fmt: skip


def _seconds() -> str:
    """SQL: the time in seconds, from the parts that are written."""
    hours = _part(r"(\d+)H", 3600)
    minutes = _part(r"(\d[\d,]*(?:\.\d+)?) ?(?:m|M|mins?|minutes?)(?![a-z])", 60)
    seconds = _part(r"(\d[\d,]*(?:\.\d+)?) ?(?:s|S|secs?|seconds?)(?![a-z])", 1)
    millis = _part(r"(\d[\d,]*(?:\.\d+)?) ?(?:ms|milli)", 0.001)
    bare = f"try_cast({filled(group('took', '_?[Mm]s[=:] ?([0-9]+)$'))} AS DOUBLE) * 0.001D"
    whole = " + ".join(f"coalesce({part}, 0D)" for part in (hours, minutes, seconds, millis))
    return f"CASE WHEN time <> '' THEN {whole} ELSE {bare} END"


def _part(pattern: str, unit: float) -> str:
    return f"try_cast(replace({group('time', pattern)}, ',', '') AS DOUBLE) * {float(unit)}D"
