"""The generations that a coordinator began, as its own lines tell of them, and the epochs of KIP-848 groups."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mqlab.facts import Episode
from mqlab.rebalances.index import Lines, between
from mqlab.rebalances.lines import client_of, count_told, member_of, number, trigger_of
from mqlab.rebalances.rows import Trigger

TOGETHER = 1.0
"""Seconds within which the coordinator writes what belongs to one change; 4.x writes it in any order."""
_CHANGES = {
    "member-joined": Trigger.JOIN, "member-left": Trigger.LEAVE, "member-expired": Trigger.HEARTBEAT_EXPIRY,
    "member-dropped": Trigger.UNKNOWN,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Begun:
    """One generation or epoch that began."""

    started: float
    stabilised: float | None
    generation: int | None
    trigger: Trigger
    reason: str
    client_id: str | None
    member_id: str | None
    host: str | None
    members: int | None
    """Members when it was stable, 0 where nobody was left; None where no line tells."""
    lines: tuple[Episode, ...]
    """What tells of it, the line that began it first."""
    inferred: bool = False
    because: str = "the coordinator's line says so"
    classic: bool = True


def told(lines: Lines) -> list[Begun]:
    """What the coordinators' lines tell, by time."""
    return sorted([*_generations(lines), *_epochs(lines)], key=lambda b: (b.started, b.generation or 0))


def _generations(lines: Lines) -> Iterator[Begun]:
    starts = _once([e for e in lines.coordinator if e.kind == "rebalance-started"])
    done: dict[tuple[str, int | None], list[Episode]] = defaultdict(list)
    for line in lines.coordinator:
        if line.kind in ("rebalance-stabilized", "rebalance-assigned", "group-emptied"):
            done[line.kind, number(line)].append(line)
    syncs = any(kind == "rebalance-assigned" for kind, _ in done)
    for place, start in enumerate(starts):
        next_at = starts[place + 1].first_at if place + 1 < len(starts) else None
        yield _generation(start, next_at or float("inf"), done, syncs)


def _once(starts: Sequence[Episode]) -> list[Episode]:
    """Each start once, though its log may be there twice."""
    found: dict[tuple[float | None, int | None, str | None], Episode] = {}
    for start in starts:
        found.setdefault((start.first_at, number(start), start.reason), start)
    return list(found.values())


def _generation(
    start: Episode, until: float, done: Mapping[tuple[str, int | None], list[Episode]], syncs: bool
) -> Begun:
    old, at = number(start), start.first_at or 0.0
    generation = None if old is None else old + 1

    def first(kind: str) -> Episode | None:
        these = done.get((kind, generation), [])
        place = bisect_left(these, at - TOGETHER, key=lambda e: e.first_at or 0.0)
        one = these[place] if place < len(these) else None
        return one if one is not None and (one.first_at or 0.0) <= until + TOGETHER else None

    stable, assigned, empty = first("rebalance-stabilized"), first("rebalance-assigned"), first("group-emptied")
    end = assigned if syncs else stable
    counted = assigned or stable
    member = member_of(start)
    return Begun(
        started=at,
        stabilised=end.first_at if end else None,
        generation=generation,
        trigger=trigger_of(start.reason),
        reason=start.reason or "",
        client_id=client_of(member) or start.client_id,
        member_id=member,
        host=start.peer,
        members=0 if empty is not None and stable is None else count_told(counted) if counted else None,
        lines=tuple(e for e in (start, end, empty) if e is not None),
        because="the coordinator's line says so" if start.reason else "",
    )


def _epochs(lines: Lines) -> Iterator[Begun]:
    """Epochs of a KIP-848 group: each bump, and what the coordinator wrote just before it."""
    bumps = [e for e in lines.coordinator if e.kind == "group-epoch-bumped"]
    if not bumps:
        return
    assigned = sorted(
        e.first_at or 0.0 for these in lines.clients.values() for e in these if e.kind == "partitions-assigned"
    )
    last: Episode | None = None
    place = 0
    for line in lines.coordinator:
        if line.kind in _CHANGES:
            last = line
        elif line.kind == "group-epoch-bumped":
            place += 1
            until = (bumps[place].first_at if place < len(bumps) else None) or float("inf")
            cause = last if last and (line.first_at or 0.0) - (last.first_at or 0.0) <= TOGETHER else None
            yield _epoch(lines, line, cause, until, assigned)
            last = None


def _epoch(lines: Lines, bump: Episode, cause: Episode | None, until: float, assigned: Sequence[float]) -> Begun:
    at, epoch = bump.first_at or 0.0, number(bump)
    member = member_of(cause) if cause else None
    trigger = _CHANGES[cause.kind] if cause else Trigger.SUBSCRIPTION
    place = bisect_left(assigned, until) - 1
    took = assigned[place] if place >= 0 and assigned[place] >= at else None
    near = between(lines.coordinator, at, min(until, at + TOGETHER))
    target = next((e for e in near if e.kind == "target-assigned" and number(e) == epoch), None)
    if trigger is Trigger.LEAVE and "poll timeout" in (cause.reason or "" if cause else ""):
        trigger = Trigger.POLL_TIMEOUT
    return Begun(
        started=at,
        stabilised=took or (target.first_at if target else None),
        generation=epoch,
        trigger=trigger,
        reason=(cause.reason or "") if cause else "",
        client_id=client_of(member) or (cause.client_id if cause else None),
        member_id=member,
        host=cause.peer if cause else None,
        members=None,
        lines=tuple(e for e in (bump, cause, target) if e is not None),
        inferred=cause is None,
        because="the coordinator's line before it says so" if cause else "the epoch changed and nobody came or went",
        classic=False,
    )
