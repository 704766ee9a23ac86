"""From the rows that leave Spark to positions of groups, by time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mqlab.assembly.payloads import Row, moment, text
from mqlab.clocks.zones import Instant
from mqlab.facts import Position


def positions(rows: Sequence[Row], path: Callable[[Row], str], instant: Instant) -> Iterator[Position]:
    """A position for each row of POSITIONS that names a topic and a queue."""
    names = ("group", "committed", "end", "start", "client_id", "member_id", "peer", "line")
    placed = [(path(row), row) for row in rows]
    for source, row in sorted(placed, key=lambda r: (r[1].get("wall") or 0, r[0], r[1].get("line") or 0)):
        if row.get("topic") is None or row.get("queue") is None:
            continue
        told: dict[str, Any] = {name: row.get(name) for name in names}
        yield Position(
            at=moment(row, source, instant), topic=row["topic"], queue=row["queue"], source=source, text=text(row),
            **told,
        )  # fmt: skip
