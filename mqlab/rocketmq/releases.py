"""Members of a RocketMQ group that were restarted one after another: a release, not a fault.

A member is told by its host: a restart gives it another port, and from client 4.9 on another id. The former process
leaves when the new one comes; one that stays has got a second process beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.rocketmq.members import EXPIRY, streams
from mqlab.shared.queues import Member, Stream

BETWEEN = 300.0
"""Seconds between two restarts that belong to one release, at most."""
RECONNECTED = 60.0
"""Seconds after a broker's start in which all clients connect to it again."""
LEAST = 2
"""Members of which a release restarts."""


Process = tuple[str, str, str]
"""(host, client id, place where the id alone tells no process)."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """One time in which the members of a group came again."""

    group: str
    since: float
    until: float
    hosts: tuple[str, ...]
    whole: bool
    """All members that were there before came again, each once, and the group is as large as before."""
    evidence: tuple[Evidence, ...]


def renewal(facts: Facts, group: str) -> Renewal | None:
    """The restarts of *group*'s members, seen by the first source that can tell them; None where there are none."""
    starts = [e.first_at for e in facts.of_kind("rocketmq-broker-started") if e.first_at is not None]
    views = [view for view in streams(facts, group) if view.how != "client logs"]
    found = (_seen(group, view, starts) for view in sorted(views, key=lambda view: not view.lasting))
    return next((one for one in found if one is not None), None)


def _seen(group: str, view: Stream, starts: Sequence[float]) -> Renewal | None:
    full = [s for s in view.snapshots if s.members]
    if len(full) < LEAST:
        return None
    again = _again(view, starts)
    moments = sorted(at for times in again.values() for at, _ in times)
    if len(again) < LEAST or any(b - a > BETWEEN for a, b in pairwise(moments)):
        return None
    before = {m.host for s in full if s.at < moments[0] for m in s.members}
    once = all(len(times) == 1 for times in again.values())
    after = any({m.host for m in s.members} == before for s in full if s.at >= moments[-1])
    places = tuple(member.evidence for times in again.values() for _, member in times)
    return Renewal(
        group, moments[0], moments[-1], tuple(sorted(again)), once and after and before == set(again), places
    )


def _again(view: Stream, starts: Sequence[float]) -> Mapping[str, list[tuple[float, Member]]]:
    """By host: when a process of another id, or to one broker from another port, came in the place of one that left."""
    gone = _gone(view)
    found: dict[str, list[tuple[float, Member]]] = defaultdict(list)
    seen: set[Process] = set()
    former: dict[str, list[Process]] = defaultdict(list)
    for snapshot in view.snapshots:
        now = {_process(view, m): m for m in snapshot.members}
        afresh = any(0 <= snapshot.at - start <= RECONNECTED for start in starts)
        for member in (now[process] for process in sorted(now.keys() - seen)):
            left = [old for old in former[member.host] if gone[old] <= snapshot.at + EXPIRY]
            if left and not afresh:
                former[member.host].remove(min(left, key=gone.__getitem__))
                found[member.host].append((snapshot.at, member))
        for process in sorted(now.keys() - seen):
            former[process[0]].append(process)
        seen |= now.keys()
    return found


def _gone(view: Stream) -> Mapping[Process, float]:
    """When each process was no longer there; infinite for those that stay."""
    found: dict[Process, float] = {}
    for earlier, later in pairwise([*view.snapshots, None]):
        if earlier is not None:
            found |= {_process(view, m): later.at if later else inf for m in earlier.members}
    return found


def _process(view: Stream, member: Member) -> Process:
    """An id with a number of its own is one process, whatever port it connects from; a listing tells ids only."""
    return (member.host, member.client_id, member.place if view.lasting and "#" not in member.client_id else "")
