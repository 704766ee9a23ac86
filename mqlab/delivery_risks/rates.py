"""How many records a second producers sent, topics took in and consumers read, by whatever counts them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from mqlab.delivery_log import durability
from mqlab.facts import Facts, Series, span
from mqlab.groups.queues import of_groups, paces
from mqlab.memo import per_facts
from mqlab.questions.traffic import summed
from mqlab.units import digits


@dataclass(frozen=True, slots=True)
class Rate:
    """Records a second while there were any."""

    per_second: float
    source: str
    """What counted them."""

    @property
    def told(self) -> str:
        """``320 records a second (counters of the producer)``."""
        return f"{digits(self.per_second)} records a second ({self.source})"

    def within(self, seconds: float) -> int:
        """Records of that time, rounded."""
        return round(self.per_second * seconds)


@per_facts
def of_producer(facts: Facts, owner: str | None) -> Rate | None:
    """What *owner* sent: by its counters, its ledgers, else what came into the topics that it alone writes."""
    own = [s for s in facts.named("producer.record_sends") if owner and s.labels.get("client_id") == owner]
    return _counted(own, "counters of the producer") or _topics(facts, owner)


@per_facts
def of_consumer(facts: Facts, owner: str | None, group: str | None) -> Rate | None:
    """What *owner* read: by its counters, else by the commits of its whole group."""
    own = [s for s in facts.named("consumer.records_consumed") if owner and s.labels.get("client_id") == owner]
    plain = [s for s in own if "topic" not in s.labels] or own
    return _counted(plain, "counters of the consumer") or of_group(facts, group)


@per_facts
def of_group(facts: Facts, group: str | None) -> Rate | None:
    """By how much the committed offsets of *group* moved, all its topics together."""
    whole = [_committed(facts, name, topic) for name, topic in of_groups(facts) if name == group]
    moved = sum(whole)
    return Rate(moved, "commits of the whole group") if moved > 0 else None


@per_facts
def of_topic(facts: Facts, topic: str) -> Rate | None:
    """What came into *topic*: by ledgers of acknowledged ids, brokers' counters, else ends of the log in snapshots."""
    counters = [s for s in facts.named("broker.messages_in") if s.labels.get("topic") == topic]
    return _noted(facts, topic) or _counted(counters, "counters of the brokers") or _ends(facts, topic)


def of_topics(facts: Facts, topics: Iterable[str]) -> Rate | None:
    """What came into all of *topics*; None where it is not known of any."""
    known = [rate for topic in topics if (rate := of_topic(facts, topic)) is not None]
    return Rate(sum(r.per_second for r in known), known[0].source) if known else None


@per_facts
def user_topics(facts: Facts) -> tuple[str, ...]:
    """Topics of users that the material tells of, by name."""
    named = {s.owner for s in facts.settings if s.scope == "topic"} | {p.topic for p in facts.positions}
    named |= {p.topic for p in facts.parts} | {s.labels.get("topic") for s in facts.named("broker.log_end_offset")}
    return tuple(sorted(t for t in named if t and not t.startswith("__")))


@per_facts
def written(facts: Facts, owner: str | None) -> tuple[str, ...]:
    """Topics that *owner* may write: those that its ledgers and counters name, else all of unknown writers."""
    return tuple(topic for topic in user_topics(facts) if owner in durability.producers(facts, topic))


def _topics(facts: Facts, owner: str | None) -> Rate | None:
    alone = [topic for topic in written(facts, owner) if durability.producers(facts, topic) == (owner,)]
    return of_topics(facts, alone)


def _counted(series: Sequence[Series], source: str) -> Rate | None:
    """Increase over the time in which there was any, whichever of *series* showed it."""
    steps = [(since, until, more) for since, until, more in summed(series) if more > 0 and until > since]
    seconds, reached = 0.0, float("-inf")
    for since, until, _ in steps:
        seconds += max(0.0, until - max(since, reached))
        reached = max(reached, until)
    return Rate(sum(more for _, _, more in steps) / seconds, source) if seconds else None


def _noted(facts: Facts, topic: str) -> Rate | None:
    parts = [p for p in facts.parts if p.topic == topic and p.role == "acked"]
    since, until = span(at for p in parts for at in (p.first_at, p.last_at))
    messages = sum(p.messages for p in parts)
    if since is None or until is None or until <= since or not messages:
        return None
    return Rate(messages / (until - since), "ledgers of acknowledged ids")


def _ends(facts: Facts, topic: str) -> Rate | None:
    """The group whose snapshots show most tells it; others see the same ends."""
    found = max((_moved(facts, key, _produced) for key in of_groups(facts) if key[1] == topic), default=0.0)
    return Rate(found, "ends of the log in snapshots") if found > 0 else None


def _committed(facts: Facts, group: str, topic: str) -> float:
    return _moved(facts, (group, topic), _consumed)


def _moved(facts: Facts, key: tuple[str, str], of: Callable[[int, int], int]) -> float:
    every = paces(of_groups(facts)[key], float("-inf"), float("inf")).values()
    return sum(_speeds((of(p.produced, p.consumed), p.seconds) for p in every))


def _speeds(moved: Iterable[tuple[int, float]]) -> Iterator[float]:
    yield from (max(0, count) / seconds for count, seconds in moved if seconds > 0)


def _produced(produced: int, _: int) -> int:
    return produced


def _consumed(_: int, consumed: int) -> int:
    return consumed
