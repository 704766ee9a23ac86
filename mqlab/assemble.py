"""From the rows that leave Spark to Facts: clocks settled, names canonical, everything sorted."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mqlab.assembly import clocks, exported_positions, flows, groups, messages, volumes
from mqlab.assembly.clocks import minute
from mqlab.clocks import offsets, years, zones
from mqlab.facts import Episode, Facts, Position, Series, Setting
from mqlab.findings import Evidence
from mqlab.loaders import metric_names
from mqlab.rows.coverage import Coverage, Reject
from mqlab.rows.lines import Shape
from mqlab.sources import Source

Row = Mapping[str, Any]
_MICRO = 1_000_000


@dataclass(frozen=True)
class Gathered:
    """Payloads by fact, with the sources they came from."""

    rows: Mapping[str, Sequence[Row]]
    sources: Mapping[str, Source]
    """By link name."""

    @classmethod
    def of(cls, collected: Iterable[tuple[str, str]], sources: Sequence[Source]) -> Gathered:
        """Sort the (fact, payload) rows that Spark collected."""
        known = {s.link: s for s in sources}
        read = [(fact, payload, json.loads(payload)) for fact, payload in collected]
        rows: dict[str, list[Row]] = defaultdict(list)
        for fact, _, row in sorted(read, key=lambda r: (r[0], known[r[2]["source"]].path, r[1])):
            rows[fact].append(row)
        return cls(defaultdict(list, years.dated(rows, known)), known)

    @property
    def paths(self) -> Mapping[str, str]:
        """The path that evidence cites, by link name."""
        return {link: source.path for link, source in self.sources.items()}

    def path(self, row: Row) -> str:
        """The path that evidence cites."""
        return self.sources[row["source"]].path


def assemble(gathered: Gathered, wanted: Sequence[tuple[str, str]] = ()) -> Facts:
    """Facts in UTC; *wanted* are the user's (glob, zone) pairs."""
    settled = clocks.settled(gathered.rows, gathered.sources, wanted)
    instant = zones.instants(settled)
    series = _series(gathered, instant)
    quoted = {(r["source"], r["line"]): r["text"] for r in gathered.rows["quoted"]}
    facts = Facts(
        episodes=tuple(sorted((_episode(gathered, r, instant) for r in gathered.rows["events"]), key=_by_time)),
        series=series,
        settings=tuple(_settings(gathered, instant)),
        positions=(*_positions(gathered, instant), *exported_positions.positions(series)),
        clients=tuple(groups.clients(gathered.rows["clients"], gathered.path, instant)),
        assignments=tuple(groups.assignments(gathered.rows["assignments"], gathered.path, instant)),
        tallies=tuple(groups.tallies(gathered.rows["tallies"], gathered.path)),
        batches=tuple(groups.batches(gathered.rows["batches"], _names(gathered), gathered.path, instant)),
        deliveries=tuple(groups.deliveries(gathered.rows["deliveries"], gathered.paths)),
        fates=tuple(messages.fates(gathered.rows["fates"], gathered.paths, quoted)),
        parts=tuple(messages.parts(gathered.rows["parts"], gathered.paths, quoted)),
        flows=tuple(flows.flows(gathered.rows["flows"], gathered.paths, quoted)),
        topic_flows=tuple(flows.topic_flows(gathered.rows["topic_flows"], gathered.paths, quoted)),
        receipts=tuple(flows.receipts(gathered.rows["receipts"], gathered.paths, quoted)),
        passages=tuple(flows.passages(gathered.rows["passages"], gathered.paths)),
        shapes=tuple(_shapes(gathered, instant)),
        rejects=tuple(_rejects(gathered)),
        coverage=tuple(_coverage(gathered, settled, instant)),
        volumes=tuple(volumes.volumes(gathered.rows["log"], gathered.rows["quoted"], gathered.path, instant, minute)),
    )
    return offsets.corrected(messages.titled(facts))


def _names(gathered: Gathered) -> Mapping[str, Mapping[str, str | None]]:
    """The client and the group of each link that names only one, in its lines or in printed settings.

    A producer beside a consumer does not count: records are worked off by who is in a group.
    """
    keys = {"client.id": "client_id", "group.id": "group"}
    rows = [(r["source"], n, r.get(n), bool(r.get("group"))) for r in gathered.rows["events"] for n in keys.values()]
    rows += [
        (r["source"], keys[r["key"]], r.get("value"), r.get("scope") == "consumer")
        for r in gathered.rows["settings"]
        if r["key"] in keys
    ]
    told: dict[tuple[str, str, bool], set[str]] = defaultdict(set)
    for source, name, value, consumer in rows:
        if value:
            told[source, name, consumer].add(value)
    links = sorted({source for source, _, _ in told})
    return {link: {name: _only(told, link, name) for name in keys.values()} for link in links}


def _only(told: Mapping[tuple[str, str, bool], set[str]], link: str, name: str) -> str | None:
    values = told.get((link, name, True)) or told.get((link, name, False), set())
    return next(iter(values)) if len(values) == 1 else None


def _by_time(episode: Episode) -> tuple[float, str, str, int]:
    return (episode.first_at or 0.0, episode.source, episode.kind, episode.first.line or 0)


def _seconds(micros: Any) -> float | None:
    return None if micros is None else micros / _MICRO


def _episode(gathered: Gathered, row: Row, instant: zones.Instant) -> Episode:
    path, offset = gathered.path(row), row.get("offset")
    names = ("node", "client_id", "group", "topic", "queue", "peer", "reason", "value_min", "value_max",
             "member_id")  # fmt: skip
    return Episode(
        kind=row["kind"],
        source=path,
        count=row["count"],
        first_at=instant(path, _seconds(row.get("first_at")), offset),
        last_at=instant(path, _seconds(row.get("last_at")), offset),
        first=_place(path, row["first"]),
        last=_place(path, row["last"]),
        system=row.get("system") or "kafka",
        **{name: row.get(name) for name in names},
    )


