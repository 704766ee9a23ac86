"""Burrow's answers about consumer groups, ``/v3/kafka/<cluster>/consumer/<group>/status`` and ``/lag`` → POSITIONS.

Sample line (v2 has the same parts, but no owner and no current lag)::

    {"error":false,"message":"consumer status returned","status":{"cluster":"c","group":"g","status":"WARN",
    "partitions":[{"topic":"t","partition":0,"owner":"/10.0.0.1","client_id":"c-1","status":"STOP",
    "start":{"offset":5,"timestamp":1795263301560,"lag":1},"end":{"offset":9,"timestamp":1795263361560,"lag":3},
    "current_lag":3,…

One answer a line, or answers over many lines. The first and the last commit of Burrow's window are a position each, at
the moment of the commit; its end is the offset and the lag that Burrow noted then, for the last commit the current lag
where it noted none. ``/status`` tells only of partitions that Burrow finds bad. The owner is that of the answer's
moment, who committed is not told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from mqlab.formats import console, documents
from mqlab.formats.base import About, Data, Head, Items, Lines, Spec, regex
from mqlab.formats.values import epoch
from mqlab.sources import Role
from mqlab.tables import EVENTS, POSITIONS, Row

FORMAT = Spec("burrow-json", Role.COMMAND, (POSITIONS, EVENTS))

_SAYS = r'"message"\s*:\s*"(?:consumer (?:group )?(?:status|lag) returned|cluster or consumer not found)"'
_ANSWER = regex(rf'^\{{\s*"error"\s*:\s*(?:true|false)\s*,\s*{_SAYS}')
_PART = regex(r"^\s*(?:[{}\[\]]|\"[\w-]+\"\s*:|-?\d+,?\s*$)")
"""A line of an answer that was laid out over many lines."""
_CUT = re.compile(r",\{[^{}]*(?:\{[^{}]*\}[^{}]*)*(?:\{[^{}]*)?…$")
_LONGEST = 501
"""Characters of an answer that its rows keep: one more than evidence shows."""


def recognise(head: Head) -> bool:
    """True for an answer about a group."""
    return _ANSWER.match(head.text.lstrip("\ufeff \r\n")) is not None


def parse(lines: Lines, about: About) -> Items:
    """Positions of every partition that an answer tells of; an answer that there is no such group is an event."""
    parts = []
    for one in console.shown(lines, about):
        if _ANSWER.search(one.plain):
            answer, _ = documents.first(_closed(one.plain))
            yield Data(one.line, tuple(_rows(one, answer, one.line.text)))
        elif _PART.search(one.plain):
            parts.append(one)
        else:
            yield console.remark(one)
    yield from _spread(parts)


def _spread(parts: Sequence[console.Shown]) -> Items:
    """Lines of answers that were laid out over many: the rows of each are its first line's."""
    text = _closed("\n".join(one.plain for one in parts))
    start = end = 0
    for one in parts:
        rows: Iterable[Row] = ()
        if start >= end:
            answer, end = documents.first(text, start)
            rows = _rows(one, answer, text[start:end])
        yield Data(one.line, tuple(rows))
        start += len(one.plain) + 1


def _closed(answer: str) -> str:
    """An *answer* that was cut because of its length, with an end behind the last partition that is whole."""
    return _CUT.sub("]}}", answer) if answer.endswith("…") else answer


def _rows(one: console.Shown, answer: object, text: str) -> Iterator[Row]:
    text = text[:_LONGEST]
    if documents.part(answer, "error") is True:
        reason = documents.word(answer, "message")
        yield EVENTS.row(at=one.at, system="kafka", kind="tool-error", reason=reason, text=text)
    for partition in documents.entries(answer, "status", "partitions"):
        for name in ("start", "end"):
            committed, lag = (documents.number(partition, name, key) for key in ("offset", "lag"))
            if lag is None and name == "end":
                lag = documents.number(partition, "current_lag")
            if committed is not None:
                yield POSITIONS.row(
                    at=epoch(documents.number(partition, name, "timestamp")),
                    group=documents.word(answer, "status", "group"),
                    topic=documents.word(partition, "topic"),
                    queue=documents.word(partition, "partition"),
                    committed=committed,
                    end=None if lag is None else committed + lag,
                    text=text,
                )
