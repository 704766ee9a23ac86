"""Facts of sources whose clock is off, moved onto the clock of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from mqlab.facts import Episode, Facts, Series
from mqlab.rows.coverage import Coverage
from mqlab.rows.lines import Shape
from mqlab.rows.mqtt import Flow, Passage, Receipt, TopicFlow

_Span = TypeVar("_Span", Shape, Coverage)
_Flow = TypeVar("_Flow", Flow, TopicFlow)


def shifted(facts: Facts, by: Mapping[str, float]) -> Facts:
    """*facts* with the moments of each source in *by* moved by its seconds; other sources stay as they are.

    Logs of clients and ledgers of MQTT messages are moved, and what passed between two ledgers takes the difference.
    """
    return replace(
        facts,
        episodes=tuple(sorted((_episode(e, by) for e in facts.episodes), key=_by_time)),
        series=tuple(_series(s, by) for s in facts.series),
        shapes=tuple(_span(s, by) for s in facts.shapes),
        coverage=tuple(_span(c, by) for c in facts.coverage),
        flows=tuple(_flow(f, by) for f in facts.flows),
        topic_flows=tuple(_flow(f, by) for f in facts.topic_flows),
        receipts=tuple(_receipt(r, by) for r in facts.receipts),
        passages=tuple(_passage(p, by) for p in facts.passages),
    )


def _by_time(episode: Episode) -> tuple[float, str, str, int]:
    return (episode.first_at or 0.0, episode.source, episode.kind, episode.first.line or 0)


def _moved(at: float | None, seconds: float) -> float | None:
    return None if at is None else at + seconds


def _episode(row: Episode, by: Mapping[str, float]) -> Episode:
    seconds = by.get(row.source)
    if seconds is None:
        return row
    return replace(row, first_at=_moved(row.first_at, seconds), last_at=_moved(row.last_at, seconds))


def _span(row: _Span, by: Mapping[str, float]) -> _Span:
    seconds = by.get(row.source)
    if seconds is None:
        return row
    return replace(row, first_at=_moved(row.first_at, seconds), last_at=_moved(row.last_at, seconds))


def _series(row: Series, by: Mapping[str, float]) -> Series:
    seconds = by.get(row.source)
    return row if seconds is None else replace(row, points=tuple((at + seconds, value) for at, value in row.points))


def _flow(row: _Flow, by: Mapping[str, float]) -> _Flow:
    seconds = by.get(row.sender or row.first.source)
    return row if seconds is None else replace(row, first_at=row.first_at + seconds, last_at=row.last_at + seconds)


def _receipt(row: Receipt, by: Mapping[str, float]) -> Receipt:
    seconds = by.get(row.source)
    return row if seconds is None else replace(row, at=row.at + seconds)


def _passage(row: Passage, by: Mapping[str, float]) -> Passage:
    came, left = by.get(row.receiver, 0.0), by.get(row.sender, 0.0)
    if not came and not left:
        return row
    more = came - left
    taken = (row.least + more, row.median + more, row.most + more)
    return replace(row, least=taken[0], median=taken[1], most=taken[2], at=row.at + left)
