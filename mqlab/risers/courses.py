"""What the material measures over time, as courses: events of clients and metrics; ledgers and logs besides.

Events are counted in equal pieces of the time that their source covers; counters become rates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from mqlab.facts import Episode, Facts, Series
from mqlab.findings import Evidence
from mqlab.models import onsets
from mqlab.mqtt.broker_lives import resumed
from mqlab.risers import ledgers
from mqlab.risers.rows import Course
from mqlab.units import number

PIECE = 5.0
"""Seconds in which events of clients are counted: a fight for an id makes one connection a second."""
_EVENTS = {"client-connected": "connects", "session-takeover": "takeovers", "connection-lost": "connections lost"}
_MOST = 50
"""Clients with most events of a kind; who causes a storm is among them."""
_FEW = 3
_COUNTERS = (
    "mqtt.messages_received", "mqtt.messages_sent", "mqtt.publish_received", "mqtt.publish_sent",
    "mqtt.publish_dropped", "mqtt.bytes_received", "mqtt.bytes_sent", "mqtt.queue_full_dropped", "mqtt.takeovers",
    "mqtt.publish_denied", "mqtt.quota_exceeded", "broker.bytes_in", "broker.bytes_out", "topic.end_offset",
)  # fmt: skip
_PRINTED = ("app.published", "app.acknowledged", "app.received", "app.failed")
_LEVELS = (
    "mqtt.stored_messages", "mqtt.stored_bytes", "mqtt.clients_connected", "mqtt.clients_disconnected",
    "mqtt.inflight_messages", "mqtt.heap_bytes", "process.resident_bytes",
)  # fmt: skip


def courses(facts: Facts) -> Iterator[Course]:
    """Every course, in a fixed order."""
    for kind, quantity in _EVENTS.items():
        yield from _events(facts, kind, quantity)
    for name in (*_COUNTERS, *_PRINTED):
        yield from (_rate(facts, s) for s in facts.named(name) if len(s.points) > 1)
    for name in _LEVELS:
        yield from (_level(facts, s) for s in facts.named(name) if s.points)
    yield from ledgers.courses(facts)


def _events(facts: Facts, kind: str, quantity: str) -> Iterator[Course]:
    """Events of each client that has most of them, and of all."""
    by_client: dict[str, list[Episode]] = defaultdict(list)
    told = [e for e in facts.of_kind(kind) if e.first_at is not None and e not in resumed(facts)]
    for episode in told:
        by_client[episode.client_id or ""].append(episode)
    often = sorted(by_client, key=lambda c: (-sum(e.count for e in by_client[c]), c))[:_MOST]
    spans = {c.source: (c.first_at, c.last_at) for c in facts.coverage}
    for client in sorted(often):
        if client and sum(e.count for e in by_client[client]) >= _FEW:
            yield _counted(quantity, client, by_client[client], spans)
    if len(by_client) > 1:
        yield _counted(quantity, "", told, spans)


def _counted(
    quantity: str, who: str, told: Sequence[Episode], spans: Mapping[str, tuple[float | None, float | None]]
) -> Course:
    """How many there were in each piece of the time that their log covers; pieces begin where the log begins."""
    moments = [e.first_at or 0.0 for e in told]
    covered = [span for e in told for span in [spans.get(e.source)] if span is not None]
    begin = min([*moments, *(first for first, _ in covered if first is not None)])
    end = max([*moments, *(last for _, last in covered if last is not None)])
    pieces = [0] * max(1, int((end - begin) // PIECE))
    places: dict[int, Evidence] = {}
    for episode in told:
        place = int(((episode.first_at or 0.0) - begin) // PIECE)
        if place < len(pieces):
            pieces[place] += episode.count
            places.setdefault(place, episode.first)
    points = tuple((begin + PIECE * (n + 1), float(many)) for n, many in enumerate(pieces))
    nowhere = told[0].first
    every = tuple(places.get(n, nowhere) for n in range(len(pieces)))
    return Course(quantity, who, f"in {PIECE:.0f} s", points, told[0].source, every, events=True)


def _rate(facts: Facts, series: Series) -> Course:
    unit = "B/s" if "bytes" in series.name else "/s"
    samples, places = _filled(facts, series)
    points = tuple(onsets.rates(samples))
    known = {at: place for (at, _), place in zip(samples, places, strict=True)}
    who = series.source if series.name in _PRINTED else _labels(series)
    return Course(series.name, who, unit, points, series.source, tuple(known[at] for at, _ in points))


def _level(facts: Facts, series: Series) -> Course:
    unit = "B" if "bytes" in series.name else ""
    points, places = _filled(facts, series)
    return Course(series.name, _labels(series), unit, points, series.source, places)


def _filled(facts: Facts, series: Series) -> tuple[tuple[tuple[float, float], ...], tuple[Evidence, ...]]:
    """Its samples; ``$SYS`` topics are published only when they change, so that the old value goes on between."""
    samples = _samples(series)
    if not series.original.startswith("$SYS"):
        return series.points, samples
    beside = (s for s in facts.series if s.source == series.source and s.original.startswith("$SYS"))
    points = tuple(onsets.level(series.points, sorted({at for s in beside for at, _ in s.points})))
    known = {at: place for (at, _), place in zip(series.points, samples, strict=True)}
    last = samples[0]
    return points, tuple(last := known.get(at, last) for at, _ in points)


def _samples(series: Series) -> tuple[Evidence, ...]:
    lines = series.lines or (None,) * len(series.points)
    return tuple(
        Evidence(series.source, line, f"{series.original} {number(value)}")
        for line, (_, value) in zip(lines, series.points, strict=True)
    )


def _labels(series: Series) -> str:
    wanted = ("topic", "partition", "group", "node", "instance")
    return " ".join(series.labels[name] for name in wanted if series.labels.get(name))
