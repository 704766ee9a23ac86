"""What Kafka groups lost by one mechanism, by group and topic, and what members had in memory as they stopped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab import units
from mqlab.delivery.group_audit import group_losses, reckon
from mqlab.delivery.ownership_intervals import Early, Stint, early, stints, until_given_back
from mqlab.delivery.positions import partitions
from mqlab.delivery.rows import Loss
from mqlab.facts import Episode, Facts, Setting, span
from mqlab.findings import Evidence
from mqlab.groups.membership import places as places_of
from mqlab.kafka.groups import groups
from mqlab.kafka.redelivery import noting, readers
from mqlab.memo import per_facts


@dataclass(frozen=True, slots=True)
class Case:
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
        return places_of(self.topic, self.queues)

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
        records = units.counted(self.records, "record")
        return records if self.exact else f"about {records} ({units.number(least)} to {units.number(most)})"

    @property
    def span(self) -> tuple[float | None, float | None]:
        """When they were acknowledged, first and last."""
        return span(at for one in self.losses for at in (one.since, one.until))


def dense(loss: Loss) -> bool:
    """Counted, and every offset of its range is one of them."""
    return loss.exact and loss.records == (loss.last_offset or 0) - (loss.first_offset or 0) + 1


@per_facts
def topics(facts: Facts) -> tuple[str, ...]:
    """Topics that groups read and those of which ledgers tell, by name; none of the broker's own."""
    named = {p.topic for p in facts.positions if p.group} | {f.topic for f in facts.fates}
    return tuple(sorted(name for name in named if name and not name.startswith("__")))


@per_facts
def cases(facts: Facts, incident: str | None) -> tuple[Case, ...]:
    """Cases of one mechanism, by topic and group; of None those that no mechanism explains."""
    found: dict[tuple[str, str], list[Loss]] = {}
    for topic in topics(facts):
        for loss in group_losses(facts, topic):
            if loss.incident == incident and loss.group:
                found.setdefault((topic, loss.group), []).append(loss)
    return tuple(Case(group, topic, tuple(losses)) for (topic, group), losses in found.items())


@per_facts
def places(facts: Facts) -> tuple[tuple[str, str, str], ...]:
    """Every group, topic and partition that the material tells of."""
    return tuple(
        (group, topic, queue)
        for topic in topics(facts)
        for group in groups(facts)
        if group in readers(facts, topic)
        for queue in partitions(facts, group, topic)
    )


_DRAINED = 1.0
"""Seconds after the last word about a queue within which a stop loses it: a consumer tells of it at each poll."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A consumer that commits by itself stopped with a queue that was not empty."""

    group: str
    client: str
    at: float
    waiting: Episode
    auto: Setting
    stop: Evidence


def stops(facts: Facts, case: Case) -> tuple[Stint, ...]:
    """Stints that ended with what the case counts in memory, by time."""
    found = {stint for loss in case.losses for stint in _ended(facts, loss)}
    return tuple(sorted(found, key=lambda s: (s.since, s.client, s.low)))


def _ended(facts: Facts, loss: Loss) -> Iterator[Stint]:
    """Stints on one partition that ended with what was lost in memory."""
    low, high = loss.first_offset or 0, (loss.last_offset or 0) + 1
    for stint in stints(facts, loss.group or "", loss.topic, loss.queue):
        if stint.until is not None and stint.low <= low and high <= stint.high:
            yield until_given_back(stint, high) or stint


def signs(facts: Facts, case: Case) -> Early:
    """The best of each sign in those stints."""
    every = [
        early(facts, (case.group, case.topic, loss.queue), stint)
        for loss in case.losses for stint in _ended(facts, loss)
    ]  # fmt: skip
    waiting = [one.waiting for one in every if one.waiting is not None]
    return Early(
        next((one.auto for one in every if one.auto is not None), None),
        max(waiting, key=lambda e: (e.last_at or 0.0, e.source, e.last.line or 0), default=None),
        next((one.ahead for one in every if one.ahead is not None), None),
    )


@per_facts
def lost_queues(facts: Facts) -> tuple[Memory, ...]:
    """Orderly stops right after a word about a queue, of groups without a ledger, each once; by group and client.

    Only an orderly stop is sure to commit what was polled (``ConsumerCoordinator.close``).
    """
    found = {}
    for place in places(facts):
        for stint in stints(facts, *place) if not noting(facts, *place[:2]) else ():
            sign = early(facts, place, stint)
            if sign.auto is None or sign.waiting is None or stint.until is None or not stint.orderly:
                continue
            if stint.until - (sign.waiting.last_at or 0.0) <= _DRAINED:
                memory = Memory(place[0], stint.client, stint.until, sign.waiting, sign.auto, stint.places[-1])
                found[memory.group, memory.client, memory.at] = memory
    return tuple(found[key] for key in sorted(found))


@per_facts
def missing_ledgers(facts: Facts) -> tuple[str, ...]:
    """What would tell whether a stop lost records: of groups that commit by themselves, or whose ledgers leave gaps."""
    found: set[str] = set()
    for place in places(facts):
        reckoning = reckon(facts, *place)
        if noting(facts, *place[:2]):
            found |= set(reckoning.doubts) if reckoning.unknown else set()
            continue
        ended = [stint for stint in stints(facts, *place) if stint.stopped and stint.high > stint.low]
        if any(early(facts, place, stint).auto is not None for stint in ended):
            found.add(f"what the members of {place[0]} handled, with partition and offset, by a ledger or their sink")
    return tuple(sorted(found))
