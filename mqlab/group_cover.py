"""Whether the ledgers of a Kafka group would show a record that it handled: who had to note it, and from when to when.

A member without a ledger, one that begins late, ends early or was cut makes what it does not note unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.facts import Facts
from mqlab.group_offsets import offsets
from mqlab.group_rows import Tally
from mqlab.group_runs import Run
from mqlab.group_stints import Stint
from mqlab.kafka_ledgers import kept
from mqlab.memo import per_facts
from mqlab.poll_lines import members, polls_of

BUCKET = 10.0
"""Seconds that one row of tallies spans."""


def doubt(facts: Facts, place: tuple[str, str, str], stint: Stint, run: Run) -> str:
    """Why the ledgers do not tell whether *run*, of *stint* in *place*, was handled; empty where they do.

    *place* is a group, a topic and a partition.
    """
    group = place[0]
    own = _keepers(facts, group, stint.client)
    if not own:
        who = stint.client or "the member that had the partition"
        return f"the ledger of {who}" if stint.client else f"the ledger of every member of {group}"
    rows = [t for t in _noted(facts) if t.source in own]
    if stint.until is None:
        return f"what {stint.client or group} has in memory: it still runs when the material ends"
    if not any(t.at <= _uncommitted(facts, place, stint, run) for t in rows):
        return f"the begin of {', '.join(sorted(own))}"
    if not _lasts(facts, group, stint, rows):
        return f"the end of {', '.join(sorted(own))}: it stops before the process does"
    return ""


def _keepers(facts: Facts, group: str, client: str) -> frozenset[str]:
    """Ledgers in which *client* notes what it handled; those of all members where nobody tells whose it was."""
    ledgers = kept(facts, group)
    shared = {source for source, who in ledgers.items() if not who}
    if client:
        return frozenset(shared | {source for source, who in ledgers.items() if who == client})
    return frozenset(ledgers) if shared or members(facts, group) <= set(ledgers.values()) else frozenset()


@per_facts
def _noted(facts: Facts) -> tuple[Tally, ...]:
    return tuple(sorted((t for t in facts.tallies), key=lambda t: (t.at, t.source)))


def _uncommitted(facts: Facts, place: tuple[str, str, str], stint: Stint, run: Run) -> float:
    """When the end of *run* was not committed yet, at last: a ledger that begins later may have missed it."""
    marks = [m for m in offsets(facts, *place).committed if m.at >= stint.since and m.offset < run.high]
    return max((m.at for m in marks), default=stint.since)


def _lasts(facts: Facts, group: str, stint: Stint, rows: Sequence[Tally]) -> bool:
    """They note something right before the process ended, or after it: a poll that was worked on notes nothing yet."""
    until = stint.until or 0.0
    longest = max((b.longest_seconds for b in polls_of(facts, group, stint.client)), default=0.0)
    return any(t.at + BUCKET + longest >= until for t in rows)
