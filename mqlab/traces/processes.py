"""Processes that start anew or stand still, and partitions that change hands though no consumer did either."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from mqlab.facts import Facts, Series
from mqlab.findings import Evidence
from mqlab.marks import Mark, say
from mqlab.traces.marking import mark

_SETTLES = 60.0
"""Seconds around a start or stop of a consumer in which partitions change hands for it."""
_PAUSE = 2.0
"""Seconds of one stop of a process from which it is no ordinary collection."""
_BESIDE = re.compile("cycle|concurrent", re.IGNORECASE)
"""How collectors are called that run beside the application."""
_SHARE = 0.2
"""Share of the time that stops take from which a process hardly runs."""


def restarts(facts: Facts) -> Iterator[Mark]:
    """Processes that started anew, and partitions that changed hands while no consumer did."""
    consumers = {s.labels.get("instance") for s in facts.series if s.name.startswith("consumer.")} - {None}
    brokers = {s.labels.get("instance") for s in facts.series if s.name.startswith("broker.")} - {None}
    started = {s.labels.get("instance"): s for s in facts.named("process.start_time") if s.points}
    moving: list[tuple[float, float]] = []
    for kind, instances in (("process-started-anew", consumers), ("broker-started-anew", brokers)):
        again = {
            name: [(a, b, n + 1) for n, ((a, v), (b, w)) in enumerate(pairwise(series.points)) if w - v > 1.0]
            for name, series in started.items()
            if name in instances
        }
        if instances is consumers:
            moving = [(a, b) for found in again.values() for a, b, _ in found]
            moving += [
                (one.points[edge][0], one.points[edge][0])
                for name, one in started.items()
                if name in instances
                for edge in (0, -1)
            ]
        told = [
            (
                at,
                Evidence(
                    *started[name].place(n), f"{started[name].original} {started[name].points[n][1]:g}", pointer=name
                ),
            )
            for name, found in again.items()
            for _, at, n in found
        ]
        names = sorted(name or "" for name, found in again.items() if found)
        each = len(again) > 1 and len({len(found) for found in again.values()}) == 1
        several = len(names) > 1 and instances is consumers
        if told and (each or len(told) > 1 or instances is brokers):
            yield mark(f"{kind}{': each' if each else ': several' if several else ''}", told, names)
    if consumers & started.keys():
        yield from _handed_over(facts, moving)


def _handed_over(facts: Facts, moving: Sequence[tuple[float, float]]) -> Iterator[Mark]:
    """Partitions that members got or gave while none of them started or stopped."""
    told: list[tuple[float | None, Evidence]] = []
    for series in facts.named("consumer.assigned_partitions"):
        for number, (before, after) in enumerate(pairwise(series.points), start=1):
            near = any(a - _SETTLES <= after[0] and before[0] <= b + _SETTLES for a, b in moving)
            if after[1] != before[1] and not near:
                source, line = series.place(number)
                text = f"{series.original} {after[1]:g}"
                told.append((after[0], Evidence(source, line, text, pointer=series.labels.get("client_id"))))
    if len(told) > 1:
        yield mark("handed-over", told, sorted({place.pointer or "?" for _, place in told}))


def pauses(facts: Facts) -> Iterator[Mark]:
    """Processes that stood for seconds: collections of the JVM that stop everything."""
    told = [
        (e.first_at, e.first, e.value_max or 0.0) for e in facts.of_kind("gc-pause") if (e.value_max or 0.0) >= _PAUSE
    ]
    for series in facts.named("jvm.gc_last_pause_seconds"):
        told += _samples(series, [(n, v) for n, (_, v) in enumerate(series.points) if v >= _PAUSE])
    for series in facts.named("jvm.gc_seconds"):
        if _BESIDE.search(series.labels.get("gc", "")):
            continue
        steps = [(n, b[1] - a[1], b[0] - a[0]) for n, (a, b) in enumerate(pairwise(series.points), start=1)]
        told += _samples(series, [(n, rose) for n, rose, passed in steps if rose >= max(_PAUSE, _SHARE * passed)])
    if told:
        places = [(at, place) for at, place, _ in told]
        longest = max(seconds for _, _, seconds in told)
        files = sorted({place.source for _, place in places})
        yield mark("long-pauses", places, say("longest", files=files, longest=longest))


def _samples(series: Series, chosen: Iterable[tuple[int, float]]) -> list[tuple[float, Evidence, float]]:
    found = []
    for number, value in chosen:
        source, line = series.place(number)
        place = Evidence(
            source, line, f"{series.original} {series.points[number][1]:g}", pointer=series.labels.get("instance")
        )
        found.append((series.points[number][0], place, value))
    return found


def fenced(facts: Facts) -> Iterator[Mark]:
    """Brokers that KRaft's controller fenced, by their own log: heartbeats that failed before it, or only after."""
    lost = facts.of_kind("error:kraft-heartbeat-lost")
    for kind, is_cut_off in (("broker-fenced: cut off", True), ("broker-fenced: silent", False)):
        told = []
        for fencing in facts.of_kind("broker-fenced"):
            name, at = f"id={fencing.value_min or 0.0:.0f}]", fencing.first_at or 0.0
            own = [e.first_at for e in lost if name in e.first.text and abs((e.first_at or 0.0) - at) <= _SETTLES]
            if own and any((when or 0.0) < at for when in own) is is_cut_off:
                told.append((fencing.first_at, fencing.first))
        if told:
            yield mark(kind, told, sorted({place.source for _, place in told}))
