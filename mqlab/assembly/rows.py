"""From the rows that leave Spark, by fact and with their sources, to episodes, positions, settings and series.

Positions come from exporters' series too: kafka_exporter, kafka-lag-exporter and Burrow's exporter count what was
committed; kminion counts lag, which it takes from the high watermark of the same scrape. An offset of -1 means that
nothing was committed.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median
from typing import Any

from mqlab.clocks import zones
from mqlab.clocks.zones import MICRO, Instant, Row
from mqlab.facts import Episode, Position, Series, Setting, span
from mqlab.findings import Evidence
from mqlab.formats import exporters
from mqlab.material.names import without_moment
from mqlab.models.mqtt import OWN_CLIENT
from mqlab.rows import LAGS
from mqlab.sources import Source
from mqlab.units import NO_DATE

Quoted = Mapping[tuple[str, int], str]
"""Lines that were read once more, by link and number."""
_ON_UTC = ("fates", "parts", "flows", "topic_flows")
"""Facts about messages, whose moments are in UTC."""
_SECOND = 1.0
"""Seconds up to which the last line may be later than what is known of it."""
_LONGEST = 500
"""Characters of a line that are kept."""


def seconds(row: Row, name: str) -> float | None:
    """The moment *name* of *row* in seconds, on whatever clock it is told; None where the row has none."""
    micros = row.get(name)
    return None if micros is None else micros / MICRO


def moment(row: Row, path: str, instant: Instant, name: str = "wall") -> float | None:
    """Epoch seconds of the moment *name*, which the log behind *path* tells on its own clock."""
    return instant(path, seconds(row, name), row.get("offset"))


def text(row: Row) -> str:
    """The line itself, cut to what a reader needs."""
    told: str = (row.get("text") or "").rstrip("\r")
    return told if len(told) <= _LONGEST else told[:_LONGEST] + "…"


def place(path: str, row: Row) -> Evidence:
    """The line that *row* tells."""
    return Evidence(path, row.get("line"), text(row))


def cited(link: str, number: int, paths: Mapping[str, str], quoted: Quoted) -> Evidence:
    """A line that was read once more; without text where it could not be."""
    return Evidence(paths[link], number, quoted.get((link, number), ""))


@dataclass(frozen=True)
class Gathered:
    """Payloads by fact, with the sources they came from."""

    rows: Mapping[str, Sequence[Row]]
    sources: Mapping[str, Source]
    """By link name."""
    dateless: frozenset[str] = frozenset()
    """Logs whose lines show the time only."""

    @classmethod
    def of(cls, collected: Iterable[tuple[str, str]], sources: Sequence[Source]) -> Gathered:
        """Sort the (fact, payload) rows that Spark collected."""
        known = {s.link: s for s in sources}
        read = [(fact, payload, json.loads(payload)) for fact, payload in collected]
        rows: dict[str, list[Row]] = defaultdict(list)
        for fact, _, row in sorted(read, key=lambda r: (r[0], known[r[2]["source"]].path, r[1])):
            rows[fact].append(row)
        return cls(defaultdict(list, zones.dated(rows, known)), known, frozenset(zones.marked(rows, NO_DATE)))

    @property
    def paths(self) -> Mapping[str, str]:
        """The path that evidence cites, by link name."""
        return {link: source.path for link, source in self.sources.items()}

    def path(self, row: Row) -> str:
        """The path that evidence cites."""
        return self.sources[row["source"]].path

    def dated(self, instant: Instant) -> tuple[float | None, float | None]:
        """What all that has a date covers, to the second."""
        dated = [row for row in self.rows["coverage"] if row["source"] not in self.dateless]
        times = [
            instant(self.path(row), zones.minute(row.get(name)), None)
            for row in dated for name in ("first_second", "last_second")
        ]  # fmt: skip
        times += [source.snapshot_at for source in self.sources.values()]
        times += [
            instant(self.path(row), seconds(point, "at"), row.get("offset"))
            for row in self.rows["metrics"] for point in row["points"]
        ]  # fmt: skip
        times += [seconds(row, name) for fact in _ON_UTC for row in self.rows[fact] for name in ("first_at", "last_at")]
        first, last = span(times)
        return first, None if last is None else last + _SECOND


def episodes(rows: Sequence[Row], path: Callable[[Row], str], instant: Instant) -> tuple[Episode, ...]:
    """An episode for each row of thinned EVENTS; *path* gives the path that evidence cites.

    What tells of the client with which mqlab itself read a broker's counters is no part of an incident.
    """
    others = (row for row in rows if not OWN_CLIENT.fullmatch(row.get("client_id") or ""))
    return tuple(sorted((_episode(row, path(row), instant) for row in others), key=_by_time))


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


_UNDATED = datetime(NO_DATE, 1, 1, tzinfo=UTC).timestamp()
"""Where a sample stands that nothing dates, if its level alone tells something."""


def series(rows: Sequence[Row], path: Callable[[Row], str], instant: Instant) -> tuple[Series, ...]:
    """A series for each canonical name, set of labels and source; of samples without a moment those of LAGS only.

    Files that each tell of another time of one exporter (``_scraped``) are one source.
    """
    found: dict[tuple[str, str, str, str], list[tuple[float, float, int | None, str]]] = defaultdict(list)
    first = _scraped(rows, path, instant)
    for row in rows:
        written = json.loads(row.get("labels") or "{}")
        canonical = row["name"] if row["name"].startswith("app.") else exporters.canonical(row["name"], written)
        if canonical is None:
            continue
        source = path(row)
        labels = exporters.labels_of(canonical, row["name"], written)
        key = (canonical, json.dumps(labels, sort_keys=True), first.get(source, source), row["name"])
        factor = exporters.factor(canonical, row["name"])
        for point in row["points"]:
            at = instant(source, seconds(point, "at"), row.get("offset"))
            if at is None and canonical in LAGS:
                at = _UNDATED
            if at is not None:
                found[key].append((at, point["value"] * factor, point.get("line"), source))
    for points in found.values():
        points.sort(key=lambda point: (point[0], point[2] or 0))
    return tuple(
        Series(
            name,
            original,
            json.loads(labels),
            source,
            tuple((at, value) for at, value, _, _ in points),
            tuple(line for _, _, line, _ in points),
            exporters.factor(name, original),
            tuple(path for *_, path in points) if source in first else (),
        )
        for (name, labels, source, original), points in sorted(found.items())
    )


_BOOT = 1.0
"""Seconds by which the start of one process may seem to move: Linux counts it from a boot time in whole seconds."""


def _scraped(rows: Sequence[Row], path: Callable[[Row], str], instant: Instant) -> Mapping[str, str]:
    """For each file with a part of what one exporter or broker told, the path of the first.

    Their names differ by their moment only, each tells of a time of its own, and the process was never an older one
    than before: files of two exporters, read in turn, are not taken for one.
    """
    moments: dict[str, set[float | None]] = defaultdict(set)
    begun: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        source = path(row)
        moments[source] |= {instant(source, seconds(point, "at"), row.get("offset")) for point in row["points"]}
        if exporters.canonical(row["name"]) == "process.start_time":
            begun[row["name"] + (row.get("labels") or "")][source] = row["points"][-1]["value"]
    alike: dict[str, list[tuple[float, float, str]]] = defaultdict(list)
    for source, told in moments.items():
        known_at = [at for at in told if at is not None]
        if known_at and len(known_at) == len(told):
            alike[without_moment(source)].append((min(known_at), max(known_at), source))
    found: dict[str, str] = {}
    for scrapes in map(sorted, alike.values()):
        paths = [source for *_, source in scrapes]
        starts = [[known[source] for source in paths if source in known] for known in begun.values()]
        older = any(later < start - _BOOT for own in starts for start, later in pairwise(own))
        apart = all(ended < begins for (_, ended, _), (begins, *_) in pairwise(scrapes))
        if len(scrapes) > 1 and apart and not older:
            found |= dict.fromkeys(paths, paths[0])
    return found


_Place = tuple[str, ...]
"""Cluster, instance, topic and partition: an exporter tells of its own cluster."""
_Points = Sequence[tuple[float, float]]


def exported_positions(series: Sequence[Series]) -> Iterator[Position]:
    """A position for each scrape that tells what a group had committed in a partition.

    The end is that of the same scrape, or of the scrape before, where an exporter is asked for one metric after the
    other; it is None where there is none.
    """
    ends, starts = _by_place(series, "topic.end_offset"), _by_place(series, "topic.start_offset")
    for row in series:
        place, group = _place(row), row.labels.get("group")
        lagging = row.name == "group.lag" and row.original.startswith("kminion_")
        if not (group and place[2] and place[3] and (lagging or row.name == "group.committed_offset")):
            continue
        steps = [later - at for (at, _), (later, _) in pairwise(row.points)]
        scrape = median(steps) if steps else 0.0
        for number, (at, value) in enumerate(row.points):
            end = _before(ends.get(place, ()), at, 0.0 if lagging else scrape)
            committed = int(value) if value >= 0 else None
            if lagging:
                if end is None or committed is None:
                    continue
                committed = end - committed
            start = _before(starts.get(place, ()), at, scrape)
            yield _position(row, number, group, committed, end, start)


def _place(series: Series) -> _Place:
    labels = series.labels
    cluster = labels.get("cluster") or labels.get("cluster_name") or ""
    return cluster, *(labels.get(name) or "" for name in ("instance", "topic", "partition"))


def _by_place(series: Sequence[Series], name: str) -> Mapping[_Place, _Points]:
    points: dict[_Place, list[tuple[float, float]]] = defaultdict(list)
    for row in series:
        if row.name == name:
            points[_place(row)] += row.points
    return {place: sorted(these) for place, these in points.items()}


def _before(points: _Points, at: float, within: float) -> int | None:
    """The offset at *at*, or the last one of no more than *within* seconds before."""
    place = bisect_right(points, at, key=lambda point: point[0]) - 1
    if place < 0 or points[place][0] < at - within or points[place][1] < 0:
        return None
    return int(points[place][1])


def _position(
    row: Series, number: int, group: str, committed: int | None, end: int | None, start: int | None
) -> Position:
    (at, value), labels, (source, line) = row.points[number], row.labels, row.place(number)
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
        source=source,
        line=line,
        text=f"{row.original}{{{', '.join(f'{key}={labels[key]}' for key in sorted(labels))}}} {value:.0f}"[:_LONGEST],
    )
