"""Exports of Kibana, Grafana, Loki, CloudWatch and Datadog: message, time and level come out of what stands around.

Sample material::

    "@timestamp","kubernetes.pod.name",message            a table, as Kibana, Grafana and CloudWatch save it
    {"hits":{"hits":[{"_source":{"@timestamp":…,"message":…}}]}}
    {"data":{"result":[{"stream":{"app":"kafka"},"values":[["1714560000000000000","…"]]}]}}
    {"events":[{"timestamp":1714560000000,"message":"…"}]}
    {"data":[{"attributes":{"timestamp":…,"status":"error","message":…}}]}

Each record becomes one JSON object, which ``envelopes`` reads; what was saved with the newest first is turned round.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mqlab.material import envelopes
from mqlab.material.joining import Piece

_MESSAGES = frozenset(
    {*envelopes.MESSAGES, "@message", "content", "_raw", "body", "textpayload", "log_message", "event.original"}
)
_TIMES = frozenset({*(time.lower() for time in envelopes.TIMES), "date", "_time", "tsns", "logtime", "@t"})
_LEVELS = frozenset({*envelopes.LEVELS, "status", "detected_level"})
_DEEPEST = 8


def table(pieces: Sequence[Piece]) -> list[Piece] | None:
    """The records of a table of log lines; None where it is none."""
    try:
        return _table(pieces)
    except csv.Error:
        return None


def _table(pieces: Sequence[Piece]) -> list[Piece] | None:
    head = next((n for n, piece in enumerate(pieces) if piece.text.strip()), None)
    if head is None or not any(mark in pieces[head].text for mark in ",;\t"):
        return None
    mark = max(",;\t", key=pieces[head].text.count)
    names = [name.strip().strip('"').lower() for name in next(csv.reader([pieces[head].text], delimiter=mark))]
    columns = {
        kind: _column(names, known) for kind, known in (("message", _MESSAGES), ("time", _TIMES), ("level", _LEVELS))
    }
    if columns["message"] is None or columns["time"] is None:
        return None
    found, before = [], head + 1
    reader = csv.reader((piece.text + "\n" for piece in pieces[head + 1 :]), delimiter=mark, strict=False)
    for row in reader:
        end = head + 1 + reader.line_num
        cells = {
            kind: row[n].strip() for kind, n in columns.items() if n is not None and n < len(row) and row[n].strip()
        }
        taken = pieces[before:end]
        text = json.dumps(cells, ensure_ascii=False) if "message" in cells else " ".join(p.text for p in taken)
        found.append(Piece(taken[0].number, sum(p.lines for p in taken), sum(p.bytes for p in taken), text))
        before = end
    return [*pieces[: head + 1], *_forward(found)] if len(found) > 0 else None


def _column(names: Sequence[str], known: frozenset[str]) -> int | None:
    return next((n for n, name in enumerate(names) if name in known), None)


def document(pieces: Sequence[Piece]) -> list[Piece] | None:
    """The records of a JSON document that holds log lines; None where it is none."""
    text = "\n".join(piece.text for piece in pieces)
    if text.lstrip()[:1] not in ("{", "[") or envelopes.is_log_record(text.lstrip()):
        return None
    try:
        whole = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    records = list(_records(whole, 0))
    if not records:
        return None
    places = _places(pieces, records)
    found = [
        Piece(pieces[n].number, 0, 0, json.dumps(r, ensure_ascii=False)) for n, r in zip(places, records, strict=True)
    ]
    rest = Piece(pieces[0].number, sum(p.lines for p in pieces), sum(p.bytes for p in pieces), "")
    return [rest, *_forward(found)]


def _records(part: Any, depth: int) -> Iterator[dict[str, Any]]:
    """The records in a part of a document, however deep."""
    own = list(_of_stream(part)) or [one for one in [_flat(part)] if one]
    if own or depth > _DEEPEST:
        yield from own
        return
    for one in part if isinstance(part, list) else part.values() if isinstance(part, dict) else ():
        yield from _records(one, depth + 1)


def _of_stream(part: Any) -> Iterator[dict[str, Any]]:
    """The records of one of Loki's streams."""
    if (
        not isinstance(part, dict)
        or not isinstance(part.get("stream"), dict)
        or not isinstance(part.get("values"), list)
    ):
        return
    labels = {name: text for name, text in part["stream"].items() if name in _LEVELS and isinstance(text, str)}
    for pair in part["values"]:
        if isinstance(pair, list) and len(pair) > 1 and isinstance(pair[1], str):
            yield labels | {"time": str(pair[0]), "message": pair[1].rstrip("\n")}


def _flat(part: Any) -> dict[str, Any] | None:
    """The record in an object, or in one that it wraps."""
    if not isinstance(part, dict):
        return None
    for inner in (part, part.get("_source"), part.get("attributes"), part.get("content")):
        if isinstance(inner, dict):
            low = {name.lower(): value for name, value in sorted(inner.items())}
            texts = {name: value for name, value in low.items() if isinstance(value, str)}
            message = next((text for name, text in texts.items() if name in _MESSAGES), None)
            level = next((text for name, text in texts.items() if name in _LEVELS), None)
            time = next((value for name, value in low.items() if name in _TIMES), part.get("timestamp"))
            if message is not None and (time is not None or level is not None):
                told = {"time": None if time is None else str(time), "level": level, "message": message.rstrip("\n")}
                return {name: text for name, text in told.items() if text is not None}
    return None


def _places(pieces: Sequence[Piece], records: Sequence[Mapping[str, Any]]) -> Iterator[int]:
    """Where each record's message stands, as far as that can be told."""
    place = 0
    for record in records:
        shown = json.dumps(record["message"][:60], ensure_ascii=False).strip('"')
        place = next((n for n in range(place, len(pieces)) if shown in pieces[n].text), place)
        yield place


def _forward(found: list[Piece]) -> list[Piece]:
    """Records with the oldest first."""
    times = []
    for piece in (found[0], found[-1]) if found else ():
        fields = envelopes.parsed(piece.text) if piece.text.startswith("{") else None
        times.append(str(fields.get("time", "")) if fields else "")
    return found[::-1] if len(times) == 2 and times[0] > times[1] and len(times[0]) == len(times[1]) else found
