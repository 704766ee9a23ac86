"""From the rows that leave Spark to settings, by source and line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mqlab.assembly.payloads import Row, moment, text
from mqlab.clocks.zones import Instant
from mqlab.facts import Setting


def settings(rows: Sequence[Row], path: Callable[[Row], str], instant: Instant) -> Iterator[Setting]:
    """A setting for each row of thinned SETTINGS that has a key."""
    placed = [(path(row), row) for row in rows]
    for source, row in sorted(placed, key=lambda r: (r[0], r[1].get("line") or 0, r[1]["key"] or "")):
        if row["key"] is None:
            continue
        yield Setting(
            key=row["key"],
            value=row.get("value") or "",
            scope=row.get("scope") or "application",
            owner=row.get("owner"),
            origin=row.get("origin") or "file",
            at=moment(row, source, instant),
            source=source,
            line=row.get("line"),
            text=text(row),
            version=row.get("version"),
        )
