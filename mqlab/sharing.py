"""Times in which one client id was that of several processes of a RocketMQ group.

A second row is not yet a second process. A connection of which nobody said good-bye stays listed until the broker's
scan finds it expired, 120 to 130 s after its last heartbeat (ClientHousekeepingService), and each broker sees another
port of one client. So the same two hosts, or within one output the same two ports, must be there for longer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.members import Member, Snapshot, Stream, streams

EXPIRY = 130.0
"""Seconds for which a dead connection may stay listed: 120 s after its last heartbeat, and the scan is every 10 s."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """One time in which ids were shared, and the group did not change."""

    group: str
    how: str
    """listing, broker log or client logs."""
    since: float
    until: float
    ids: tuple[str, ...]
    """All ids of the group, one as often as it is there, sorted."""
    shared: tuple[str, ...]
    """Those that are there more than once."""
    places: tuple[str, ...]
    """Where the processes that share are."""
    persistent: bool
    """It lasted longer than a dead connection stays listed."""
    evidence: tuple[Evidence, ...]

    @property
    def hosts(self) -> int:
        """Hosts on which they are."""
        return len({m.rpartition(":")[0] or m for m in self.places})

    @property
    def seconds(self) -> float:
        """How long it is known to have lasted."""
        return self.until - self.since


def sharings(facts: Facts, group: str) -> tuple[Sharing, ...]:
    """Every time in which ids of *group* were shared; the most direct source's first, each source's by time."""
    return tuple(s for stream in streams(facts, group) for s in _of_stream(group, stream))


def _of_stream(group: str, stream: Stream) -> Iterator[Sharing]:
    snapshots = stream.snapshots
    start = 0
    while start < len(snapshots):
        end = start + 1
        while end < len(snapshots) and snapshots[end].ids == snapshots[start].ids:
            end += 1
        shared = shared_ids(snapshots[start])
        if shared:
            yield _sharing(group, stream, (start, end), shared)
        start = end


def _until(stream: Stream, end: int) -> float:
    """How long the snapshots before number *end* hold."""
    if not stream.lasting:
        return stream.snapshots[end - 1].at
    return stream.snapshots[end].at if end < len(stream.snapshots) else stream.until


def shared_ids(snapshot: Snapshot) -> tuple[str, ...]:
    """Ids that are there more than once, sorted."""
    return tuple(sorted(client for client, times in Counter(snapshot.ids).items() if times > 1))


def _sharing(group: str, stream: Stream, run: tuple[int, int], shared: tuple[str, ...]) -> Sharing:
    first, last = stream.snapshots[run[0]], stream.snapshots[run[1] - 1]
    doubles = [m for m in last.members if m.client_id in shared]
    persistent = all(_persists(stream, run, client) for client in shared)
    return Sharing(
        group, stream.how, first.at, _until(stream, run[1]), last.ids, shared, tuple(m.place for m in doubles),
        persistent, tuple(m.evidence for m in doubles),
    )  # fmt: skip


def _persists(stream: Stream, run: tuple[int, int], client: str) -> bool:
    """The id was shared, around this run, for longer than a dead connection is listed, by the same two processes."""
    start, end = run
    while start > 0 and client in shared_ids(stream.snapshots[start - 1]):
        start -= 1
    while end < len(stream.snapshots) and client in shared_ids(stream.snapshots[end]):
        end += 1
    numbers = range(start, end)
    hosts = [(_until(stream, n + 1), stream.snapshots[n].at, _hosts(stream.snapshots[n], client)) for n in numbers]
    if _two_stay(hosts):
        return True
    places = [(stream.snapshots[n].at, stream.snapshots[n].at, _places(stream.snapshots[n], client)) for n in numbers]
    return not stream.lasting and _two_stay(places)


def _two_stay(seen: Sequence[tuple[float, float, set[str]]]) -> bool:
    """Two of them are there together, first and last, longer than a dead connection is; rows are (until, at, who)."""
    first: dict[tuple[str, ...], float] = {}
    for until, at, who in seen:
        for pair in combinations(sorted(who), 2):
            if until - first.setdefault(pair, at) > EXPIRY:
                return True
    return False


def _hosts(snapshot: Snapshot, client: str) -> set[str]:
    return {m.host for m in _of(snapshot, client)}


def _places(snapshot: Snapshot, client: str) -> set[str]:
    return {m.place for m in _of(snapshot, client)}


def _of(snapshot: Snapshot, client: str) -> list[Member]:
    return [m for m in snapshot.members if m.client_id == client]
