"""Generations of a Kafka group, and epochs of KIP-848 groups: as coordinators began them, as clients joined them.

What the coordinators' own lines tell comes first; where they are not there, or not for that time, the logs of clients
tell of generations, and where no client does, the records of ``__consumer_offsets``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mqlab.facts import Episode
from mqlab.kafka.log_lines import (
    STARTS,
    STOPS,
    Lines,
    between,
    client_of,
    client_reason,
    count_told,
    member_of,
    number,
    trigger_of,
)
from mqlab.kafka.rows import ONCE, Trigger

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
    generation: int | None
    trigger: Trigger
    lines: tuple[Episode, ...]
    """What tells of it, the line that began it first."""
    stabilised: float | None = None
    reason: str = ""
    client_id: str | None = None
    member_id: str | None = None
    host: str | None = None
    members: int | None = None
    """Members when it was stable, 0 where nobody was left; None where no line tells."""
    inferred: bool = False
    because: str = "the coordinator's line says so"
    classic: bool = True


def generations(lines: Lines) -> list[Begun]:
    """Every generation and epoch that *lines* tell of, by time."""
    told = sorted([*_generations(lines), *_epochs(lines)], key=_order)
    told += _seen(lines, told)
    return sorted([*told, *_recorded(lines, told)], key=_order)


def _order(one: Begun) -> tuple[float, int]:
    return one.started, one.generation or 0


def _generations(lines: Lines) -> Iterator[Begun]:
    once: dict[tuple[float | None, int | None, str | None], Episode] = {}
    for line in lines.coordinator:
        if line.kind == "rebalance-started":
            once.setdefault((line.first_at, number(line), line.reason), line)
    starts = list(once.values())
    done: dict[tuple[str, int | None], list[Episode]] = defaultdict(list)
    for line in lines.coordinator:
        if line.kind in ("rebalance-stabilized", "rebalance-assigned", "group-emptied"):
            done[line.kind, number(line)].append(line)
    syncs = any(kind == "rebalance-assigned" for kind, _ in done)
    for place, start in enumerate(starts):
        next_at = starts[place + 1].first_at if place + 1 < len(starts) else None
        yield _generation(start, next_at or float("inf"), done, syncs)


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
        lines=tuple(e for e in (bump, cause, target) if e is not None),
        inferred=cause is None,
        because="the coordinator's line before it says so" if cause else "the epoch changed and nobody came or went",
        classic=False,
    )


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


SAME = 600.0
"""Seconds within which the same number is the same generation; a group that lost its state counts from 1 again."""


_Run = tuple[int, list[Joined]]
"""A generation, and who joined it."""


def _seen(lines: Lines, told: Sequence[Begun]) -> list[Begun]:
    """Generations that clients joined and that *told* lacks, by time."""
    known: dict[int | None, list[float]] = defaultdict(list)
    for one in told:
        known[one.generation].append(one.started)
    by_generation: dict[int, list[Joined]] = defaultdict(list)
    for client, these in lines.clients.items():
        for generation, join in joins_of(client, these):
            if all(abs(at - join.started) > SAME for at in known.get(generation, ())):
                by_generation[generation].append(join)
    runs = [
        (generation, joins)
        for generation, every in by_generation.items()
        for joins in _apart(sorted(every, key=lambda s: (s.started, s.client)))
    ]
    runs.sort(key=lambda run: (run[1][0].started, run[0]))
    return [_begun(lines, one, old) for old, one in zip([None, *runs[:-1]], runs, strict=True)] if runs else []


def _apart(joins: Sequence[Joined]) -> Iterator[list[Joined]]:
    """The same generation of a group that counted anew is another one."""
    run: list[Joined] = []
    for one in joins:
        if run and one.started - run[0].started > SAME:
            yield run
            run = []
        run.append(one)
    if run:
        yield run


def _begun(lines: Lines, run: _Run, old: _Run | None) -> Begun:
    generation, joins = run
    first = joins[0]
    done = max(one.done for one in joins)
    trigger, cause, because = _trigger(lines, run, old)
    return Begun(
        started=first.started,
        stabilised=done,
        generation=generation,
        trigger=trigger,
        reason=(cause.reason or "") if cause else "",
        client_id=_owner(lines, cause) if cause else None,
        member_id=cause.member_id if cause else None,
        lines=tuple(dict.fromkeys((*((cause,) if cause else ()), first.lines[-1], first.lines[0]))),
        inferred=True,
        because=f"logs of clients tell of the generation, {because}",
    )


def _trigger(lines: Lines, run: _Run, old: _Run | None) -> tuple[Trigger, Episode | None, str]:
    """What another member printed just before, or what the first member to move says.

    A leave that came before the generation before this one had made that one; one that nobody joined was empty.
    """
    generation, joins = run
    started = joins[0].started
    since = max(started - ONCE, old[1][0].started if old else 0.0)
    follows = old is not None and old[0] == generation - 1
    before = [
        e for these in lines.clients.values() for e in between(these, since, started)
        if e.kind in ("poll-timeout", "leave-sent") and follows
    ]  # fmt: skip
    if before:
        line = max(before, key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0))
        trigger = Trigger.POLL_TIMEOUT if line.kind == "poll-timeout" else Trigger.LEAVE
        return trigger, line, "a member left just before"
    new = [one for one in joins if _is_new(lines.clients, one)]
    for one in joins:
        for line in one.lines:
            trigger = trigger_of(client_reason(line.reason) or line.reason)
            moved = trigger is Trigger.COORDINATOR_MOVE and one in new
            if line.kind == "join-requested" and trigger is not Trigger.UNKNOWN and not moved:
                return trigger, line, "and a member says why it joins"
    if new:
        return Trigger.JOIN, new[0].lines[-1], "and a member joined that was not in it"
    return Trigger.UNKNOWN, None, "nobody says why"


def _is_new(clients: Mapping[str, Sequence[Episode]], one: Joined) -> bool:
    """Its process started, or it had lost its membership, since it joined last."""
    for line in reversed(between(clients[one.client], 0.0, one.started)):
        if line.kind in DONE:
            return False
        if line.kind in STARTS or line.kind in ("commit-failed", "partitions-lost", "generation-reset"):
            return True
    return any(line.kind == "partitions-lost" for line in one.lines)


def _owner(lines: Lines, line: Episode) -> str | None:
    return line.client_id or next((client for client, these in lines.clients.items() if line in these), None)


def _recorded(lines: Lines, told: Sequence[Begun]) -> Iterator[Begun]:
    """Generations that only records of ``__consumer_offsets`` tell of; the coordinator writes one when all is settled.

    Source: GroupMetadataManager.storeGroup, which is called with the leader's assignment and for an empty group.
    """
    known: dict[int | None, list[float]] = defaultdict(list)
    for one in told:
        known[one.generation].append(one.started)
    for line in lines.coordinator:
        generation, at = number(line), line.first_at or 0.0
        fresh = all(abs(began - at) > SAME for began in known.get(generation, ()))
        if line.kind == "group-metadata" and generation and fresh:
            known[generation].append(at)
            members = count_told(line)
            yield Begun(
                started=at,
                generation=generation,
                trigger=Trigger.UNKNOWN,
                lines=(line,),
                stabilised=at if members else None,
                members=members,
                inferred=True,
                because="a record of the group's state tells of the generation, nobody of its begin",
            )
