"""When MQTT clients were not connected whose sessions end with their connections: nobody kept messages for them.

Only what lies between two connections, both with a clean session, whose end and begin lines tell: before the first one
and after the last one a client may not have been meant to be there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.mqtt.brokers import WHOLE_SECONDS
from mqlab.mqtt.connections import Connection, by_own_log, connections
from mqlab.mqtt.sessions import BEGIN


@dataclass(frozen=True, slots=True)
class Absence:
    """One client between two of its connections."""

    client_id: str
    since: float
    until: float
    evidence: tuple[Evidence, Evidence]
    """The line that ended the one, and the line that began the other."""
    restarted: bool
    """Its broker stopped, and was started again."""

    def holds(self, first_at: float, last_at: float) -> bool:
        """Messages published between these moments were published while it was not connected."""
        return self.since <= first_at and last_at <= self.until + WHOLE_SECONDS


@per_facts
def of_client(facts: Facts, client: str) -> tuple[Absence, ...]:
    """By time; none of a client with a session that was kept, or of which nobody tells whether it was."""
    own = [c for c in connections(facts) if c.client_id == client]
    if any(c.persistent is not False for c in own):
        return ()
    over = accumulate((BEGIN if c.until is None else c.until for c in own), max)
    found = (_between(facts, before, after, ended) for before, after, ended in zip(own, own[1:], over, strict=False))
    return tuple(absence for absence in found if absence is not None)


def _between(facts: Facts, before: Connection, after: Connection, ended: float) -> Absence | None:
    """From when all connections up to *before* had *ended* to the begin of the next one."""
    if not (before.end and after.begin) or after.since is None or ended >= after.since:
        return None
    restarted = (before.ended or "").startswith("broker-")
    own = _told_itself(facts, before, ended)
    since, place = (ended, before.end) if own is None else own
    return Absence(before.client_id, since, after.since, (place, after.begin), restarted)


def _told_itself(facts: Facts, before: Connection, ended: float) -> tuple[float, Evidence] | None:
    """When and where the client's own log says that it lost a connection whose end its broker does not tell.

    A broker that was killed writes no line about it: for its log, the connection ends where it starts again.
    """
    if before.ended != "broker-restarted":
        return None
    own = [(c.until, c.end) for c in by_own_log(facts).get(before.client_id, ()) if c.until is not None and c.end]
    since = (before.since or ended) + WHOLE_SECONDS
    return max(((at, end) for at, end in own if since <= at <= ended), key=lambda told: told[0], default=None)


def meanwhile(facts: Facts, clients: Collection[str], first_at: float, last_at: float) -> Sequence[Absence]:
    """The absence of each of *clients* in which these messages were published; none where one of them was there."""
    found = []
    for client in sorted(clients):
        every = of_client(facts, client)
        last = bisect_right(every, first_at, key=lambda absence: absence.since)
        if not last or not every[last - 1].holds(first_at, last_at):
            return []
        found.append(every[last - 1])
    return found


def spans(facts: Facts, clients: Collection[str], times: Iterable[tuple[float, float]]) -> tuple[Absence, ...]:
    """The absences in which messages were published, each of *times* from the first to the last one; by begin."""
    found = {a for first, last in times for a in meanwhile(facts, clients, first, last)}
    return tuple(sorted(found, key=lambda absence: (absence.since, absence.client_id)))
