"""Queues in what ``mqadmin`` prints: how far each group came, and which consumer holds which queue.

consumerProgress, brokerConsumeStats and topicStatus give POSITIONS; a queue is ``<broker>/<number>``, as each broker
counts its own. ``#Consumer MQ Detail#`` in a consumer's own words gives ASSIGNMENTS; a queue that it is about to lose
is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mqlab.formats import rocketmq_lines as shapes
from mqlab.formats.rocketmq_lines import Place
from mqlab.formats.values import whole
from mqlab.tables import ASSIGNMENTS, POSITIONS, Row

_LOST = re.compile(r"\bdrop{1,2}ed=true", re.ASCII)


def rows(place: Place) -> Iterator[Row]:
    """The position or the assignment that a line tells."""
    if place.kind in ("queues", "topic") and shapes.QUEUE.search(place.plain):
        yield _position(place)
    elif place.kind == "details" and (held := shapes.DETAIL.search(place.plain)) and not _LOST.search(place.plain):
        queue = f"{held['broker']}/{held['number']}"
        yield ASSIGNMENTS.row(at=place.at, group=place.group, topic=held["topic"], queue=queue, client_id=place.client)


def _position(place: Place) -> Row:
    cells = place.cells
    of_group = place.kind == "queues"
    broker, number, peer = (cells.get(name) for name in ("Broker Name", "QID", "Client IP"))
    return POSITIONS.row(
        at=place.at,
        group=cells.get("Group", place.group) if of_group else None,
        topic=cells.get("Topic") if of_group else place.topic,
        queue=f"{broker}/{number}" if broker and number else None,
        committed=whole(cells.get("Consumer Offset")),
        end=whole(cells.get("Broker Offset") or cells.get("Max Offset")),
        start=whole(cells.get("Min Offset")),
        peer=None if peer == "N/A" else peer,
    )
