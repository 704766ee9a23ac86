"""MQTT client ids that are taken over again and again, and which of them two or more live clients fight for.

Two live clients throw each other out: the one that lost the id takes it back as soon as its library allows, again and
again. A client that comes back before its old connection was noticed makes the same line at the broker, but once for
each loss of its link, at no steady pace, and nobody else is alive meanwhile.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.models import backoff
from mqlab.mqtt.connection import Connection
from mqlab.mqtt.lives import by_client
from mqlab.mqtt.parties import Judged, judged

AT_ONCE = 2.0
"""Seconds in which a broker accepts a connection and closes the other one; brokers may print whole seconds."""
PAUSE = backoff.GO_LONGEST + 60.0
"""Seconds without a takeover after which another war begins: no client waits longer."""
LEAST = 3
"""Takeovers in a war at least: two can be a release and its way back."""


@dataclass(frozen=True, slots=True)
class War:
    """Takeovers of one client id at one broker that follow each other."""

    broker: str | None
    client_id: str
    connections: tuple[Connection, ...]
    """The connection that was taken over first, and those that took over."""
    judged: Judged
    """By whom."""

    @property
    def takeovers(self) -> int:
        """How often the id was taken over."""
        return sum(c.count for c in self.connections[1:])

    @property
    def told(self) -> int:
        """How often a line of the broker says so."""
        return sum(c.ended == "taken-over" for c in self.connections)

    @property
    def moments(self) -> tuple[float, ...]:
        """When it was."""
        return tuple(c.since for c in self.connections[1:] if c.since is not None)

    @property
    def period(self) -> float:
        """Seconds between two takeovers, on average: clocks may show whole seconds only."""
        return (self.moments[-1] - self.moments[0]) / max(1, self.takeovers - 1)


@per_facts
def wars(facts: Facts) -> tuple[War, ...]:
    """Every client id that was taken over several times, by broker and id; some are none (``judged.why_not``)."""
    every = []
    for (broker, client), own in by_client(facts).items():
        for run in (run for run in _runs(own) if len(run) > LEAST):
            parties = judged(facts, run)
            together = parties.known_by == "pace" and _together(facts, broker, run)
            every.append(War(broker, client, run, _WITH_OTHERS if together else parties))
    return tuple(every)


@per_facts
def fought(facts: Facts) -> frozenset[tuple[str | None, str]]:
    """Broker and client id of those that live clients fight for."""
    return frozenset((war.broker, war.client_id) for war in wars(facts) if war.judged.why_not is None)


@per_facts
def replaced(facts: Facts) -> Mapping[str, int]:
    """How often each id was taken over that was so less often than a war takes."""
    found = {}
    for (_, client), own in by_client(facts).items():
        taken = sum(_took_over(before, after) for before, after in pairwise(own))
        if 0 < taken < LEAST:
            found[client] = taken
    return found


_WITH_OTHERS = Judged((), "", "others are replaced at the same moments: by the address that they share, or a proxy")


def _runs(own: Sequence[Connection]) -> Iterator[tuple[Connection, ...]]:
    run: list[Connection] = []
    for before, after in pairwise(own):
        taken = _took_over(before, after)
        far = bool(run) and (after.since or 0.0) - (before.since or after.since or 0.0) > PAUSE
        if run and (far or not taken):
            yield tuple(run)
            run = []
        if taken:
            run = [*(run or [before]), after]
    if run:
        yield tuple(run)


def _took_over(before: Connection, after: Connection) -> bool:
    """The one was alive when the other began; by clients' logs, the two are told by two of them."""
    if after.since is None or before.told_by != after.told_by:
        return False
    if before.ended is None and before.told_by == "broker":
        return before.until == after.since
    another = before.source != after.source and before.since != after.since
    ended_by_it = before.ended == "taken-over" if before.told_by == "broker" else another
    return ended_by_it and before.until is not None and abs(after.since - before.until) <= AT_ONCE


def _together(facts: Facts, broker: str | None, run: Sequence[Connection]) -> bool:
    """Most takeovers fall together with those of two other ids at least that come from the same address."""
    others: dict[int, set[str]] = defaultdict(set)
    for (place, client), own in by_client(facts).items():
        if place == broker and client != run[0].client_id:
            for before, after in pairwise(own):
                if _took_over(before, after) and after.address == run[-1].address:
                    others[round(after.since or 0.0)].add(client)
    moments = [round(c.since or 0.0) for c in run[1:]]
    same = [at for at in moments if len(others[at - 1] | others[at] | others[at + 1]) >= 2]
    return 2 * len(same) > len(moments)
