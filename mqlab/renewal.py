"""Members of a RocketMQ group that were restarted one after another: a release, not a fault.

A member is told by its host: a restart gives it another port, and from client 4.9 on another id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.members import Member, Stream, streams

BETWEEN = 300.0
"""Seconds between two restarts that belong to one release, at most."""
LEAST = 2
"""Members of which a release restarts."""


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
    views = [view for view in streams(facts, group) if view.how != "client logs"]
    found = (_seen(group, view) for view in sorted(views, key=lambda view: not view.lasting))
    return next((one for one in found if one is not None), None)


def _seen(group: str, view: Stream) -> Renewal | None:
    full = [s for s in view.snapshots if s.members]
    if len(full) < LEAST:
        return None
    again = _again(view)
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


def _again(view: Stream) -> Mapping[str, list[tuple[float, Member]]]:
    """By host: when it came with another id, or to one broker from another port, than before."""
    found: dict[str, list[tuple[float, Member]]] = defaultdict(list)
    known: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for snapshot in view.snapshots:
        for member in snapshot.members:
            name = (member.client_id, member.place if view.lasting else "")
            if known[member.host] and name not in known[member.host]:
                found[member.host].append((snapshot.at, member))
            known[member.host].add(name)
    return found
