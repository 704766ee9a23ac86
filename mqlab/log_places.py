"""Where the log of a partition begins and ends, as the last source that saw it tells."""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.replica_history import Place

_Seen = tuple[float, int]


@per_facts
def last_end(facts: Facts, place: Place, since: float | None = None) -> int | None:
    """The log end that was seen last, after *since* only; None where none was."""
    return _last(list(_ends(facts, place)), since)


@per_facts
def last_start(facts: Facts, place: Place) -> int | None:
    """The log start that was seen last."""
    found = [(p.at or 0.0, p.start) for p in facts.positions if (p.topic, p.queue) == place and p.start is not None]
    found += _of_series(facts, place, "topic.start_offset", "broker.log_start_offset")
    moved = [e for e in facts.of_kind("log-start-moved") if (e.topic, e.queue) == place and e.value_max is not None]
    found += [(e.last_at or 0.0, round(e.value_max or 0)) for e in moved]
    return _last(found, None)


def _ends(facts: Facts, place: Place) -> Iterator[_Seen]:
    """Ends that only a leader tells: snapshots and exporters ask for the high watermark."""
    for one in facts.positions:
        if (one.topic, one.queue) == place and one.end is not None and one.at is not None:
            yield one.at, one.end
    yield from _of_series(facts, place, "topic.end_offset")


def _of_series(facts: Facts, place: Place, *names: str) -> list[_Seen]:
    own = [s for s in facts.named(*names) if (s.labels.get("topic"), s.labels.get("partition")) == place and s.points]
    return [(s.points[-1][0], round(s.points[-1][1])) for s in own]


def _last(found: list[_Seen], since: float | None) -> int | None:
    later = [seen for seen in found if since is None or seen[0] > since]
    newest = max((at for at, _ in later), default=None)
    return max((offset for at, offset in later if at == newest), default=None)
