"""Generations of a Kafka group, and epochs of KIP-848 groups: as coordinators began them, as clients joined them.

What the coordinators' own lines tell comes first; where they are not there, or not for that time, the logs of clients
tell of generations, and where no client does, the records of ``__consumer_offsets``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mqlab import words
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
from mqlab.kafka.rows import ONCE, RESOLUTION, Trigger

say = words.room("rebalances")

_CHANGES = {
    "member-joined": Trigger.JOIN, "member-left": Trigger.LEAVE, "member-expired": Trigger.HEARTBEAT_EXPIRY,
    "member-dropped": Trigger.UNKNOWN,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation or epoch that began."""

    started: float
    number: int | None
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
    because: str = ""
    classic: bool = True


def generations(lines: Lines) -> list[Generation]:
    """Every generation and epoch that *lines* tell of, by time; 4.x writes the lines of one in any order."""
    found = sorted([*_generations(lines), *_epochs(lines)], key=_order)
    found += _joined(lines, found)
    return sorted([*found, *_recorded(lines, found)], key=_order)


def _order(generation: Generation) -> tuple[float, int]:
    return generation.started, generation.number or 0


def _generations(lines: Lines) -> Iterator[Generation]:
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
) -> Generation:
    old, at = number(start), start.first_at or 0.0
    generation = None if old is None else old + 1

    def first(kind: str) -> Episode | None:
        these = done.get((kind, generation), [])
        place = bisect_left(these, at - RESOLUTION, key=lambda e: e.first_at or 0.0)
        one = these[place] if place < len(these) else None
        return one if one is not None and (one.first_at or 0.0) <= until + RESOLUTION else None

    stable, assigned, empty = first("rebalance-stabilized"), first("rebalance-assigned"), first("group-emptied")
    end = assigned if syncs else stable
    counted = assigned or stable
    member = member_of(start)
    return Generation(
        started=at,
        stabilised=end.first_at if end else None,
        number=generation,
        trigger=trigger_of(start.reason),
        reason=start.reason or "",
        client_id=client_of(member) or start.client_id,
        member_id=member,
        host=start.peer,
        members=0 if empty is not None and stable is None else count_told(counted) if counted else None,
        lines=tuple(e for e in (start, end, empty) if e is not None),
        because=say("by-coordinator") if start.reason else "",
    )


def _epochs(lines: Lines) -> Iterator[Generation]:
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
            cause = last if last and (line.first_at or 0.0) - (last.first_at or 0.0) <= RESOLUTION else None
            yield _epoch(lines, line, cause, until, assigned)
            last = None


def _epoch(lines: Lines, bump: Episode, cause: Episode | None, until: float, assigned: Sequence[float]) -> Generation:
    at, epoch = bump.first_at or 0.0, number(bump)
    member = member_of(cause) if cause else None
    trigger = _CHANGES[cause.kind] if cause else Trigger.SUBSCRIPTION
    place = bisect_left(assigned, until) - 1
    took = assigned[place] if place >= 0 and assigned[place] >= at else None
    near = between(lines.coordinator, at, min(until, at + RESOLUTION))
    target = next((e for e in near if e.kind == "target-assigned" and number(e) == epoch), None)
    if trigger is Trigger.LEAVE and "poll timeout" in (cause.reason or "" if cause else ""):
        trigger = Trigger.POLL_TIMEOUT
    return Generation(
        started=at,
        stabilised=took or (target.first_at if target else None),
        number=epoch,
        trigger=trigger,
        reason=(cause.reason or "") if cause else "",
        client_id=client_of(member) or (cause.client_id if cause else None),
        member_id=member,
        host=cause.peer if cause else None,
        lines=tuple(e for e in (bump, cause, target) if e is not None),
        inferred=cause is None,
        because=say("by-line-before" if cause else "epoch-alone"),
        classic=False,
    )


_BEGINS = frozenset({"join-started", "join-requested", "partitions-revoked", "partitions-lost"})
DONE = frozenset({"join-completed", "sync-completed"})


@dataclass(frozen=True, slots=True)
class _Join:
    """What one client printed of one generation."""

    generation: int
    client: str
    started: float
    done: float
    lines: tuple[Episode, ...]


def _joins_of(client: str, lines: Sequence[Episode]) -> Iterator[_Join]:
    """Generations that *client* joined, each with the lines from its first step to its last."""
    steps: list[Episode] = []
    last: int | None = None
    for place, line in enumerate(lines):
        generation = number(line) if line.kind in DONE else None
        if line.kind in STARTS or line.kind in STOPS:
            steps = []
        elif line.kind in _BEGINS:
            steps = [*steps, line][-len(_BEGINS) :]
        elif generation is not None and generation != last:
            last = generation
            done = _last_step(lines, place, generation).first_at or 0.0
            start = steps[0] if steps else line
            yield _Join(generation, client, start.first_at or 0.0, done, (start, *steps[1:], line))
            steps = []


