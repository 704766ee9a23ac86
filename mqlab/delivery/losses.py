"""Losses by mechanism, as findings tell them: what the log of a topic lost, and what a group lost of it.

Where no ledger tells, a member that commits by itself and stopped right after it had told of a queue lost that at most.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from mqlab import words
from mqlab.delivery.durability import topics
from mqlab.delivery.elections import Handover
from mqlab.delivery.group_audit import audited, group_losses, group_rows, reckon
from mqlab.delivery.log_audit import log_rows
from mqlab.delivery.log_losses import BY_PLACE, Piece, acknowledged
from mqlab.delivery.loss_mechanisms import Case, of_incident
from mqlab.delivery.ownership_intervals import Early, Stint, early, stints, until_given_back
from mqlab.delivery.positions import offsets
from mqlab.delivery.rows import Loss
from mqlab.facts import Episode, Facts, Setting, span
from mqlab.findings import Certainty, Evidence
from mqlab.groups.membership import places as partitions_of
from mqlab.kafka.member_ledgers import noting
from mqlab.memo import per_facts

say = words.room("group-ledgers")
ways = words.room("delivery-ways")
_SHOWN = 3
"""Partitions that a sentence names, and whose lines are shown."""


@dataclass(frozen=True, slots=True)
class TopicLoss:
    """What the partitions of one topic lost by one mechanism."""

    topic: str
    cases: tuple[Case, ...]

    @property
    def exact(self) -> bool:
        """All of it was counted."""
        return all(case.loss.exact for case in self.cases)

    @property
    def certainty(self) -> Certainty:
        """That of the least certain part."""
        return min(case.certainty for case in self.cases)

    @property
    def queues(self) -> int:
        """Partitions that lost some."""
        return len({case.piece.queue for case in self.cases})

    @property
    def read(self) -> int:
        """Counted messages that consumers had read before."""
        return sum(case.piece.read for case in self.cases if case.loss.exact)

    @property
    def span(self) -> tuple[float | None, float | None]:
        """From the first lost message to the leader that began without it."""
        begun = [case.piece.handover.after.at for case in self.cases if case.piece.handover is not None]
        return span([*(at for case in self.cases for at in (case.piece.since, case.piece.until)), *begun])

    @property
    def records(self) -> str:
        """``1,562 records of orders-0 (offsets 5 to 1,566)``; ``374 to 1,574 records`` where it is an interval."""
        least, most = sum(case.piece.least for case in self.cases), sum(case.piece.most for case in self.cases)
        low = None if least == most else least
        return ways("records", least=low, most=most, places=[_place(case.piece) for case in self.cases])

    @property
    def handover(self) -> Handover | None:
        """The change of leader that lost the most."""
        known = [case.piece for case in self.cases if case.piece.handover is not None]
        worst = max(known, key=lambda piece: (piece.records, piece.queue), default=None)
        return worst.handover if worst is not None else None


def _place(piece: Piece) -> str:
    place = {"topic": piece.topic, "queue": piece.queue}
    return ways("place", **place, first=piece.first_offset, last=piece.last_offset)


def by_topics(facts: Facts, incident: str) -> tuple[TopicLoss, ...]:
    """What *incident* lost, a row for each topic, by name."""
    cases = sorted(of_incident(facts, incident), key=lambda case: case.piece.topic)
    return tuple(TopicLoss(topic, tuple(own)) for topic, own in groupby(cases, key=lambda case: case.piece.topic))


def measures(facts: Facts, loss: TopicLoss) -> dict[str, float]:
    """Lost, pending and acknowledged messages; an interval where they could not be counted."""
    least, most = sum(case.piece.least for case in loss.cases), sum(case.piece.most for case in loss.cases)
    numbers = {"lost_records": float(sum(case.piece.records for case in loss.cases))}
    if least != most:
        numbers |= {"lost_records_least": float(least), "lost_records_most": float(most)}
    if loss.read:
        numbers["lost_records_read_before"] = float(loss.read)
    pending = [row.pending for row in group_rows(facts, loss.topic) if row.pending is not None]
    if pending:
        numbers["pending_records"] = float(sum(pending))
    acked = [row.acked for row in log_rows(facts, loss.topic) if row.acked is not None]
    if acked:
        numbers["acknowledged_records"] = float(sum(acked))
    return numbers


def evidence(facts: Facts, loss: TopicLoss) -> tuple[Evidence, ...]:
    """What shows the mechanism, then the messages: of a place that was given out twice, both lines."""
    worst = sorted(loss.cases, key=lambda case: (-case.piece.records, case.piece.queue))[:_SHOWN]
    lines = [line for case in worst for line in case.mechanism.evidence]
    lines += [line for case in worst for line in _messages(facts, case.piece)]
    return tuple(dict.fromkeys(lines))


def _messages(facts: Facts, piece: Piece) -> Iterator[Evidence]:
    if piece.how != BY_PLACE:
        yield from piece.evidence
        return
    yield replace(piece.evidence[0], why=ways("lost"))
    for fate in acknowledged(facts, piece.topic):
        if (fate.queue, fate.first_offset) == (piece.queue, piece.first_offset) and not fate.overwritten:
            yield replace(fate.first, why=ways("overwritten"))
            break
    yield replace(piece.evidence[1], why=ways("last-lost"))


@dataclass(frozen=True, slots=True)
class GroupLoss:
    """Losses of one group in the partitions of one topic."""

    group: str
    topic: str
    losses: tuple[Loss, ...]

    @property
    def subject(self) -> str:
        """Group and topic."""
        return f"{self.group}/{self.topic}"

    @property
    def where(self) -> str:
        """Topic and partitions, in words."""
        return partitions_of(self.topic, self.queues)

    @property
    def queues(self) -> tuple[str, ...]:
        """Partitions, by number."""
        return tuple(sorted({one.queue for one in self.losses}, key=int))

    @property
    def records(self) -> int:
        """Messages, all partitions together."""
        return sum(loss.records for loss in self.losses)

    @property
    def exact(self) -> bool:
        """All of them were counted."""
        return all(loss.exact for loss in self.losses)

    @property
    def amount(self) -> str:
        """Their number, with the interval where it is an estimate."""
        least, most = sum(one.least for one in self.losses), sum(one.most for one in self.losses)
        low, high = (None, None) if self.exact else (least, most)
        return ways("amount", records=self.records, least=low, most=high)

    @property
    def span(self) -> tuple[float | None, float | None]:
        """When they were acknowledged, first and last."""
        return span(at for one in self.losses for at in (one.since, one.until))


def dense(loss: Loss) -> bool:
    """Counted, and every offset of its range is one of them."""
    return loss.exact and loss.records == (loss.last_offset or 0) - (loss.first_offset or 0) + 1


@per_facts
def by_groups(facts: Facts, incident: str | None) -> tuple[GroupLoss, ...]:
    """What groups lost by one mechanism, by topic and group; of None those that no mechanism explains."""
    by_place: dict[tuple[str, str], list[Loss]] = {}
    for topic in topics(facts):
        for loss in group_losses(facts, topic):
            if loss.incident == incident and loss.group:
                by_place.setdefault((topic, loss.group), []).append(loss)
    return tuple(GroupLoss(group, topic, tuple(losses)) for (topic, group), losses in by_place.items())


@per_facts
def places(facts: Facts) -> tuple[tuple[str, str, str], ...]:
    """Every group, topic and partition that the material tells of."""
    return tuple(place for topic in topics(facts) for place in audited(facts, topic))


_DRAINED = 2 * 0.5
"""Seconds after the last line about a queue within which a stop loses it. A consumer tells of it at each poll, which
waits for fetch.max.wait.ms (500 ms by default) where nothing comes: the poll that told, and one that was cut short."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A consumer that commits by itself stopped with a queue that was not empty."""

    group: str
    client: str
    at: float
    waiting: Episode
    auto: Setting
    stop: Evidence


