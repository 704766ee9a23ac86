"""Signs of life of a Kafka group's clients: lines that they wrote and polls that they worked off.

A process that stands still writes nothing; one whose network is cut writes on. A silence means something only where
the client wrote often enough before it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.polling import lines
from mqlab.rebalances import index

LOOKED = 60.0
"""Seconds before a silence by which it is known how often the client writes."""
ROW = 10
"""Polls of one row that count, at most."""
EXPECTED = 4.0
"""Lines that would have been written in a silence; that none is by chance is less likely than one in fifty."""


@dataclass(frozen=True, slots=True)
class Silence:
    """A time in which a client wrote nothing."""

    since: float
    until: float | None
    """None where it never wrote again."""
    telling: bool
    """It usually writes so often that this is no chance."""

    @property
    def seconds(self) -> float | None:
        """How long it lasted."""
        return None if self.until is None else self.until - self.since


@per_facts
def signs(facts: Facts, group: str) -> Mapping[str, Sequence[float]]:
    """Moments by client of *group*, sorted; polls that share a row have the moment of the last one, each."""
    found: dict[str, list[float]] = defaultdict(list)
    homes = index.homes(facts, group)
    brokers = {c.source for c in facts.coverage if c.format == "kafka-broker-log"}
    for episode in facts.episodes:
        client = lines.client_of(facts, group, episode)
        known = episode.group == group or episode.source in homes
        if client and known and episode.source not in brokers:
            found[client] += [at for at in (episode.first_at, episode.last_at) if at is not None]
    for batch in lines.polls(facts, group):
        found[batch.client_id or ""] += [batch.at] * min(batch.polls, ROW)
    return {client: sorted(moments) for client, moments in sorted(found.items())}


def silence(moments: Sequence[float], at: float, timeout: float) -> Silence | None:
    """The silence in which a member was expelled at *at*; None where nothing tells of the client.

    What it wrote less than half of *timeout* before is no part of it: then it was alive and not heard. The coordinator
    heard it until *timeout* before *at*: where it had been quiet for long by then, its log is cut there, or a silence
    of it tells nothing.
    """
    place = bisect_right(moments, at)
    if not place:
        return None
    since, until = moments[place - 1], moments[place] if place < len(moments) else None
    if at - since < timeout / 2:
        return None
    often = (place - bisect_left(moments, since - LOOKED)) / LOOKED
    lasted = (until if until is not None else at) - since
    heard = max(0.0, at - timeout - since)
    return Silence(since, until, often * lasted >= EXPECTED > often * heard)


def working(moments: Sequence[float], at: float, timeout: float) -> bool:
    """The client wrote several times in the second half of the time in which the coordinator heard nothing."""
    return bisect_right(moments, at) - bisect_left(moments, at - timeout / 2) >= 2


def answered(facts: Facts, client: str, since: float, until: float) -> bool:
    """The client's own metrics were scraped in this time: a process that stands still does not answer."""
    own = [s for s in facts.series if s.name.startswith("consumer.") and s.labels.get("client_id") == client]
    return any(since < at < until for s in own for at, _ in s.points)
