"""Generations that only clients tell of: the coordinator's log is not there, or not for that time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from mqlab.facts import Episode
from mqlab.rebalances.index import Lines, between
from mqlab.rebalances.joins import DONE, Joined, joins_of
from mqlab.rebalances.kinds import STARTS
from mqlab.rebalances.lines import client_reason, trigger_of
from mqlab.rebalances.marks import ONCE
from mqlab.rebalances.rows import Trigger
from mqlab.rebalances.starts import Begun

SAME = 600.0
"""Seconds within which the same number is the same generation; a group that lost its state counts from 1 again."""


_Run = tuple[int, list[Joined]]
"""A generation, and who joined it."""


def seen(lines: Lines, told: Sequence[Begun]) -> list[Begun]:
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
        host=None,
        members=None,
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