_STOPPED = 5.0
"""Seconds after such a line within which a stop may lose what it counts: auto.commit.interval.ms, with some of which
the stop itself commits last."""


def stops(facts: Facts, case: GroupLoss) -> tuple[Stint, ...]:
    """Stints that ended with what the case counts in memory, by time."""
    ended = {stint for loss in case.losses for stint in _ended(facts, loss)}
    return tuple(sorted(ended, key=lambda s: (s.since, s.client, s.low)))


def _ended(facts: Facts, loss: Loss) -> Iterator[Stint]:
    """Stints on one partition that ended with what was lost in memory."""
    low, high = loss.first_offset or 0, (loss.last_offset or 0) + 1
    for stint in stints(facts, loss.group or "", loss.topic, loss.queue):
        if stint.until is not None and stint.low <= low and high <= stint.high:
            yield until_given_back(stint, high) or stint


def signs(facts: Facts, case: GroupLoss) -> Early:
    """The best of each sign in those stints."""
    signs_of_stints = [
        early(facts, (case.group, case.topic, loss.queue), stint)
        for loss in case.losses for stint in _ended(facts, loss)
    ]  # fmt: skip
    waiting = [sign.waiting for sign in signs_of_stints if sign.waiting is not None]
    return Early(
        next((sign.auto for sign in signs_of_stints if sign.auto is not None), None),
        max(waiting, key=lambda e: (e.last_at or 0.0, e.source, e.last.line or 0), default=None),
        next((sign.ahead for sign in signs_of_stints if sign.ahead is not None), None),
    )