def _place(path: str, place: Row) -> Evidence:
    text = (place.get("text") or "").rstrip("\r")
    return Evidence(path, place.get("line"), text if len(text) <= 500 else text[:500] + "…")


def _series(gathered: Gathered, instant: zones.Instant) -> tuple[Series, ...]:
    found: dict[tuple[str, str, str, str], list[tuple[float, float, int | None]]] = defaultdict(list)
    for row in gathered.rows["metrics"]:
        written = json.loads(row.get("labels") or "{}")
        canonical = row["name"] if row["name"].startswith("app.") else metric_names.canonical(row["name"], written)
        if canonical is None:
            continue
        path = gathered.path(row)
        labels = metric_names.labels_of(canonical, row["name"], written)
        key = (canonical, json.dumps(labels, sort_keys=True), path, row["name"])
        factor = metric_names.factor(canonical, row["name"])
        for point in row["points"]:
            at = instant(path, _seconds(point.get("at")), row.get("offset"))
            if at is not None:
                found[key].append((at, point["value"] * factor, point.get("line")))
    return tuple(
        Series(
            name,
            original,
            json.loads(labels),
            path,
            tuple((at, value) for at, value, _ in sorted(points, key=lambda p: (p[0], p[2] or 0))),
            tuple(line for _, _, line in sorted(points, key=lambda p: (p[0], p[2] or 0))),
            metric_names.factor(name, original),
        )
        for (name, labels, path, original), points in sorted(found.items())
    )


def _settings(gathered: Gathered, instant: zones.Instant) -> Iterable[Setting]:
    rows = [(gathered.path(row), row) for row in gathered.rows["settings"]]
    for path, row in sorted(rows, key=lambda r: (r[0], r[1].get("line") or 0, r[1]["key"] or "")):
        if row["key"] is None:
            continue
        yield Setting(
            key=row["key"],
            value=row.get("value") or "",
            scope=row.get("scope") or "application",
            owner=row.get("owner"),
            origin=row.get("origin") or "file",
            at=instant(path, _seconds(row.get("wall")), row.get("offset")),
            source=path,
            line=row.get("line"),
            text=_place(path, row).text,
            version=row.get("version"),
        )


def _positions(gathered: Gathered, instant: zones.Instant) -> Iterable[Position]:
    names = ("group", "committed", "end", "start", "client_id", "member_id", "peer", "line")
    rows = [(gathered.path(row), row) for row in gathered.rows["positions"]]
    for path, row in sorted(rows, key=lambda r: (r[1].get("wall") or 0, r[0], r[1].get("line") or 0)):
        if row.get("topic") is None or row.get("queue") is None:
            continue
        at = instant(path, _seconds(row.get("wall")), row.get("offset"))
        told: dict[str, Any] = {name: row.get(name) for name in names}
        text = _place(path, row).text
        yield Position(at=at, topic=row["topic"], queue=row["queue"], source=path, text=text, **told)


def _shapes(gathered: Gathered, instant: zones.Instant) -> Iterable[Shape]:
    rows = [(gathered.path(row), row) for row in gathered.rows["volume"]]
    for path, row in sorted(rows, key=lambda r: (r[0], r[1]["line"], r[1]["shape"])):
        first, last = minute(row.get("first_minute")), minute(row.get("last_minute"))
        yield Shape(
            path, row.get("level"), row["shape"].rstrip("\r"), row["lines"], row["bytes"],
            instant(path, first, None), instant(path, last, None), row["line"],
        )  # fmt: skip


def _rejects(gathered: Gathered) -> Iterable[Reject]:
    for row in gathered.rows["coverage"]:
        source = gathered.sources[row["source"]]
        if row.get("class") is not None:
            continue
        sample = row.get("sample") or {}
        reason = source.format if source.format in ("unrecognised", "binary") else f"not understood as {source.format}"
        yield Reject(
            source.path, reason, _lines(source, row), row["bytes"], (sample.get("text") or "")[:200], sample.get("line")
        )
    for source in gathered.sources.values():
        if source.format == "unreadable":
            yield Reject(source.path, f"unreadable: {source.problem}", 0, source.size, "")


def _lines(source: Source, row: Row) -> int:
    """Lines that *row* counts; what is between two line feeds of a binary file is no line."""
    return 0 if source.format == "binary" else int(row["lines"])


def _coverage(gathered: Gathered, settled: Mapping[str, zones.Zone], instant: zones.Instant) -> Iterable[Coverage]:
    by_path: dict[str, dict[str | None, Row]] = defaultdict(dict)
    for row in gathered.rows["coverage"]:
        by_path[gathered.path(row)][row.get("class")] = row
    for source in sorted(gathered.sources.values(), key=lambda s: s.path):
        rows = by_path.get(source.path, {})
        lines = {name: _lines(source, rows[name]) if name in rows else 0 for name in ("data", "noise", None)}
        zone = settled.get(source.path, zones.ASSUMED)
        firsts = [minute(r.get("first_minute")) for r in rows.values() if r.get("first_minute")]
        lasts = [minute(r.get("last_minute")) for r in rows.values() if r.get("last_minute")]
        yield Coverage(
            source.path,
            source.format,
            sum(lines.values()),
            sum(r["bytes"] for r in rows.values()),
            lines["data"],
            lines["noise"],
            lines[None],
            zone.label,
            zone.why,
            instant(source.path, min((t for t in firsts if t is not None), default=None), None),
            instant(source.path, max((t for t in lasts if t is not None), default=None), None),
            source.problem,
        )
