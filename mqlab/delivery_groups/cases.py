"""What Kafka groups lost by one mechanism, a case for each group and topic."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab import units
from mqlab.delivery.rows import Loss
from mqlab.delivery_groups.audit import group_losses
from mqlab.delivery_groups.offsets import partitions
from mqlab.facts import Facts, span
from mqlab.groups.consumer_groups import places as places_of
from mqlab.kafka.groups import groups
from mqlab.kafka.ledgers import readers
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
    def told(self) -> str:
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