@per_facts
def lost_queues(facts: Facts) -> tuple[Memory, ...]:
    """Orderly stops right after a word about a queue, of groups without a ledger, each once; by group and client.

    Only an orderly stop is sure to commit what was polled (``ConsumerCoordinator.close``).
    """
    memories = {}
    for place in places(facts):
        for stint in stints(facts, *place) if not noting(facts, *place[:2]) else ():
            sign = early(facts, place, stint)
            if sign.auto is None or sign.waiting is None or stint.until is None or not stint.orderly:
                continue
            if stint.until - (sign.waiting.last_at or 0.0) <= _DRAINED:
                memory = Memory(place[0], stint.client, stint.until, sign.waiting, sign.auto, stint.places[-1])
                memories[memory.group, memory.client, memory.at] = memory
    return tuple(memories[key] for key in sorted(memories))


def stopped_full(facts: Facts) -> tuple[Episode, ...]:
    """The last words about a queue in memory of consumers that stopped in good order right after them."""
    last = {e.source: e for e in facts.of_kind("handed-over") if e.value_max and e.last_at is not None}
    stops = {e.source: e.first_at for e in facts.of_kind("app-stopping") if e.first_at is not None}
    return tuple(e for s, e in sorted(last.items()) if 0 <= stops.get(s, 0.0) - (e.last_at or 0.0) <= _STOPPED)


@per_facts
def missing_ledgers(facts: Facts) -> tuple[str, ...]:
    """What would tell whether a stop lost records: of groups that commit by themselves, or whose ledgers leave gaps."""
    wanted: set[str] = set()
    for place in places(facts):
        reckoning = reckon(facts, *place)
        if noting(facts, *place[:2]):
            wanted |= set(reckoning.doubts) if reckoning.unknown else set()
            continue
        ended = [stint for stint in stints(facts, *place) if stint.stopped and stint.high > stint.low]
        if any(early(facts, place, stint).auto is not None for stint in ended):
            wanted.add(say("handled", group=place[0]))
    return tuple(sorted(wanted))


def gone_past(facts: Facts, loss: GroupLoss) -> float | None:
    """When the group was first seen to be behind one of them; None where no position of it was."""
    seen = []
    for one in loss.losses:
        marks = offsets(facts, loss.group, loss.topic, one.queue).committed
        seen += [m.at for m in marks if m.offset > (one.last_offset or 0) and m.at >= (one.since or m.at)]
    return min(seen, default=None)