def _last_step(lines: Sequence[Episode], place: int, generation: int) -> Episode:
    """The line with which the member has its partitions: the last one before its next join."""
    done = lines[place]
    for line in lines[place + 1 :]:
        if line.kind in _BEGINS or line.kind in STARTS or (line.kind in DONE and number(line) != generation):
            return done
        if line.kind in DONE or line.kind == "partitions-assigned":
            done = line
    return done


SAME = 600.0
"""Seconds within which the same number is the same generation: a rebalance waits for members, and a member may be late
for it, by max.poll.interval.ms (300 s) each. A group that lost its state counts from 1 again."""


_Starts = dict[int | None, list[float]]
"""When generations of one number began."""


def _starts(told: Sequence[Generation]) -> _Starts:
    found: dict[int | None, list[float]] = defaultdict(list)
    for generation in told:
        found[generation.number].append(generation.started)
    return found


def _is_told(starts: _Starts, generation: int | None, at: float) -> bool:
    return any(abs(started - at) <= SAME for started in starts.get(generation, ()))


def _joined(lines: Lines, told: Sequence[Generation]) -> list[Generation]:
    """Generations that clients joined and that *told* lacks, by time."""
    starts = _starts(told)
    joins = [join for client, own in lines.clients.items() for join in _joins_of(client, own)]
    runs: list[list[_Join]] = []
    for join in sorted(joins, key=lambda join: (join.generation, join.started, join.client)):
        if _is_told(starts, join.generation, join.started):
            continue
        if runs and runs[-1][0].generation == join.generation and join.started - runs[-1][0].started <= SAME:
            runs[-1].append(join)
        else:
            runs.append([join])
    runs.sort(key=lambda run: (run[0].started, run[0].generation))
    return [_of_joins(lines, run, before) for before, run in zip([[], *runs], runs, strict=False)]


def _of_joins(lines: Lines, joins: Sequence[_Join], before: Sequence[_Join]) -> Generation:
    first = joins[0]
    trigger, cause, because = _trigger(lines, joins, before)
    return Generation(
        started=first.started,
        stabilised=max(join.done for join in joins),
        number=first.generation,
        trigger=trigger,
        reason=(cause.reason or "") if cause else "",
        client_id=_owner(lines, cause) if cause else None,
        member_id=cause.member_id if cause else None,
        lines=tuple(dict.fromkeys((*((cause,) if cause else ()), first.lines[-1], first.lines[0]))),
        inferred=True,
        because=because,
    )


def _trigger(lines: Lines, joins: Sequence[_Join], before: Sequence[_Join]) -> tuple[Trigger, Episode | None, str]:
    """What another member printed just before, or what the first member to move says.

    A leave that came before the generation before this one had made that one; one that nobody joined was empty.
    """
    started = joins[0].started
    if before and before[0].generation == joins[0].generation - 1:
        since = max(started - ONCE, before[0].started)
        near = (line for own in lines.clients.values() for line in between(own, since, started))
        leaves = [line for line in near if line.kind in ("poll-timeout", "leave-sent")]
        if leaves:
            line = max(leaves, key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0))
            trigger = Trigger.POLL_TIMEOUT if line.kind == "poll-timeout" else Trigger.LEAVE
            return trigger, line, say("clients-left")
    new = [join for join in joins if _is_new(lines.clients, join)]
    for join in joins:
        for line in join.lines:
            trigger = trigger_of(client_reason(line.reason) or line.reason)
            moved = trigger is Trigger.COORDINATOR_MOVE and join in new
            if line.kind == "join-requested" and trigger is not Trigger.UNKNOWN and not moved:
                return trigger, line, say("clients-reason")
    if new:
        return Trigger.JOIN, new[0].lines[-1], say("clients-new")
    return Trigger.UNKNOWN, None, say("clients-silent")


def _is_new(clients: Mapping[str, Sequence[Episode]], join: _Join) -> bool:
    """Its process started, or it had lost its membership, since it joined last."""
    for line in reversed(between(clients[join.client], 0.0, join.started)):
        if line.kind in DONE:
            return False
        if line.kind in STARTS or line.kind in ("commit-failed", "partitions-lost", "generation-reset"):
            return True
    return any(line.kind == "partitions-lost" for line in join.lines)


def _owner(lines: Lines, line: Episode) -> str | None:
    return line.client_id or next((client for client, own in lines.clients.items() if line in own), None)


def _recorded(lines: Lines, told: Sequence[Generation]) -> Iterator[Generation]:
    """Generations that only records of ``__consumer_offsets`` tell of; the coordinator writes one when all is settled.

    Source: GroupMetadataManager.storeGroup, which is called with the leader's assignment and for an empty group.
    """
    starts = _starts(told)
    for line in lines.coordinator:
        at, generation = line.first_at or 0.0, number(line)
        if line.kind == "group-metadata" and generation and not _is_told(starts, generation, at):
            starts[generation].append(at)
            members = count_told(line)
            yield Generation(
                started=at,
                number=generation,
                trigger=Trigger.UNKNOWN,
                lines=(line,),
                stabilised=at if members else None,
                members=members,
                inferred=True,
                because=say("by-record"),
            )
