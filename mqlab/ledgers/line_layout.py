"""The layout of a log in which an application notes its messages between other lines.

Sample lines of such a log, of which the second one is a row of its ledger::

    2026-11-22 07:00:00,950 INFO  [main] com.acme.Payer - consumer starting
    2026-11-22 07:00:01,123 INFO  [main] com.acme.Payer - paid PO-17 (topic=payouts partition=1 offset=33)

Only logs of applications are looked at: what a broker prints about records is no ledger.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mqlab.ledgers.layout import Layout, LineShape, party_in
from mqlab.ledgers.line_shapes import found
from mqlab.sources import Envelope

PLAIN = "application-log"
APPLICATIONS = frozenset({
    PLAIN, "kafka-client-log", "librdkafka-log", "rocketmq-client-log", "paho-log", "process-log",
})  # fmt: skip
"""Formats of logs that applications write, also where a library writes into them; the first has no layout."""
_CLOCKED = (Envelope.DOCKER, Envelope.CRI)
"""Envelopes that date each line."""
_ENDING = re.compile(r"(?i)\.(?:log|txt|out|json|jsonl|ndjson)(?:\..*)?$")


def layout(lines: Sequence[str], name: str, envelope: Envelope) -> str | None:
    """How the rows stand in a log called *name* that begins with *lines*; None where none is one of a ledger."""
    shapes, mqtt = found(lines, name, clocked=envelope in _CLOCKED)
    if not shapes:
        return None
    return laid(shapes, party_of(name), mqtt=mqtt)


def laid(shapes: Sequence[LineShape], party: str | None, *, mqtt: bool) -> str:
    """The layout of a log with lines of these *shapes*; it says whether all of them tell the role of their rows."""
    said = {"role": "lines"} if all(one.role for one in shapes) else {}
    return Layout(said, "", party=party, mqtt=mqtt, lines=tuple(shapes)).text()


def party_of(name: str) -> str | None:
    """Whose log it is: ``payer`` of ``payer.log`` and ``payer.audit.log``, ``web`` of ``web-acked.log``."""
    return party_in(name) or _ENDING.sub("", name) or None
