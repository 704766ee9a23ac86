"""Facts within a time, and about one group, topic or client."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain
from typing import Any

from mqlab.errors import MqlabError
from mqlab.facts import Facts, Series
from mqlab.rows import Coverage, Minute, Volume

_BY_TIME = (
    "episodes", "positions", "clients", "assignments", "tallies", "deliveries", "batches", "fates", "flows",
    "topic_flows", "receipts",
)  # fmt: skip
"""Rows that belong to a moment, and to a group, topic or client where they name one."""


_NAMES = {"group": "group", "topic": "topic", "client_id": "client"}
"""Columns and labels that name what rows are about, and what users call them."""
_SHOWN = 8


class AbsentError(MqlabError):
    """What was asked for occurs nowhere in the material."""

    def __init__(self, what: str, asked: str, there: Collection[str]) -> None:
        near = [*get_close_matches(asked, there, _SHOWN), *sorted(there)]
        listed = [*dict.fromkeys(near)]
        more = f" and {len(listed) - _SHOWN} more" if listed[_SHOWN:] else ""
        known = (
            f"Those that do: {', '.join(listed[:_SHOWN])}{more}." if there else f"The material names no {what} at all."
        )
        super().__init__(f"The {what} {asked!r} does not occur in the material. {known}")


def narrowed(
    facts: Facts, since: float | None, until: float | None, group: str | None, topic: str | None, client: str | None
) -> Facts:
    """*facts* within a time and about one group, topic or client; undated and unnamed rows stay.

    Raises:
        AbsentError: the group, topic or client occurs nowhere in the material.
    """
    wanted = (group, topic, client)
    for name, asked in zip(_NAMES, wanted, strict=True):
        if asked is not None and asked not in (there := _named(facts, name)):
            raise AbsentError(_NAMES[name], asked, there)

    def inside(at: float | None) -> bool:
        return at is None or ((since is None or at >= since) and (until is None or at <= until))

    def about(row: object) -> bool:
        return _agrees(wanted, (getattr(row, name, None) for name in _NAMES))

    if all(x is None for x in (since, until, *wanted)):
        return facts
    kept = {name: tuple(row for row in getattr(facts, name) if inside(_at(row)) and about(row)) for name in _BY_TIME}
    return replace(
        facts,
        **kept,
        series=tuple(_cut(s, inside) for s in facts.series if _agrees(wanted, (s.labels.get(name) for name in _NAMES))),
        settings=tuple(s for s in facts.settings if s.at is None or until is None or s.at <= until),
        parts=tuple(p for p in facts.parts if about(p)),
        shapes=tuple(s for s in facts.shapes if inside(s.first_at) or inside(s.last_at)),
        coverage=tuple(_cut_coverage(c, until) for c in facts.coverage),
        volumes=tuple(_volume_within(v, since, until) for v in facts.volumes),
        whole=facts.whole and since is None and until is None,
    )


def _named(facts: Facts, name: str) -> set[str]:
    """All groups, topics or clients that rows, series and settings name."""
    rows = chain.from_iterable(getattr(facts, kind) for kind in (*_BY_TIME, "parts"))
    found = {getattr(row, name, None) for row in rows} | {series.labels.get(name) for series in facts.series}
    scopes = {"topic": ("topic",), "client_id": ("producer", "consumer")}.get(name, ())
    found |= {setting.owner for setting in facts.settings if setting.scope in scopes}
    return {value for value in found if value}


def _at(row: Any) -> float | None:
    at: float | None = row.at if hasattr(row, "at") else row.first_at
    return at


def _agrees(wanted: Iterable[str | None], named: Iterable[str | None]) -> bool:
    return all(asked is None or not name or name == asked for asked, name in zip(wanted, named, strict=True))


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
