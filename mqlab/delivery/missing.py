"""Messages of one partition that a Kafka group has gone past and that none of its ledgers notes.

Whether they were handled is unknown where a member has no ledger, or one that begins late, ends early, was cut
or holds lines that cannot be read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mqlab import words
from mqlab.delivery.log_losses import BY_OFFSETS, pieces
from mqlab.delivery.ownership_intervals import Stint, stints
from mqlab.delivery.positions import Offsets, offsets, partitions
from mqlab.facts import Facts, Position, span
from mqlab.findings import Evidence
from mqlab.kafka.log_lines import client_of
from mqlab.kafka.member_ledgers import kept, noting
from mqlab.kafka.poll_limits import members, polls_of
from mqlab.memo import per_facts
from mqlab.rows import GRID, Assignment, Fate, times

say = words.room("group-ledgers")
Place = tuple[str, str, str]
"""A group, a topic and a partition."""


@dataclass(frozen=True, slots=True)
class Run:
    """Some of them, from ``low`` up to but not including ``high``."""

    low: int
    high: int
    messages: int
    least: int
    most: int
    """Interval in which ``messages`` lies: a part of a range that has gaps is an estimate."""
    since: float | None
    until: float | None
    first: Evidence | None
    """The line of the first of them."""


def inside(runs: Iterable[Run], low: int, high: int) -> list[Run]:
    """Parts of *runs* in a range."""
    return [_part(run, max(run.low, low), min(run.high, high)) for run in runs if run.low < high and low < run.high]


def outside(runs: Iterable[Run], low: int, high: int) -> list[Run]:
    """Parts of *runs* out of a range."""
    if low >= high:
        return list(runs)
    return [part for run in runs for part in (*inside([run], run.low, low), *inside([run], high, run.high))]


def _joined(runs: Sequence[Run]) -> tuple[Run, ...]:
    """*runs* by offset, those that touch put together."""
    joined: list[Run] = []
    for run in sorted(runs, key=lambda r: (r.low, r.high)):
        if joined and joined[-1].high == run.low:
            left = joined.pop()
            run = Run(
                left.low, run.high, left.messages + run.messages, left.least + run.least, left.most + run.most,
                span((left.since, run.since))[0], span((left.until, run.until))[1], left.first,
            )  # fmt: skip
        joined.append(run)
    return tuple(joined)


def _part(run: Run, low: int, high: int) -> Run:
    if (low, high) == (run.low, run.high):
        return run
    whole, part = run.high - run.low, high - low
    messages = round(run.messages * part / whole)
    least, most = max(0, run.least - (whole - part)), min(run.most, part)
    step = 0.0 if run.since is None or run.until is None else (run.until - run.since) / whole
    since = None if run.since is None else run.since + step * (low - run.low)
    until = None if run.until is None else run.until - step * (run.high - high)
    return replace(
        run, low=low, high=high, messages=messages, least=least, most=most, since=since, until=until,
        first=run.first if low == run.low else None,
    )  # fmt: skip


@per_facts
def fates(facts: Facts, topic: str, queue: str) -> tuple[Fate, ...]:
    """What became of the messages of one partition, by offset."""
    return _by_place(facts).get((topic, queue), ())


@per_facts
def _by_place(facts: Facts) -> Mapping[tuple[str, str], tuple[Fate, ...]]:
    by_place: dict[tuple[str, str], list[Fate]] = defaultdict(list)
    for fate in facts.fates:
        if fate.first_offset is not None:
            by_place[fate.topic, fate.queue].append(fate)
    return {
        place: tuple(sorted(rows, key=lambda f: (f.first_offset, f.last_offset or 0, f.first_at or 0.0)))
        for place, rows in by_place.items()
    }


def in_log(fate: Fate) -> bool:
    """It was acknowledged or is stored, and the log did not lose it."""
    return bool(fate.acked or fate.stored) and not fate.overwritten


@per_facts
def counted(facts: Facts, topic: str, queue: str) -> bool:
    """The material tells which messages are in the partition, by ids of producers or by a dump of the log."""
    return any(f.acked or f.stored for f in fates(facts, topic, queue))


@per_facts
def position(facts: Facts, group: str, topic: str, queue: str) -> int | None:
    """Where the group stands in the end: as committed, or right behind the last message that it handled."""
    last = offsets(facts, group, topic, queue).last
    if last is not None:
        return last.offset
    own = noting(facts, group, topic)
    return max((_behind(f) for f in fates(facts, topic, queue) if times(f, own)), default=None)


@per_facts
def unhandled(facts: Facts, group: str, topic: str, queue: str) -> tuple[Run, ...]:
    """Messages in the log that no ledger of the group notes, by offset, with those that wait.

    A place of which a ledger of the group notes any message is handled; what the log lost is no loss of the group.
    Where nothing tells which messages are in the log, every offset that was not handled counts as one: not each of
    them need hold one.
    """
    own = noting(facts, group, topic)
    rows = fates(facts, topic, queue)
    stored = [f for f in rows if in_log(f)]
    left = [_run(f) for f in stored if not times(f, own)]
    if own:
        left += _gaps(offsets(facts, group, topic, queue), max((_behind(f) for f in stored), default=None), rows)
    for fate in rows:
        if times(fate, own) and not fate.overwritten:
            left = outside(left, fate.first_offset or 0, _behind(fate))
    for piece in pieces(facts, topic):
        if piece.queue == queue and piece.how != BY_OFFSETS and piece.first_offset is not None:
            left = outside(left, piece.first_offset, (piece.last_offset or 0) + 1)
    if sparse(facts, topic):
        left = [replace(run, least=0) for run in left]
    return _joined(left)


@per_facts
def sparse(facts: Facts, topic: str) -> bool:
    """A record of *topic* need not be there any more, or be shown: it is compacted, or written in transactions.

    Compaction removes older records of a key; what an aborted transaction wrote is hidden, and markers take offsets.
    """
    compacted = any(
        s.key == "cleanup.policy" and s.owner == topic and s.scope == "topic" and "compact" in s.value
        for s in facts.settings
    )
    return compacted or any(
        s.key == "transactional.id" and s.scope == "producer" and s.value not in ("", "null") for s in facts.settings
    )


def _run(fate: Fate) -> Run:
    low, high = fate.first_offset or 0, _behind(fate)
    return Run(low, high, fate.messages, fate.messages, fate.messages, fate.first_at, fate.last_at, fate.first)


def _behind(fate: Fate) -> int:
    return (fate.last_offset or 0) + 1


def _gaps(partition: Offsets, counted_to: int | None, rows: Sequence[Fate]) -> list[Run]:
    """Offsets up to the furthest that was committed, from where nothing tells any more which messages are in the log.

    *counted_to* is how far something does; without that, from the first offset that the group noted or began with.
    """
    end = max((mark.offset for mark in partition.committed), default=0)
    starts = [
        int(e.value_max)
        for e in partition.lines
        if e.kind in ("offset-set", "offset-reset-to") and e.value_max is not None
    ]
    starts += [f.first_offset or 0 for f in rows]
    low = counted_to if counted_to is not None else min(starts, default=end)
    return [Run(low, end, end - low, 0, end - low, None, None, None)] if low < end else []


def behind(fate: Fate, offset: int) -> int:
    """How many messages of a run lie at *offset* or behind it, at most."""
    return max(0, min(fate.messages, _behind(fate) - offset))


def doubt(facts: Facts, place: Place, stint: Stint, run: Run) -> str:
    """Why the ledgers do not tell whether *run*, of *stint* in *place*, was handled; empty where they do.

    *place* is a group, a topic and a partition.
    """
    group = place[0]
    noted = _noted(facts, group, stint.client)
    if not noted:
        return say("ledger", clients=[stint.client]) if stint.client else say("every-ledger", group=group)
    others = _owners(facts, place, stint) - set(kept(facts, group).values()) - {stint.client}
    if others and stint.client:
        return say("ledger", clients=sorted(others))
    if stint.until is None:
        return say("memory", client=stint.client or group)
    if unread := [ledger for ledger in sorted(kept(facts, group)) if facts.unread.get(ledger, 0) >= run.messages]:
        return say("unread", ledgers=unread)
    ledgers = sorted(source for source, who in kept(facts, group).items() if who in noted)
    if not all(_begins(facts, place, stint, run, own) for own in noted.values()):
        return say("beginning", ledgers=ledgers)
    lasting = noted_at(facts, place, stint.high - 1) or all(_lasts(facts, group, stint, own) for own in noted.values())
    if not lasting:
        return say("end", ledgers=ledgers)
    return ""


def noted_at(facts: Facts, place: Place, offset: int) -> bool:
    """A ledger of the group notes the record at *offset*: what it was handed before, it had the time to note."""
    own = noting(facts, *place[:2])
    return any(
        times(fate, own) and (fate.first_offset or 0) <= offset <= (fate.last_offset or 0)
        for fate in fates(facts, *place[1:])
    )


def _owners(facts: Facts, place: Place, stint: Stint) -> set[str]:
    """Clients that snapshots or assignments show to own the partition before somebody else is seen to begin."""
    end = min((other.since for other in stints(facts, *place) if other.since > stint.since), default=float("inf"))
    return {who for at, who in _seen(facts).get(place, ()) if stint.since <= at < end}


@per_facts
def _seen(facts: Facts) -> Mapping[tuple[str, str, str], Sequence[tuple[float, str]]]:
    """When whom was seen to own what."""
    rows: list[Position | Assignment] = [*facts.positions, *facts.assignments]
    owners: dict[tuple[str, str, str], list[tuple[float, str]]] = defaultdict(list)
    for row in rows:
        who = row.client_id or client_of(row.member_id)
        if row.group and row.at is not None and who:
            owners[row.group, row.topic, row.queue].append((row.at, who))
    return dict(owners)


@per_facts
def _noted(facts: Facts, group: str, client: str) -> Mapping[str, Sequence[float]]:
    """Keeper of ledgers → when they note something: *client*, or all members where nobody tells whose it was.

    Empty where not everybody who may have handled a record keeps one.
    """
    ledgers = kept(facts, group)
    keepers = {"", client} if client else set(ledgers.values())
    if not client and "" not in keepers and not members(facts, group) <= keepers:
        return {}
    noted: dict[str, list[float]] = defaultdict(list)
    for tally in facts.tallies:
        if ledgers.get(tally.source) in keepers:
            noted[ledgers[tally.source]].append(tally.at)
    return {who: sorted(moments) for who, moments in sorted(noted.items())}


def _begins(facts: Facts, place: Place, stint: Stint, run: Run, own: Sequence[float]) -> bool:
    """They note something before any of *run* was committed.

    One that begins in the middle of a stint, behind records that are not noted, may have begun late.
    """
    marks = [m for m in offsets(facts, *place).committed if m.at >= stint.since and m.offset > run.low]
    committed = min((m.at for m in marks), default=stint.until or stint.since)
    late = own[0] + GRID > stint.since and _ledger_behind(facts, place, stint, run)
    return own[0] <= committed and not late


def _ledger_behind(facts: Facts, place: Place, stint: Stint, run: Run) -> bool:
    """The first record that its ledgers note in the stint is behind *run*."""
    group, topic, queue = place
    own = frozenset(s for s, who in kept(facts, group).items() if not stint.client or who in ("", stint.client))
    noted = [f for f in fates(facts, topic, queue) if times(f, own) and (f.last_offset or 0) >= stint.low]
    return run.high <= min((f.first_offset or 0 for f in noted), default=-1)


def _lasts(facts: Facts, group: str, stint: Stint, own: Sequence[float]) -> bool:
    """They note something right before the process ended, and go on as long as its client goes on to commit.

    A poll that is worked on notes nothing yet.
    """
    slack = GRID + max((b.longest_seconds for b in polls_of(facts, group, stint.client)), default=0.0)
    until = stint.until or 0.0
    if not any(at + slack >= until for at in own):
        return False
    return own[-1] > until or _committing(facts, group, stint.client) <= own[-1] + slack


@per_facts
def _committing(facts: Facts, group: str, client: str) -> float:
    """When *client* was last seen to commit something new, in any partition."""
    last = 0.0
    for topic in sorted({p.topic for p in facts.positions if p.group == group}):
        for queue in partitions(facts, group, topic):
            marks = offsets(facts, group, topic, queue).committed
            for stint in stints(facts, group, topic, queue):
                if stint.client == client:
                    own = [m for m in marks if stint.since <= m.at and (stint.until is None or m.at <= stint.until)]
                    last = max([last, *(later.at for mark, later in pairwise(own) if later.offset > mark.offset)])
    return last
