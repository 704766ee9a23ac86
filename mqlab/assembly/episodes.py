"""From the rows that leave Spark to episodes, by time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mqlab.assembly.payloads import Row, moment, place
from mqlab.clocks.zones import Instant
from mqlab.facts import Episode


def episodes(rows: Sequence[Row], path: Callable[[Row], str], instant: Instant) -> tuple[Episode, ...]:
    """An episode for each row of thinned EVENTS; *path* gives the path that evidence cites."""
    return tuple(sorted((_episode(row, path(row), instant) for row in rows), key=_by_time))


def _episode(row: Row, path: str, instant: Instant) -> Episode:
    names = ("node", "client_id", "group", "topic", "queue", "peer", "reason", "value_min", "value_max",
             "member_id")  # fmt: skip
    return Episode(
        kind=row["kind"],
        source=path,
        count=row["count"],
        first_at=moment(row, path, instant, "first_at"),
        last_at=moment(row, path, instant, "last_at"),
        first=place(path, row["first"]),
        last=place(path, row["last"]),
        system=row.get("system") or "kafka",
        **{name: row.get(name) for name in names},
    )


def _by_time(episode: Episode) -> tuple[float, str, str, int]:
    return (episode.first_at or 0.0, episode.source, episode.kind, episode.first.line or 0)
