"""Facts within a time, and about one group, topic or client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mqlab.facts import Facts, Series
from mqlab.rows import Coverage, Minute, Volume


def narrowed(
    facts: Facts, since: float | None, until: float | None, group: str | None, topic: str | None, client: str | None
) -> Facts:
    """*facts* within a time and about one group, topic or client; undated and unnamed rows stay."""

    def inside(at: float | None) -> bool:
        return at is None or ((since is None or at >= since) and (until is None or at <= until))

    def about(row_group: str | None, row_topic: str | None, row_client: str | None) -> bool:
        pairs = ((group, row_group), (topic, row_topic), (client, row_client))
        return all(wanted is None or value is None or value == wanted for wanted, value in pairs)

    if all(x is None for x in (since, until, group, topic, client)):
        return facts
    return replace(
        facts,
        episodes=tuple(e for e in facts.episodes if inside(e.first_at) and about(e.group, e.topic, e.client_id)),
        series=tuple(
            _cut(s, inside)
            for s in facts.series
            if about(s.labels.get("group"), s.labels.get("topic"), s.labels.get("client_id"))
        ),
        settings=tuple(s for s in facts.settings if s.at is None or until is None or s.at <= until),
        positions=tuple(p for p in facts.positions if inside(p.at) and about(p.group, p.topic, p.client_id)),
        clients=tuple(c for c in facts.clients if inside(c.at) and about(c.group, None, c.client_id)),
        assignments=tuple(a for a in facts.assignments if inside(a.at) and about(a.group, a.topic, a.client_id)),
        tallies=tuple(t for t in facts.tallies if inside(t.at) and about(None, t.topic, None)),
        deliveries=tuple(d for d in facts.deliveries if inside(d.at) and about(None, d.topic, None)),
        batches=tuple(b for b in facts.batches if inside(b.at) and about(b.group, None, b.client_id)),
        fates=tuple(f for f in facts.fates if inside(f.first_at) and about(None, f.topic or None, None)),
        parts=tuple(p for p in facts.parts if about(p.group, p.topic or None, None)),
        flows=tuple(f for f in facts.flows if inside(f.first_at)),
        topic_flows=tuple(f for f in facts.topic_flows if inside(f.first_at) and about(None, f.topic, None)),
        receipts=tuple(r for r in facts.receipts if inside(r.at)),
        shapes=tuple(s for s in facts.shapes if inside(s.first_at) or inside(s.last_at)),
        coverage=tuple(_cut_coverage(c, until) for c in facts.coverage),
        volumes=tuple(_volume_within(v, since, until) for v in facts.volumes),
    )


def _cut(series: Series, inside: Callable[[float | None], bool]) -> Series:
    chosen = [n for n, (at, _) in enumerate(series.points) if inside(at)]
    return replace(
        series,
        points=tuple(series.points[n] for n in chosen),
        lines=tuple(series.lines[n] for n in chosen) if series.lines else (),
    )


def _volume_within(volume: Volume, since: float | None, until: float | None) -> Volume:
    """The minutes that lie within the time as a whole, so that no rate is taken of a part of one."""

    def within(minutes: tuple[Minute, ...]) -> tuple[Minute, ...]:
        return tuple(m for m in minutes if (since is None or m.at >= since) and (until is None or m.at + 60 <= until))

    starts = [at for at in (volume.first_at, since) if at is not None]
    shapes = [replace(s, minutes=within(s.minutes)) for s in volume.shapes]
    return replace(
        volume,
        first_at=max(starts) if volume.first_at is not None else None,
        minutes=within(volume.minutes),
        shapes=tuple(s for s in shapes if s.minutes),
    )


def _cut_coverage(coverage: Coverage, until: float | None) -> Coverage:
    """A log that goes on is known up to then only."""
    if until is None or coverage.last_at is None or coverage.last_at <= until:
        return coverage
    return replace(coverage, last_at=until)
