"""Positions from what exporters count: committed offsets beside the offsets of the partitions.

kafka_exporter, kafka-lag-exporter and Burrow's exporter count what was committed; kminion counts lag, which it takes
from the high watermark of the same scrape. An offset of -1 means that nothing was committed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median

from mqlab.facts import Position, Series

COMMITTED, LAG, END, START = "group.committed_offset", "group.lag", "topic.end_offset", "topic.start_offset"
KMINION = "kminion_"
"""How the names of the exporter begin that counts lag only."""

Place = tuple[str, str, str, str]
"""Cluster, instance, topic and partition: an exporter tells of its own cluster."""


def positions(series: Sequence[Series]) -> Iterator[Position]:
    """A position for each scrape that tells what a group had committed in a partition.

    The end is that of the same scrape, or of the scrape before, where an exporter is asked for one metric after the
    other; it is None where there is none.
    """
    ends, starts = _by_place(series, END), _by_place(series, START)
    for one in series:
        place, group = _place(one), one.labels.get("group")
        if not (group and place[2] and place[3]):
            continue
        if one.name == COMMITTED:
            yield from _committed(one, group, ends.get(place), starts.get(place))
        elif one.name == LAG and one.original.startswith(KMINION):
            yield from _lagging(one, group, ends.get(place), starts.get(place))


def _place(series: Series) -> Place:
    labels = series.labels
    return (
        labels.get("cluster") or labels.get("cluster_name") or "",
        labels.get("instance") or "",
        labels.get("topic") or "",
        labels.get("partition") or "",
    )


def _by_place(series: Sequence[Series], name: str) -> Mapping[Place, Sequence[tuple[float, float]]]:
    found: dict[Place, list[tuple[float, float]]] = defaultdict(list)
    for one in series:
        if one.name == name:
            found[_place(one)] += one.points
    return {place: sorted(points) for place, points in found.items()}


def _committed(
    one: Series, group: str, ends: Sequence[tuple[float, float]] | None, starts: Sequence[tuple[float, float]] | None
) -> Iterator[Position]:
    within = _interval(one.points)
    for place, (at, value) in enumerate(one.points):
        committed = int(value) if value >= 0 else None
        yield _position(one, place, group, (committed, _before(ends, at, within), _before(starts, at, within)))


def _lagging(
    one: Series, group: str, ends: Sequence[tuple[float, float]] | None, starts: Sequence[tuple[float, float]] | None
) -> Iterator[Position]:
    within = _interval(one.points)
    for place, (at, value) in enumerate(one.points):
        end = _before(ends, at, 0.0)
        if end is not None and value >= 0:
            yield _position(one, place, group, (end - int(value), end, _before(starts, at, within)))


def _interval(points: Sequence[tuple[float, float]]) -> float:
    """The usual time between two scrapes, in seconds; 0 for one scrape."""
    return median(later - one for (one, _), (later, _) in pairwise(points)) if len(points) > 1 else 0.0


def _before(points: Sequence[tuple[float, float]] | None, at: float, within: float) -> int | None:
    """The offset at *at*, or the last one of no more than *within* seconds before."""
    place = bisect_right(points, at, key=lambda point: point[0]) - 1 if points else -1
    if not points or place < 0 or points[place][0] < at - within or points[place][1] < 0:
        return None
    return int(points[place][1])


def _position(one: Series, place: int, group: str, offsets: tuple[int | None, int | None, int | None]) -> Position:
    committed, end, start = offsets
    at, value = one.points[place]
    labels = one.labels
    return Position(
        at=at,
        group=group,
        topic=labels["topic"],
        queue=labels["partition"],
        committed=committed,
        end=end,
        start=start,
        client_id=labels.get("client_id") or None,
        member_id=labels.get("consumer_id") or None,
        peer=(labels.get("member_host") or "").removeprefix("/") or None,
        source=one.source,
        line=one.lines[place] if one.lines else None,
        text=f"{one.original}{{{', '.join(f'{key}={labels[key]}' for key in sorted(labels))}}} {value:.0f}"[:500],
    )
