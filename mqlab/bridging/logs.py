"""Messages that a bridge took and that a reader of the log does not note: pending, refused, or not known."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from mqlab.bridging import ids, parties
from mqlab.bridging.ids import Row
from mqlab.bridging.rows import Gap, Step, Whereabouts
from mqlab.facts import Facts, Position
from mqlab.findings import Evidence
from mqlab.questions.traffic import increase

_REFUSED = ("record-too-large", "record-expired", "send-failed", "record-failed")
_STEPS = (Step.TAKEN, Step.HANDLED)


def whereabouts(
    facts: Facts, rows: Sequence[Row], topic: str, reader: tuple[str, Sequence[str]], bridge: Sequence[str]
) -> tuple[Gap, ...]:
    """Where the messages of *rows* are, which *bridge* took and none of the ledgers of *reader* notes."""
    who, ledgers = reader
    left = ids.count(rows)
    found = []
    for where, named, (many, how, places) in (
        (Whereabouts.PENDING, who, _pending(facts, topic, ledgers)),
        (Whereabouts.REFUSED, "", _refused(facts, bridge)),
    ):
        some = min(left, many)
        if some:
            low = some if some == many else 0
            found.append(Gap(*_STEPS, where, named, some, low, some, how, *ids.ends(rows),
                             evidence=(*places, *ids.places(rows))))  # fmt: skip
        left -= some
    if left:
        first, last = ids.ends(rows)
        how = f"taken by the bridge, noted by no ledger of {who}; the material does not tell whether they are stored"
        place = ids.places(rows)
        found.append(Gap(*_STEPS, Whereabouts.UNKNOWN, who, left, left, left, how, first, last, evidence=place))
    return tuple(found)


def _pending(facts: Facts, topic: str, ledgers: Sequence[str]) -> tuple[int, str, list[Evidence]]:
    """Records behind the last one of each partition that the ledgers note."""
    handled: dict[str, int] = {}
    for part in facts.parts:
        if part.source in ledgers and part.topic == topic and part.queue and part.last_offset is not None:
            handled[part.queue] = max(handled.get(part.queue, -1), part.last_offset)
    ends = {queue: last for queue in handled if (last := last_end(facts, topic, queue))}
    many = sum(max(0, (one.end or 0) - handled[queue] - 1) for queue, one in ends.items())
    how = "the log holds as many behind what the reader notes last"
    return many, how, [place(one) for one in ends.values()]


def last_end(facts: Facts, topic: str, queue: str) -> Position | None:
    """The position that tells the highest end of a partition."""
    told = [p for p in facts.positions if p.topic == topic and p.queue == queue and p.end is not None]
    return max(told, key=lambda p: (p.end or 0, p.source, p.line or 0), default=None)


def place(position: Position) -> Evidence:
    """Where a position stands."""
    return Evidence(position.source, position.line, position.text)


def _refused(facts: Facts, bridge: Sequence[str]) -> tuple[int, str, list[Evidence]]:
    """Records that the processes of the bridge say they could not store: lines, else their own counters of failures."""
    clients = set(parties.names(facts, bridge))
    logs = {e.source for e in facts.of_kind("client-configured", "connection-made") if e.client_id in clients}
    lines = [e for e in facts.of_kind(*_REFUSED) if e.client_id in clients or e.source in logs]
    counters = [s for s in facts.named("app.failed") if s.source in logs]
    counted = increase(counters, -inf, inf)
    from_lines = sum(e.count for e in lines)
    from_counters = round(counted.value) if counted else 0
    how = "the bridge says that it could not store as many"
    return max(from_lines, from_counters), how, [e.first for e in lines[:2]]
