"""Which lines of a log are those of a ledger: lines of one shape, each about one message.

Sample lines, of which the first two are a ledger's, and the others are not::

    2026-11-22 07:00:01,123 INFO  [main] com.acme.Payer - paid PO-17 (topic=payouts partition=1 offset=33)
    2026-11-22 07:00:01,125 INFO  [main] com.acme.Payer - paid PO-18 (topic=payouts partition=1 offset=34)
    2026-11-22 07:00:01,126 INFO  [main] … - [Consumer clientId=payer, groupId=payer] Resetting offset for partition …
    2026-11-22 07:00:01,127 INFO  [main] com.acme.Payer - committed payouts-1@35
    2026-11-22 07:00:01,128 WARN  [main] com.acme.Payer - cannot pay PO-19 (topic=payouts partition=1 offset=35)

A shape names a place (partition and offset, maybe a topic), or an id and a topic with a verb that tells the role. What
a library prints, what is about a position or about many messages, and what denies its verb is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mqlab.ledgers import line_columns, line_roles
from mqlab.ledgers.layout import LineShape, is_mqtt, role_in
from mqlab.ledgers.line_candidates import NEAR, groups, may_note
from mqlab.ledgers.line_columns import ENOUGH, Cells, Columns
from mqlab.ledgers.statements import Piece, is_dated
from mqlab.ledgers.verbs import HANDLED, words

_LOOKED_AT = 1000
"""Lines by which shapes are told."""
_PURE = 0.8
"""Share of its lines from which a log is nothing but a ledger."""
_PRODUCER = re.compile(r"ProducerConfig|\[Producer |#producer-|KafkaProducer")
_CONSUMER = re.compile(r"ConsumerConfig|\[Consumer |#consumer-|KafkaConsumer|group[._]?[iI]d")


@dataclass(frozen=True, slots=True)
class _Log:
    """What is known of the log in which shapes are looked for."""

    named: str | None
    """The role in its name."""
    produces: bool
    """It is that of a process that produces and does not consume."""


@dataclass(frozen=True, slots=True)
class _Found:
    shape: LineShape
    columns: Columns
    mqtt: bool


def found(lines: Sequence[str], name: str, *, clocked: bool = False) -> tuple[tuple[LineShape, ...], bool]:
    """The shapes of ledger lines among the first *lines* of a log of this *name*, and whether they are MQTT's.

    *clocked* is whether a collector dates each line. A line is of the first shape that it fits.
    """
    lines = lines[:_LOOKED_AT]
    text = "\n".join(line[:NEAR] for line in lines)
    if not may_note(text):
        return (), False
    log = _Log(role_in(name), _PRODUCER.search(text) is not None and _CONSUMER.search(text) is None)
    alike = {True: 0, False: 0}
    for line in lines:
        alike[clocked or is_dated(line)] += bool(line.strip())
    shapes: dict[str, _Found] = {}
    for (_, timed), rows in groups(lines, clocked=clocked).items():
        one = _shape(rows, log, timed=timed, pure=len(rows) >= _PURE * alike[timed]) if len(rows) >= ENOUGH else None
        if one:
            shapes.setdefault(one.shape.pattern, one)
    kept = _kept(sorted(shapes.values(), key=lambda one: (-max(one.columns.values()), one.shape.pattern)))
    return tuple(one.shape for one in kept), any(one.mqtt for one in kept)


def _shape(rows: Sequence[Sequence[Piece]], log: _Log, *, timed: bool, pure: bool) -> _Found | None:
    """The shape that statements have in common, where it names messages."""
    first = rows[0]
    cells = [[row[n].text for row in rows] for n, piece in enumerate(first) if piece.pattern]
    columns = line_columns.columns(first, cells, timed=timed)
    placed = line_columns.placed(columns)
    told = line_roles.role(first, log.named, placed=placed, produces=log.produces)
    if told is None or not (timed or "time" in columns) or not line_columns.apart(columns, cells):
        return None
    noted = _is_placed if placed else _is_named
    if not noted(first, told[0], columns, log if pure else None):
        return None
    pattern, groups = line_columns.pattern(first, columns)
    return _Found(LineShape(pattern, groups, *told), columns, not placed and is_mqtt(columns, _topics(columns, cells)))


def _is_placed(said: Sequence[Piece], role: str | None, columns: Columns, pure: _Log | None) -> bool:
    """Whether lines with places are a ledger's.

    What failed has no place. Where nothing tells the role, names and values are all there is in a log that holds
    nothing else (*pure*).
    """
    if role is None:
        bare = not any(words(re.sub(r"[\w.@-]+\"?[ \t]?[=:]", "", p.text)) for p in said if not p.pattern)
        return pure is not None and bare and "key" in columns
    return role != "failed"


def _is_named(_: Sequence[Piece], role: str | None, columns: Columns, pure: _Log | None) -> bool:
    """Whether lines with ids are a ledger's: they name a topic, or the log is nothing else, as its name says."""
    alone = pure is not None and pure.named is not None
    return role is not None and ("topic" in columns or role == "failed" or alone)


def _topics(columns: Columns, cells: Cells) -> Sequence[str]:
    return cells[columns["topic"]] if "topic" in columns else []


def _kept(shapes: Sequence[_Found]) -> Sequence[_Found]:
    """Those of *shapes* that tell of different things: of one receiver the last stage, of two systems that with places.

    What failed is a message only where the log notes the others, too.
    """
    last = max((HANDLED.index(one.shape.role) for one in shapes if one.shape.role in HANDLED), default=0)
    stages = [one for one in shapes if one.shape.role not in HANDLED[:last]]
    roles = {one.shape.role for one in stages}
    noted = [one for one in stages if one.shape.role != "failed" or roles & {"sent", "acked"}]
    placed = [one for one in noted if line_columns.placed(one.columns)]
    return placed if placed and any(one.mqtt for one in noted) else noted
