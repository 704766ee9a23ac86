"""What a rebalance cost: how long the group stood still, partitions that moved, records delayed and handled again.

An eager group stands still as a whole, a cooperative one with what was given up. A cooperative member gives up what it
is to lose only after it has its new assignment, and joins again so that others can have it: one change, two rebalances
(KIP-429). Before 3.2 a member does not tell the coordinator why it joins again.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.kafka.generations import Generation
from mqlab.kafka.groups import topics
from mqlab.kafka.log_lines import CLIENT, FOLLOW_UP, STOPS, between, client_of, lines, rejoined, trigger_of
from mqlab.kafka.member_ledgers import ledgers, noted_records
from mqlab.kafka.rows import ONCE, RESOLUTION, Rebalance, Trigger
from mqlab.memo import per_facts
from mqlab.shared.restarts import CLOCKS

say = words.room("rebalances")

_GIVEN_UP = frozenset({"partitions-revoked", "partitions-lost"})


def standstills(rows: Iterable[Rebalance]) -> tuple[tuple[float, float], ...]:
    """Times (from, to) in which the group stood still, none twice: rebalances that follow at once share theirs."""
    found: list[tuple[float, float]] = []
    for row in sorted(rows, key=lambda r: r.started):
        if row.standstill:
            end = row.started + row.standstill
            if found and row.started <= found[-1][1]:
                found[-1] = (found[-1][0], max(end, found[-1][1]))
            else:
                found.append((row.started, end))
    return tuple(found)


def eager(rows: Sequence[Rebalance]) -> list[float | None]:
    """Seconds from the start of each eager rebalance until the members had their partitions again.

    A group that nobody was left in, or that began anew before that, has them with a later one.
    """
    found: list[float | None] = []
    later: float | None = None
    for row in reversed(rows):
        later = row.stabilised if row.stabilised is not None else later
        found.append(None if later is None else max(0.0, later - row.started))
    return found[::-1]


def idle(facts: Facts, group: str, begun: Sequence[Generation]) -> list[float | None]:
    """Seconds in which partitions that changed their owner in each cooperative rebalance had none.

    From the first that was given up in it until the last of them was taken; what an expelled member had is given up
    when the rebalance starts. What is taken later, or lost late by who had been expelled, belongs to no other one.
    """
    starts = [one.started for one in begun]
    spans: dict[int, list[tuple[float, float]]] = defaultdict(list)
    taking: set[int] = set()
    owners: dict[str, str] = {}
    freed: dict[str, tuple[float, int]] = {}
    for line, client in _changes(facts, group):
        at = line.first_at or 0.0
        here = bisect_right(starts, at) - 1
        places = (line.reason or "").split(", ") if line.reason else []
        if line.kind in _GIVEN_UP:
            for place in [p for p in places if owners.get(p) == client]:
                del owners[place]
                freed[place] = (at, _leaving(facts, group, client, at, starts) or max(0, here))
            continue
        taking.add(here)
        for place in places:
            since = freed.pop(place, None)
            if since is None and owners.get(place, client) != client and here >= 0:
                since = (starts[here], here)
            if since is not None:
                spans[since[1]].append((since[0], at))
            owners[place] = client
    idle = {n: max(until for _, until in these) - min(since for since, _ in these) for n, these in spans.items()}
    return [idle.get(n, 0.0 if n in taking else None) for n in range(len(begun))]


def _leaving(facts: Facts, group: str, client: str, at: float, starts: Sequence[float]) -> int | None:
    """Place of the rebalance that follows at once, where the member gives up its partitions because it closes."""
    near = between(lines(facts, group).clients[client], at - CLOCKS, at + CLOCKS)
    following = bisect_right(starts, at)
    soon = following < len(starts) and starts[following] - at <= CLOCKS
    return following if soon and any(line.kind in STOPS for line in near) else None


def _changes(facts: Facts, group: str) -> list[tuple[Episode, str]]:
    """What members got and gave up, with the member, by time."""
    every = [
        (e, client)
        for client, these in lines(facts, group).clients.items()
        for e in these
        if e.kind == "partitions-assigned" or e.kind in _GIVEN_UP
    ]
    return sorted(every, key=lambda pair: (pair[0].first_at or 0.0, pair[1], pair[0].first.line or 0))


@per_facts
def cooperative(facts: Facts, group: str) -> bool | None:
    """True where the group keeps its partitions during a rebalance, False where it gives up all, None if untold."""
    known = lines(facts, group)
    if any(line.kind == "group-epoch-bumped" for line in known.coordinator):
        return True
    for these in known.clients.values():
        for line in these:
            if line.kind in CLIENT and ("protocol='cooperative" in line.first.text or FOLLOW_UP in (line.reason or "")):
                return True
            if "protocol='" in line.first.text:
                return False
    told = [s.value for s in facts.settings if s.key == "partition.assignment.strategy" and s.owner in known.clients]
    return all("ooperative" in value and "," not in value for value in told) if told else None


def follow_up(facts: Facts, group: str, old: Generation | None, generation: Generation) -> str:
    """How *generation* is known to be the second half of *old*; empty where it is not, or the line itself says so."""
    if old is None or old.stabilised is None or generation.started - old.stabilised > ONCE:
        return ""
    if generation.trigger is not Trigger.UNKNOWN or not rejoined(generation.reason):
        return ""
    near = _own(facts, group, generation, old.started)
    if any(e.kind == "join-requested" and FOLLOW_UP in (e.reason or "") for e in near):
        return say("follow-up-said")
    if any(e.kind in _GIVEN_UP and e.value_max for e in near) and cooperative(facts, group):
        return say("follow-up-gave-up")
    if cooperative(facts, group) and not near:
        return say("follow-up-at-once")
    return ""


def own_reason(facts: Facts, group: str, generation: Generation) -> Trigger:
    """Why the member joined again that the coordinator names without a reason, as its own log says; else UNKNOWN."""
    if generation.trigger is not Trigger.UNKNOWN or not rejoined(generation.reason):
        return Trigger.UNKNOWN
    near = _own(facts, group, generation, generation.started - ONCE)
    said = [trigger_of(e.reason) for e in near if e.kind == "join-requested"]
    return said[-1] if said else Trigger.UNKNOWN


def _own(facts: Facts, group: str, generation: Generation, since: float) -> Sequence[Episode]:
    """What the client that began it wrote from *since* until then."""
    return between(lines(facts, group).of(generation.client_id), since, generation.started + RESOLUTION)


_PARTITION = re.compile(r"([^\s,\[\]]+)-(\d+)")

Place = tuple[str, str]
"""Topic and partition."""


def moved(facts: Facts, group: str, begun: Sequence[Generation]) -> list[int | None]:
    """Partitions whose owner is another one than before; None where owners before or after are not told.

    The leader of an eager or cooperative group prints the whole assignment; else it is what each member prints of its
    own partitions, where all of them do.
    """
    whole = _whole(facts, group)
    moments = [at for at, _ in whole]
    changes = deque(_changes(facts, group))
    held: dict[str, set[Place]] = defaultdict(set)
    last: dict[Place, str] = {}
    found: list[int | None] = []
    ends = [later.started for _, later in pairwise(begun)] + [float("inf")]
    for one, end in zip(begun, ends, strict=False):
        place = bisect_left(moments, end) - 1
        after = whole[place][1] if place >= 0 and moments[place] >= one.started else None
        told: set[str] | None = set() if after is None else None
        while told is not None and changes and (changes[0][0].first_at or 0.0) < end:
            line, client = changes.popleft()
            places = {(part[1], part[2]) for part in _PARTITION.finditer(line.reason or "")}
            if line.kind == "partitions-assigned":
                held[client] |= places
                told |= {client} if (line.first_at or 0.0) >= one.started else set()
            else:
                held[client] -= places
        if told and (one.members is None or len(told) >= one.members):
            after = {partition: client for client in sorted(told) for partition in held[client]}
        found.append(None if after is None or not last else sum(last.get(p, o) != o for p, o in after.items()))
        last.update(after or {})
    return found


def _whole(facts: Facts, group: str) -> Sequence[tuple[float, Mapping[Place, str]]]:
    """Assignments that one line or one snapshot tells as a whole, by time."""
    rows: dict[tuple[float, str], list[tuple[Place, str, str]]] = defaultdict(list)
    for row in facts.assignments:
        if row.group == group and row.at is not None:
            member = row.member_id or row.client_id or ""
            client = client_of(row.member_id) or row.client_id or member
            rows[row.at, row.source].append(((row.topic, row.queue), member, client))
    found = []
    for (at, _), these in sorted(rows.items()):
        shared = len({member for _, member, _ in these}) > len({client for _, _, client in these})
        found.append((at, {place: member if shared else client for place, member, client in these}))
    return found


Curve = tuple[tuple[float, ...], tuple[float, ...]]
"""Moments and values, by time."""


def delayed(facts: Facts, group: str, since: float, until: float) -> int | None:
    """Records that came into the group's topics from *since* to *until*; None where nothing tells.

    Ends of partitions are taken to grow evenly between two snapshots.
    """
    for curves in _curves(facts, group):
        ends = [(_value(curve, since), _value(curve, until)) for curve in curves]
        grown = [end - begin for begin, end in ends if begin is not None and end is not None and end >= begin]
        if curves and len(grown) == len(curves):
            return round(sum(grown))
    return None


def _value(curve: Curve, at: float) -> float | None:
    times, values = curve
    place = bisect_left(times, at)
    if place == len(times) or (place == 0 and times[0] > at):
        return None
    if times[place] == at or place == 0:
        return values[place]
    share = (at - times[place - 1]) / (times[place] - times[place - 1])
    return values[place - 1] + share * (values[place] - values[place - 1])


@per_facts
def _curves(facts: Facts, group: str) -> Sequence[Sequence[Curve]]:
    """How the partitions of the group's topics grew, by each kind of source that tells of all of them."""
    own = {topic: queues for (name, topic), queues in topics(facts).items() if name == group}
    positions = [
        (tuple(p.at or 0.0 for p in points), tuple(float(p.end or 0) for p in points))
        for queues in own.values()
        for points in queues.values()
    ]
    read = _read(facts, group)
    told = [positions] if set(own) >= read else []
    for name in ("broker.log_end_offset", "broker.messages_in"):
        series = [s for s in facts.named(name) if s.labels.get("topic") in read and s.points]
        if {s.labels.get("topic") for s in series} == read:
            told.append([(tuple(at for at, _ in s.points), tuple(v for _, v in s.points)) for s in series])
    return told


@per_facts
def _read(facts: Facts, group: str) -> frozenset[str]:
    """Topics that the group reads."""
    found = {a.topic for a in facts.assignments if a.group == group}
    found |= {p.topic for p in facts.positions if p.group == group}
    return frozenset(found | {e.topic for e in facts.of_kind("offset-set") if e.group == group and e.topic})


def repeated(facts: Facts, group: str, since: float, until: float) -> int | None:
    """Records first handled from *since* to *until* and handled again later; None where no ledger of it tells."""
    moments, counts = _repeats(facts, group)
    if not moments:
        return None
    return sum(counts[bisect_left(moments, since) : bisect_right(moments, until)])


@per_facts
def _repeats(facts: Facts, group: str) -> tuple[Sequence[float], Sequence[int]]:
    """Moments, and how many records that were first handled then were handled more than once."""
    own = ledgers(facts, group)
    known = [pair for topic in sorted({d.topic for d in facts.deliveries}) for pair in noted_records(facts, topic, own)]
    rows = sorted((record.at, record.messages if len(noted) > 1 else 0) for record, noted in known)
    return [at for at, _ in rows], [count for _, count in rows]
