"""Times in which one client id was that of several processes of a RocketMQ group.

A second row is not yet a second process. A connection of which nobody said good-bye stays listed until the broker's
scan finds it expired, 120 to 130 s after its last heartbeat (ClientHousekeepingService), and each broker sees another
port of one client. So the same two hosts, or within one output the same two ports, must be there for longer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.rocketmq.members import Member, Snapshot, Stream, streams

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
    streak: tuple[str, float]
    """The time in which this source saw the id shared without a break: the source's kind, and when it began."""

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
    """Sharings of one source: a streak in which an id is shared, cut where the places of the shared ids change."""
    snapshots = stream.snapshots
    start = 0
    while start < len(snapshots):
        end = start + 1
        if shared_ids(snapshots[start]):
            while end < len(snapshots) and set(shared_ids(snapshots[end])) & set(shared_ids(snapshots[end - 1])):
                end += 1
            yield from _of_streak(group, stream, start, end)
        start = end


def _of_streak(group: str, stream: Stream, begin: int, until: int) -> Iterator[Sharing]:
    """The steady parts of a streak; ids that are not shared may change, as long as they sort alike."""
    clients = {client for n in range(begin, until) for client in shared_ids(stream.snapshots[n])}
    lasting = {client for client in clients if _persists(stream, range(begin, until), client)}
    start = begin
    while start < until:
        end = start + 1
        while end < until and _pattern(stream.snapshots[end]) == _pattern(stream.snapshots[start]):
            end += 1
        first, last = stream.snapshots[start], stream.snapshots[end - 1]
        shared = shared_ids(last)
        doubles = [m for m in last.members if m.client_id in shared]
        yield Sharing(
            group, stream.how, first.at, _until(stream, end), last.ids, shared, tuple(m.place for m in doubles),
            set(shared) <= lasting, tuple(m.evidence for m in doubles), (stream.how, stream.snapshots[begin].at),
        )  # fmt: skip
        start = end


def _pattern(snapshot: Snapshot) -> tuple[str, ...]:
    """The sorted ids, those that are not shared without their names: what a rule that goes by places depends on."""
    shared = shared_ids(snapshot)
    return tuple(client if client in shared else "" for client in snapshot.ids)


def _until(stream: Stream, end: int) -> float:
    """How long the snapshots before number *end* hold."""
    if not stream.lasting:
        return stream.snapshots[end - 1].at
    return stream.snapshots[end].at if end < len(stream.snapshots) else stream.until


def shared_ids(snapshot: Snapshot) -> tuple[str, ...]:
    """Ids that are there more than once, sorted."""
    return tuple(sorted(client for client, times in Counter(snapshot.ids).items() if times > 1))


def _persists(stream: Stream, numbers: range, client: str) -> bool:
    """The same two hosts had the id for longer than a dead connection is listed, or the same two ports in a list."""
    seen = [(_until(stream, n + 1), stream.snapshots[n]) for n in numbers]
    if _two_stay([(until, s.at, _hosts(s, client)) for until, s in seen]):
        return True
    return not stream.lasting and _two_stay([(s.at, s.at, _places(s, client)) for _, s in seen])


def _two_stay(seen: Sequence[tuple[float, float, set[str]]]) -> bool:
    """Two of them are there together at two moments far enough apart; rows are (until, at, who)."""
    later = 0
    for _, at, who in seen:
        while later < len(seen) and seen[later][0] - at <= EXPIRY:
            later += 1
        if later < len(seen) and max(len(who & seen[later][2]), len(who & seen[-1][2])) > 1:
            return True
    return False


def _hosts(snapshot: Snapshot, client: str) -> set[str]:
    return {m.host for m in _of(snapshot, client)}


def _places(snapshot: Snapshot, client: str) -> set[str]:
    return {m.place for m in _of(snapshot, client)}


def _of(snapshot: Snapshot, client: str) -> list[Member]:
    return [m for m in snapshot.members if m.client_id == client]
