"""What the rows say of each log's clock, and the zones that follow: see ``clocks.settling`` for the order of proofs."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from mqlab.assembly.rows import MICRO, Row
from mqlab.clocks import settling
from mqlab.clocks.zones import WRITTEN, Zone, ruled, written
from mqlab.formats import exporters, kafka_broker_log
from mqlab.sources import Reading, Source

Rows = Mapping[str, Sequence[Row]]
Sources = Mapping[str, Source]
"""By link name, as rows name them."""

_SHARED_KINDS = frozenset(
    {"batch-split", "produce-retry", "record-too-large", "record-expired", "settings-printed",
     "membership-notified", "queues-allocated"}
)  # fmt: skip
_EPOCH_KINDS = frozenset({"client-start-time", "consumer-connected", "producer-connected", "subscription-versioned"})
"""Events whose value is their moment in epoch milliseconds."""
_MADE = ("client-created", "connection-made")
"""What a client says when it is about to connect, or has just done so."""
_JOINED = frozenset({"consumer-connected", "producer-connected"})
_MEMBERS = frozenset({"consumer-connected", "consumer-disconnected", "group-offline"})
"""What a RocketMQ broker tells at once to all clients of the group."""
_TROUBLE = frozenset(
    {"producer.batch_splits", "producer.record_retries", "producer.record_errors", "broker.bytes_rejected"}
)
"""Counters whose increase falls together with a line in the client's log."""
_COMPLETE = frozenset({"rebalance-stabilized", "join-completed"})
"""What a coordinator and each member say of the same generation of a group."""
_SLACK = 5.0
_START_UP = 45.0
"""Seconds within which a process that a supervisor started prints its settings."""


def settled(rows: Rows, sources: Sources, wanted: Sequence[tuple[str, str]]) -> Mapping[str, Zone]:
    """The zone of each log, by path; *wanted* are the user's (glob, zone) pairs."""
    anchors = sorted({*_increases(rows), *_starts(rows), *_memberships(rows, sources)})
    known = settling.settle(_clocks(rows, sources), anchors, _zoned_span(rows, sources), wanted)
    east = _written(rows, sources)
    return {path: written(east.get(path, 0)) if zone is WRITTEN else zone for path, zone in known.items()}


def _written(rows: Rows, sources: Sources) -> Mapping[str, int]:
    """Seconds east of UTC that most lines of each log write, by path."""
    found: dict[str, Counter[int]] = defaultdict(Counter)
    for row in rows["events"]:
        if row.get("offset") is not None:
            found[sources[row["source"]].path][row["offset"]] += 1
    return {path: min(told, key=lambda offset: (-told[offset], offset)) for path, told in found.items()}


def minute(text: str | None) -> float | None:
    """Seconds on the line's own clock at ``2026-11-21 12:18``; None where it is no moment."""
    if not text:
        return None
    try:
        return datetime.fromisoformat(text.replace("T", " ")).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _clocks(rows: Rows, sources: Sources) -> list[settling.Clock]:
    events: dict[str, list[Row]] = defaultdict(list)
    for row in rows["events"]:
        if row.get("first_at") is not None and row.get("offset") is None:
            events[row["source"]].append(row)
    minutes: dict[str, list[float]] = defaultdict(list)
    for row in rows["coverage"]:
        minutes[row["source"]] += [t for k in ("first_minute", "last_minute") if (t := minute(row.get(k)))]
    joined, complete = _joined(rows), _generations(rows)
    logs = [(link, s) for link, s in sources.items() if s.reading is Reading.LOG]
    return [
        _clock(source, events[link], minutes[link], joined, complete.get(link, ()))
        for link, source in sorted(logs, key=lambda s: s[1].path)
    ]


