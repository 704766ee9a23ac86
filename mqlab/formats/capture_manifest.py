"""``manifest.json`` of a bundle that ``mqlab capture`` gathered → EVENTS of kind ``tool-error``.

Sample document::

    {"schema": "mqlab.capture/1", "system": "kafka", "questions": [{"what": "latest offsets", "failed": 2,
     "failed_at": "2026-11-22T10:00:20.000Z", "because": "t [0]: Broker: Not leader for partition"}], …}

A question that was not answered is an error of the last time it was not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from mqlab.formats.base import About, Data, Head, Items, Lines, Reject, Spec, regex
from mqlab.formats.values import instant
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, Row

FORMAT = Spec("capture-manifest", Role.COMMAND, (EVENTS,), "mqlab", Reading.DOCUMENT)

_BEGINS = regex(r'\s*\{\s*"schema"\s*:\s*"mqlab\.capture/1"')


def recognise(head: Head) -> bool:
    """True for its schema."""
    return _BEGINS.match(head.text) is not None


def parse(lines: Lines, about: About) -> Items:  # noqa: ARG001 - each failure tells its moment
    """One event for each question that failed."""
    for line in lines:
        try:
            yield Data(line, tuple(_failures(json.loads(line.text))))
        except (ValueError, TypeError, AttributeError, RecursionError):
            yield Reject(line)


def _failures(manifest: Any) -> Iterator[Row]:
    for question in manifest.get("questions", ()):
        if question.get("failed"):
            reason = f"{question.get('what')}: {question.get('because')}"
            at, system = instant(str(question.get("failed_at"))), str(manifest.get("system"))
            yield EVENTS.row(at=at, system=system, kind="tool-error", reason=reason, line=None, text=reason)
