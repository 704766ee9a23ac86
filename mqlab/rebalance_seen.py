"""Generations that only clients tell of: the coordinator's log is not there, or not for that time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mqlab.facts import Episode
from mqlab.rebalance_index import Lines, between
from mqlab.rebalance_kinds import STARTS
from mqlab.rebalance_lines import client_reason, number, trigger_of
from mqlab.rebalance_marks import ONCE
from mqlab.rebalance_rows import Trigger
from mqlab.rebalance_starts import Begun

_BEGINS = frozenset({"join-started", "join-requested", "partitions-revoked", "partitions-lost"})
_DONE = frozenset({"join-completed", "sync-completed"})
SAME = 600.0
"""Seconds within which the same number is the same generation; a group that lost its state counts from 1 again."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one client printed of one generation."""

    client: str
    started: float
    done: float
    lines: tuple[Episode, ...]


def seen(lines: Lines, told: Sequence[Begun]) -> list[Begun]:
    """Generations that clients joined and that *told* lacks, by time."""
    known: dict[int | None, list[float]] = defaultdict(list)
    for one in told:
        known[one.generation].append(one.started)
    by_generation: dict[int, list[_Seen]] = defaultdict(list)
    for client, these in lines.clients.items():
        for generation, join in _joins(client, these):
            if all(abs(at - join.started) > SAME for at in known.get(generation, ())):
                by_generation[generation].append(join)
    found = [
        _begun(lines, generation, joins)
        for generation, every in by_generation.items()
        for joins in _apart(sorted(every, key=lambda s: (s.started, s.client)))
    ]
    return sorted(found, key=lambda b: (b.started, b.generation or 0))


def _joins(client: str, these: Sequence[Episode]) -> Iterator[tuple[int, _Seen]]:
    """Generations that *client* joined, each with the lines from its first step to its last."""
    begun: list[Episode] = []
    last: int | None = None
    for place, line in enumerate(these):
        generation = number(line) if line.kind in _DONE else None
        if line.kind in _BEGINS:
            begun = [*begun, line][-4:]
        elif generation is not None and generation != last:
            last = generation
            done = _last_step(these, place, generation)
            start = begun[0] if begun else line
            yield generation, _Seen(client, start.first_at or 0.0, done.first_at or 0.0, (start, *begun[1:], line))
            begun = []


def _last_step(these: Sequence[Episode], place: int, generation: int) -> Episode:
    """The line with which the member has its partitions: the last one before its next join."""
    done = these[place]
    for line in these[place + 1 :]:
        if line.kind in _BEGINS or line.kind in STARTS or (line.kind in _DONE and number(line) != generation):
            return done
        if line.kind in _DONE or line.kind == "partitions-assigned":
            done = line
    return done


def _apart(joins: Sequence[_Seen]) -> Iterator[list[_Seen]]:
    """The same generation of a group that counted anew is another one."""
    run: list[_Seen] = []
    for one in joins:
        if run and one.started - run[0].started > SAME:
            yield run
            run = []
        run.append(one)
    if run:
        yield run


def _begun(lines: Lines, generation: int, joins: list[_Seen]) -> Begun:
    first = joins[0]
    done = max(one.done for one in joins)
    trigger, cause, because = _trigger(lines, joins)
    return Begun(
        started=first.started,
        stabilised=done,
        generation=generation,
        trigger=trigger,
        reason=(cause.reason or "") if cause else "",
        client_id=_owner(lines, cause) if cause else None,
        member_id=cause.member_id if cause else None,
        host=None,
        members=None,
        lines=tuple(dict.fromkeys((*((cause,) if cause else ()), first.lines[-1], first.lines[0]))),
        inferred=True,
        because=f"logs of clients tell of the generation, {because}",
    )


def _trigger(lines: Lines, joins: Sequence[_Seen]) -> tuple[Trigger, Episode | None, str]:
    """What the first member to move says, or what another one printed just before."""
    started = joins[0].started
    before = [
        e for these in lines.clients.values() for e in between(these, started - ONCE, started)
        if e.kind in ("poll-timeout", "leave-sent")
    ]  # fmt: skip
    if before:
        line = max(before, key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0))
        trigger = Trigger.POLL_TIMEOUT if line.kind == "poll-timeout" else Trigger.LEAVE
        return trigger, line, "a member left just before"
    for one in joins:
        for line in one.lines:
            trigger = trigger_of(client_reason(line.reason) or line.reason)
            if line.kind == "join-requested" and trigger is not Trigger.UNKNOWN:
                return trigger, line, "and a member says why it joins"
    new = [one for one in joins if _is_new(lines.clients, one)]
    if new:
        return Trigger.JOIN, new[0].lines[-1], "and a member joined that was not in it"
    return Trigger.UNKNOWN, None, "nobody says why"


def _is_new(clients: Mapping[str, Sequence[Episode]], one: _Seen) -> bool:
    """Its process started, or it had lost its membership, since it joined last."""
    for line in reversed(between(clients[one.client], 0.0, one.started)):
        if line.kind in _DONE:
            return False
        if line.kind in STARTS or line.kind in ("commit-failed", "partitions-lost", "generation-reset"):
            return True
    return any(line.kind == "partitions-lost" for line in one.lines)


def _owner(lines: Lines, line: Episode) -> str | None:
    return line.client_id or next((client for client, these in lines.clients.items() if line in these), None)