def _clock(
    source: Source,
    events: Sequence[Row],
    minutes: Sequence[float],
    joined: Mapping[str, set[float]],
    generations: tuple[tuple[str, float], ...],
) -> settling.Clock:
    ids = {row["client_id"] for row in events if row["kind"] in ("client-configured", *_MADE) and row.get("client_id")}
    own = next(iter(ids)) if len(ids) == 1 else ""
    seen = [*minutes, *(row[k] / MICRO for row in events for k in ("first_at", "last_at") if row.get(k) is not None)]
    return settling.Clock(
        source=source.path,
        written=source.zone_written,
        started=tuple(
            (row["first_at"] / MICRO, row["value_min"] / 1000)
            for row in events
            if row["kind"] in _EPOCH_KINDS and row.get("value_min")
        ),
        events=tuple(sorted({row["first_at"] / MICRO for row in events if row["kind"] in _SHARED_KINDS})),
        window=(min(seen), max(seen)) if seen else None,
        rule=source.zone_rule,
        met=tuple(
            (row["first_at"] / MICRO, tuple(sorted(joined[_client(row, own)])))
            for row in events
            if row["kind"] in _MADE and _client(row, own) in joined
        ),
        generations=generations,
        kin=source.path.rpartition("/")[0] if source.format == kafka_broker_log.FORMAT.name else None,
    )


def _joined(rows: Rows) -> Mapping[str, set[float]]:
    """Epoch seconds at which brokers saw each client id connect."""
    found: dict[str, set[float]] = defaultdict(set)
    for row in rows["events"]:
        if row["kind"] in _JOINED and row.get("client_id") and row.get("value_min"):
            found[row["client_id"]].add(row["value_min"] / 1000)
        if row["kind"] == "client-connected" and row.get("client_id") and row.get("offset") is not None:
            found[row["client_id"]].add(row["first_at"] / MICRO - row["offset"])
    return found


def _client(row: Row, own: str) -> str:
    """Whom the row is about: the client that it names, else the only one of its log."""
    return row.get("client_id") or own


def _generations(rows: Rows) -> Mapping[str, tuple[tuple[str, float], ...]]:
    """By link: (group and generation, on the log's clock) of lines that say that one is complete."""
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for row in rows["events"]:
        told = row["kind"] in _COMPLETE and row.get("group") and row.get("value_min") is not None
        if told and row.get("first_at") is not None:
            at = row["first_at"] / MICRO - (row.get("offset") or 0)
            found[row["source"]].append((f"{row['group']} {row['value_min']:.0f}", at))
    return {link: tuple(these) for link, these in found.items()}


def _increases(rows: Rows) -> Iterator[tuple[float, float]]:
    """When a counter of trouble rose between two samples."""
    for row in rows["metrics"]:
        labels = json.loads(row.get("labels") or "{}")
        if exporters.canonical(row["name"], labels) in _TROUBLE and row.get("offset") is not None:
            points = [(p["at"] / MICRO, p["value"]) for p in row["points"] if p.get("at") is not None]
            yield from ((one - _SLACK, two + _SLACK) for (one, v), (two, w) in pairwise(points) if w > v)


def _starts(rows: Rows) -> Iterator[tuple[float, float]]:
    """When supervisors that write their zone started a process."""
    for row in rows["events"]:
        if row["kind"] == "process-started" and row.get("offset") is not None and row.get("first_at") is not None:
            at = row["first_at"] / MICRO - row["offset"]
            yield at - _SLACK, at + _START_UP


def _memberships(rows: Rows, sources: Sources) -> Iterator[tuple[float, float]]:
    """When RocketMQ brokers whose layout fixes the zone saw a group change."""
    for row in rows["events"]:
        rule, wall = sources[row["source"]].zone_rule, row.get("first_at")
        if row["kind"] in _MEMBERS and rule and wall is not None and row.get("offset") is None:
            at = ruled(rule).instant(wall / MICRO)
            yield at - _SLACK, at + _SLACK


def _zoned_span(rows: Rows, sources: Sources) -> tuple[float, float] | None:
    moments = [s.snapshot_at for s in sources.values() if s.snapshot_at is not None]
    for row in rows["metrics"]:
        if row.get("offset") is not None:
            moments += [p["at"] / MICRO for p in (row["points"][0], row["points"][-1]) if p.get("at") is not None]
    return (min(moments), max(moments)) if moments else None
