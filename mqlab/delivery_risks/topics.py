"""What the settings of topics and brokers may lose: unclean elections, and topics with a single copy.

Sources: KIP-106 (unclean.leader.election.enable, false since 0.11), Partition and ReplicaManager: a replica that is out
of sync lacks all that came in since it stopped to follow, so that only the length of the log bounds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mqlab.delivery_log import durability
from mqlab.delivery_log.durability import Told
from mqlab.delivery_risks.producers import copied
from mqlab.delivery_risks.rates import of_topics, user_topics
from mqlab.delivery_risks.rows import Risk, listed, shown
from mqlab.facts import Facts
from mqlab.findings import Evidence

_UNCLEAN = "unclean.leader.election.enable"


def topic_risks(facts: Facts) -> Iterator[Risk]:
    """One row per setting and value, with all topics that have it."""
    yield from _unclean(facts)
    yield from _single(facts)


def _unclean(facts: Facts) -> Iterator[Risk]:
    found: list[tuple[str, Told]] = []
    for topic in user_topics(facts):
        told = durability.in_force(facts, topic, _UNCLEAN)
        if told is not None and told.value == "true" and copied(facts, [topic]) != 1:
            found.append((topic, told))
    for by_default in (False, True):
        rows = [(topic, told) for topic, told in found if (told.evidence is None) == by_default]
        if not rows:
            continue
        topics = [topic for topic, _ in rows]
        yield Risk(
            _UNCLEAN, f"topic {listed(topics)}", "true (default)" if by_default else "true",
            "a replica that is out of sync may become the leader",
            "all that was acknowledged since it fell out of sync is lost", "unclean-election-loss",
            None, 0, None, _for_as_long(facts, topics), _places([told for _, told in rows]),
        )  # fmt: skip


def _single(facts: Facts) -> Iterator[Risk]:
    """Topics with one copy in a cluster that could hold more."""
    brokers = {s.owner for s in facts.settings if s.scope == "broker" and s.owner}
    topics = [t for t in user_topics(facts) if durability.replicas(facts, t) == 1]
    if len(brokers) < 2 or not topics:
        return
    described = [s for s in facts.settings if s.key == "replication.factor" and s.owner in topics]
    first = {s.owner: s.evidence for s in reversed(described)}
    yield Risk(
        "replication.factor", f"topic {listed(topics)}", "1", "one broker has the only copy",
        "nothing can be written or read while that broker is down; all is lost with its disk", None,
        _stored(facts, topics), 0, _stored(facts, topics), "records between start and end of the logs, as last seen",
        shown([first[topic] for topic in topics]),
    )  # fmt: skip


def _stored(facts: Facts, topics: Sequence[str]) -> int | None:
    rows = [p for p in facts.positions if p.topic in topics and p.end is not None]
    last = {(p.topic, p.queue): (p.end or 0) - (p.start or 0) for p in sorted(rows, key=lambda p: p.at or 0.0)}
    return sum(last.values()) if last else None


def _for_as_long(facts: Facts, topics: Sequence[str]) -> str:
    rate = of_topics(facts, topics)
    return f"{rate.told} for as long as that replica had not followed" if rate else "no rate is known"


def _places(told: Sequence[Told]) -> tuple[Evidence, ...]:
    return shown([t.evidence for t in told if t.evidence is not None])
