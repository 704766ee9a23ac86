"""Times in which the processes of a RocketMQ group stayed the same: who came, who went, and what the group was between.

One source is followed throughout, since each knows a process by another name: the brokers by its address, its own log
by the folder it lies in. A process that shows another port, as it does on each broker, is still the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab.facts import Facts
from mqlab.rocketmq.duplicate_case import Case
from mqlab.rocketmq.members import Member, Snapshot, Stream, streams
from mqlab.rocketmq.slots import SETTLING

_RANKS = {"broker log": 2, "listing": 1, "client logs": 0}
"""Which source to follow where they know equally many processes: the log dates each coming and going."""


@dataclass(frozen=True, slots=True)
class Era:
    """A time in which the group did not change."""

    since: float
    until: float
    """When it was another."""
    seen: float
    """When it was last known to be this; a listing is true for its moment only."""
    members: tuple[Member, ...]
    how: str
    """listing, broker log or client logs."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Client ids, sorted, one as often as it is there."""
        return tuple(sorted(m.client_id for m in self.members))

    @property
    def shared(self) -> tuple[str, ...]:
        """Ids of several processes."""
        return tuple(sorted(client for client, times in Counter(self.ids).items() if times > 1))

    @property
    def seconds(self) -> float:
        """How long it is known to have lasted."""
        return self.seen - self.since


@dataclass(frozen=True, slots=True)
class Stay:
    """One process for as long as it was in the group, and whether its id was its own."""

    member: Member
    since: float
    until: float
    shared: bool


def eras(facts: Facts, group: str, case: Case | None = None) -> tuple[Era, ...]:
    """Every time in which *group* stayed the same, by time, by the source that knows most; those without anybody too.

    With a *case* the source is one that shows its ids shared.
    """
    known = [(stream, tuple(_eras(stream))) for stream in streams(facts, group)]
    if not known:
        return ()
    return max(known, key=lambda pair: _telling(pair[0], pair[1], case))[1]


def stays(known: Sequence[Era]) -> tuple[Stay, ...]:
    """What each process did, those of one host together; a stay is cut where its id began or ceased to be shared."""
    found: list[Stay] = []
    for era in known:
        for member in era.members:
            shared = member.client_id in era.shared
            last = next((n for n, s in enumerate(found) if _same(s.member, member) and s.until == era.since), None)
            if last is not None and found[last].shared == shared:
                found[last] = Stay(found[last].member, found[last].since, era.until, shared)
            else:
                found.append(Stay(member, era.since, era.until, shared))
    first = {stay.member.host: stay.since for stay in reversed(found)}
    return tuple(sorted(found, key=lambda s: (first[s.member.host], s.member.host, s.since, s.member.client_id)))


def around(known: Sequence[Era], case: Case) -> tuple[Era | None, Era | None, Era | None]:
    """The longest times before, during and after the sharing of *case*: with as many processes, where there is one."""
    shared = [e for e in known if set(e.shared) & set(case.sharing.shared)]
    during = max(shared, key=lambda e: e.seconds, default=None)
    if during is None:
        return None, None, None
    own = [e for e in known if e.members and not e.shared]
    before = _longest([e for e in own if e.until <= during.since], during)
    return before, during, _longest([e for e in own if e.since >= during.until], during)


def lasting(known: Sequence[Era], most: int = 3) -> tuple[Era, ...]:
    """The longest times with anybody there, by time: those in which every client could settle, at least one."""
    ranked = sorted((e for e in known if e.members), key=lambda e: (-e.seconds, e.since))
    settled = [e for e in ranked if e.seconds > SETTLING] or ranked[:1]
    return tuple(sorted(settled[:most], key=lambda e: e.since))


def _longest(found: Sequence[Era], during: Era) -> Era | None:
    whole = [e for e in found if len(e.members) >= len(during.members)]
    return max(whole or found, key=lambda e: e.seconds, default=None)


def _eras(stream: Stream) -> Iterator[Era]:
    snapshots = stream.snapshots
    start = 0
    while start < len(snapshots):
        end = start + 1
        while end < len(snapshots) and _who(snapshots[end]) == _who(snapshots[start]):
            end += 1
        until = snapshots[end].at if end < len(snapshots) else max(stream.until, snapshots[-1].at)
        seen = until if stream.lasting else snapshots[end - 1].at
        yield Era(snapshots[start].at, until, seen, snapshots[start].members, stream.how)
        start = end


def _who(snapshot: Snapshot) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((m.client_id, m.host) for m in snapshot.members))


def _same(one: Member, other: Member) -> bool:
    return (one.client_id, one.host) == (other.client_id, other.host)


def _telling(stream: Stream, known: Sequence[Era], case: Case | None) -> tuple[bool, int, int, float]:
    shows = case is not None and any(set(e.shared) & set(case.sharing.shared) for e in known)
    most = max(len(e.members) for e in known)
    return shows, most, _RANKS[stream.how], sum(e.seconds for e in known if e.members)
