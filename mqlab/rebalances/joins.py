"""The generations that one client's own log tells of, from the first step of each join to its last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab.facts import Episode
from mqlab.rebalances.kinds import STARTS, STOPS
from mqlab.rebalances.lines import number

_BEGINS = frozenset({"join-started", "join-requested", "partitions-revoked", "partitions-lost"})
DONE = frozenset({"join-completed", "sync-completed"})


@dataclass(frozen=True, slots=True)
class Joined:
    """What one client printed of one generation."""

    client: str
    started: float
    done: float
    lines: tuple[Episode, ...]


def joins_of(client: str, these: Sequence[Episode]) -> Iterator[tuple[int, Joined]]:
    """Generations that *client* joined, each with the lines from its first step to its last."""
    begun: list[Episode] = []
    last: int | None = None
    for place, line in enumerate(these):
        generation = number(line) if line.kind in DONE else None
        if line.kind in STARTS or line.kind in STOPS:
            begun = []
        elif line.kind in _BEGINS:
            begun = [*begun, line][-4:]
        elif generation is not None and generation != last:
            last = generation
            done = _last_step(these, place, generation)
            start = begun[0] if begun else line
            yield generation, Joined(client, start.first_at or 0.0, done.first_at or 0.0, (start, *begun[1:], line))
            begun = []


def _last_step(these: Sequence[Episode], place: int, generation: int) -> Episode:
    """The line with which the member has its partitions: the last one before its next join."""
    done = these[place]
    for line in these[place + 1 :]:
        if line.kind in _BEGINS or line.kind in STARTS or (line.kind in DONE and number(line) != generation):
            return done
        if line.kind in DONE or line.kind == "partitions-assigned":
            done = line
    return done
