"""Whether the ledgers of a Kafka group would show a record that it handled: who had to note it, and from when to when.

A member without a ledger, one that begins late, ends early or was cut makes what it does not note unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from mqlab.delivery_groups.missing import fates, times
from mqlab.delivery_groups.offsets import Mark, offsets, partitions
from mqlab.delivery_groups.runs import Run
from mqlab.delivery_groups.stints import Stint, stints
from mqlab.facts import Facts, Position
from mqlab.kafka.ledgers import kept, noting
from mqlab.memo import per_facts
from mqlab.polling.lines import members, polls_of
from mqlab.rebalances.lines import client_of
from mqlab.rows.groups import Assignment

BUCKET = 10.0
"""Seconds that one row of tallies spans."""


def doubt(facts: Facts, place: tuple[str, str, str], stint: Stint, run: Run) -> str:
    """Why the ledgers do not tell whether *run*, of *stint* in *place*, was handled; empty where they do.

    *place* is a group, a topic and a partition.
    """
    group = place[0]
    noted = _noted(facts, group, stint.client)
    if not noted:
        return f"the ledger of {stint.client or f'every member of {group}'}"
    others = _owners(facts, place, stint) - set(kept(facts, group).values()) - {stint.client}
    if others and stint.client:
        return f"the ledger of {', '.join(sorted(others))}"
    if stint.until is None:
        return f"what {stint.client or group} has in memory: it still runs when the material ends"
    names = ", ".join(sorted(source for source, who in kept(facts, group).items() if who in noted))
    if not all(_begins(facts, place, stint, run, own) for own in noted.values()):
        return f"the begin of {names}"
    lasting = noted_at(facts, place, stint.high - 1) or all(_lasts(facts, group, stint, own) for own in noted.values())
    if not lasting:
        return f"the end of {names}: it stops before the process does"
    return ""


def noted_at(facts: Facts, place: tuple[str, str, str], offset: int) -> bool:
    """A ledger of the group notes the record at *offset*: what it was handed before, it had the time to note."""
    own = noting(facts, *place[:2])
    return any(
        times(fate, own) and (fate.first_offset or 0) <= offset <= (fate.last_offset or 0)
        for fate in fates(facts, *place[1:])
    )


def _owners(facts: Facts, place: tuple[str, str, str], stint: Stint) -> set[str]:
    """Clients that snapshots or assignments show to own the partition before somebody else is seen to begin."""
    end = min((other.since for other in stints(facts, *place) if other.since > stint.since), default=float("inf"))
    return {who for at, who in _seen(facts).get(place, ()) if stint.since <= at < end}


@per_facts
def _seen(facts: Facts) -> Mapping[tuple[str, str, str], Sequence[tuple[float, str]]]:
    """When whom was seen to own what."""
    rows: list[Position | Assignment] = [*facts.positions, *facts.assignments]
    found: dict[tuple[str, str, str], list[tuple[float, str]]] = defaultdict(list)
    for row in rows:
        who = row.client_id or client_of(row.member_id)
        if row.group and row.at is not None and who:
            found[row.group, row.topic, row.queue].append((row.at, who))
    return dict(found)


@per_facts
def _noted(facts: Facts, group: str, client: str) -> Mapping[str, Sequence[float]]:
    """Keeper of ledgers → when they note something: *client*, or all members where nobody tells whose it was.

    Empty where not everybody who may have handled a record keeps one.
    """
    ledgers = kept(facts, group)
    keepers = {"", client} if client else set(ledgers.values())
    if not client and "" not in keepers and not members(facts, group) <= keepers:
        return {}
    found: dict[str, list[float]] = defaultdict(list)
    for tally in facts.tallies:
        if ledgers.get(tally.source) in keepers:
            found[ledgers[tally.source]].append(tally.at)
    return {who: sorted(moments) for who, moments in sorted(found.items())}


def _begins(facts: Facts, place: tuple[str, str, str], stint: Stint, run: Run, own: Sequence[float]) -> bool:
    """They note something before any of *run* was committed.

    One that begins in the middle of a stint, behind records that are not noted, may have begun late.
    """
    marks = [m for m in offsets(facts, *place).committed if m.at >= stint.since and m.offset > run.low]
    committed = min((m.at for m in marks), default=stint.until or stint.since)
    late = own[0] + BUCKET > stint.since and _behind(facts, place, stint, run)
    return own[0] <= committed and not late


def _behind(facts: Facts, place: tuple[str, str, str], stint: Stint, run: Run) -> bool:
    """The first record that its ledgers note in the stint is behind *run*."""
    group, topic, queue = place
    own = frozenset(s for s, who in kept(facts, group).items() if not stint.client or who in ("", stint.client))
    noted = [f for f in fates(facts, topic, queue) if times(f, own) and (f.last_offset or 0) >= stint.low]
    return run.high <= min((f.first_offset or 0 for f in noted), default=-1)


def _lasts(facts: Facts, group: str, stint: Stint, own: Sequence[float]) -> bool:
    """They note something right before the process ended, and go on as long as its client goes on to commit.

    A poll that is worked on notes nothing yet.
    """
    slack = BUCKET + max((b.longest_seconds for b in polls_of(facts, group, stint.client)), default=0.0)
    until = stint.until or 0.0
    if not any(at + slack >= until for at in own):
        return False
    return own[-1] > until or _committing(facts, group, stint.client) <= own[-1] + slack


@per_facts
def _committing(facts: Facts, group: str, client: str) -> float:
    """When *client* was last seen to commit something new, in any partition."""
    found = [0.0]
    for topic in sorted({p.topic for p in facts.positions if p.group == group}):
        for queue in partitions(facts, group, topic):
            for stint in stints(facts, group, topic, queue):
                if stint.client == client:
                    found += _moves(offsets(facts, group, topic, queue).committed, stint)
    return max(found)


def _moves(marks: Sequence[Mark], stint: Stint) -> list[float]:
    """Moments within *stint* at which the committed offset had moved."""
    until = stint.until if stint.until is not None else float("inf")
    inside = [m for m in marks if stint.since <= m.at <= until]
    return [later.at for one, later in pairwise(inside) if later.offset > one.offset]
