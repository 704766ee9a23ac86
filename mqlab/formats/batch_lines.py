"""Lines in which an application says how long it worked on the records of one poll.

Sample lines::

    2026-11-21 11:42:51,117 INFO  [main] Worker - processed 500 records in 44.6 s
    2026-11-21 11:42:51,117 INFO  Batch processed: size=500, duration=44600 ms
    2026-11-21 11:42:51,117 DEBUG poll returned 500 records, processing took PT44.6S

A line that sums up a period (``processed 500 records in the last 10 s``) is none: it does not say how long they took.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mqlab.formats.base import Signature
from mqlab.formats.values import real, whole
from mqlab.tables import POLLS, Row

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

_WROTE = ("wrote",)
"""Not with a capital, as brokers begin ``Wrote producer snapshot at offset 17 with 3 producer ids in 2 ms``."""


def _either(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(w for word in words for w in (word, word[0].upper() + word[1:]))


_WORDS = (*_either((*_VERBS, *_BATCH)), *_WROTE)
_BEGINS = rf"(?:{'|'.join(_WORDS)})\b[^\n]{{0,40}}?{_COUNT}[^\n]{{0,80}}?(?:{_TOOK}{_TIME}|{_BARE})"

SIGNATURES: tuple[Signature, ...] = (Signature(KIND, begins=_BEGINS),)
"""The one kind that becomes Facts.batches."""


_SAID = re.compile(rf"({_BEGINS})", re.ASCII)
_COUNTED = re.compile(rf"({_COUNT})", re.ASCII)
_TAKEN = re.compile(rf"({_TOOK}{_TIME}|{_BARE})$", re.ASCII)
_TIMED = re.compile(rf"({_TIME})$", re.ASCII)
_MILLIS = re.compile(r"_?[Mm]s[=:] ?([0-9]+)$", re.ASCII)
_OF_A_PERIOD = re.compile(_PERIOD, re.ASCII)
_UNITS = (
    (re.compile(r"(\d+)H", re.ASCII), 3600.0),
    (re.compile(r"(\d[\d,]*(?:\.\d+)?) ?(?:m|M|mins?|minutes?)(?![a-z])", re.ASCII), 60.0),
    (re.compile(r"(\d[\d,]*(?:\.\d+)?) ?(?:s|S|secs?|seconds?)(?![a-z])", re.ASCII), 1.0),
    (re.compile(r"(\d[\d,]*(?:\.\d+)?) ?(?:ms|milli)", re.ASCII), 0.001),
)


def poll(message: str, told: Mapping[str, Any]) -> Row | None:
    """POLLS of a *message* of ``KIND``, *told* is what its layout says; None where its numbers make no sense."""
    said = _SAID.search(message)
    if not said or _OF_A_PERIOD.search(said[1]):
        return None
    count, took = _COUNTED.search(said[1]), _TAKEN.search(said[1])
    records = whole(re.sub("[^0-9]", "", count[1])) if count else None
    seconds = _seconds(took[1]) if took else None
    if records is None or seconds is None:
        return None
    return POLLS.row(client_id=told.get("client_id"), group=told.get("group"), records=records, seconds=seconds)


def _seconds(took: str) -> float | None:
    """The time in seconds, from the parts that are written."""
    timed = _TIMED.search(took)
    if not timed:
        bare = _MILLIS.search(took)
        return None if bare is None else int(bare[1]) * 0.001
    parts = [(pattern.search(timed[1]), unit) for pattern, unit in _UNITS]
    return sum((real(found[1].replace(",", "")) or 0.0) * unit for found, unit in parts if found)
