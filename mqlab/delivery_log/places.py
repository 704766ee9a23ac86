"""Where the log of a partition begins and ends, as the last source that saw it tells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from mqlab.delivery_log.replica_history import Place
from mqlab.facts import Facts
from mqlab.memo import per_facts

_Seen = tuple[float, int]
"""Moment and offset."""


def last_end(facts: Facts, place: Place, since: float | None = None) -> int | None:
    """The log end that was seen last, after *since* only; None where none was."""
    return _last(_ends(facts).get(place, ()), since)


def last_start(facts: Facts, place: Place) -> int | None:
    """The log start that was seen last."""
    return _last(_starts(facts).get(place, ()), None)


@per_facts
def _ends(facts: Facts) -> Mapping[Place, Sequence[_Seen]]:
    """Ends that only a leader tells: snapshots and exporters ask for the high watermark."""
    found = _of_series(facts, "topic.end_offset")
    for one in facts.positions:
        if one.end is not None and one.at is not None:
            found[one.topic, one.queue].append((one.at, one.end))
    return found


@per_facts
def _starts(facts: Facts) -> Mapping[Place, Sequence[_Seen]]:
    found = _of_series(facts, "topic.start_offset", "broker.log_start_offset")
    for one in facts.positions:
        if one.start is not None:
            found[one.topic, one.queue].append((one.at or 0.0, one.start))
    for episode in facts.of_kind("log-start-moved"):
        if episode.topic and episode.queue and episode.value_max is not None:
            found[episode.topic, episode.queue].append((episode.last_at or 0.0, round(episode.value_max)))
    return found


def _of_series(facts: Facts, *names: str) -> dict[Place, list[_Seen]]:
    found: dict[Place, list[_Seen]] = defaultdict(list)
    for series in facts.named(*names):
        topic, queue = series.labels.get("topic"), series.labels.get("partition")
        if topic and queue and series.points:
            at, value = series.points[-1]
            found[topic, queue].append((at, round(value)))
    return found


def _last(found: Sequence[_Seen], since: float | None) -> int | None:
    later = [seen for seen in found if since is None or seen[0] > since]
    newest = max((at for at, _ in later), default=None)
    return max((offset for at, offset in later if at == newest), default=None)
