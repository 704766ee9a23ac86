"""Which consumer group of Kafka to look at, and everything that is drawn about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.findings import Finding
from mqlab.kafka import groups
from mqlab.kafka.lives import lives
from mqlab.polling import limits, lines
from mqlab.rebalances.history import history
from mqlab.rebalances.rows import Behind
from mqlab.rebalances.view import Poll, RebalanceView, Topics, peak_lag

_ABOUT_A_GROUP = (
    "poll-interval-exceeded", "session-timeout", "group-churn", "static-member-fenced", "poison-pill-stall",
    "slow-consumer", "consumer-offline", "reprocess-duplicates", "rolling-restart",
)  # fmt: skip
"""Classes whose findings name the group to look at, the most telling first; their subject begins with the group."""
_IN_TROUBLE = (Behind.POLL_TIMEOUT, Behind.EXPIRY, Behind.CRASH)


def rebalance_view(
    facts: Facts, diagnosis: Diagnosis, group: str | None = None, topic: str | None = None
) -> RebalanceView:
    """The view of *group*; by default of the one that a finding is about, else of the one with most trouble."""
    finding = _finding(facts, diagnosis, group)
    chosen = group or (_group(finding) if finding else None) or _busiest(facts)
    if chosen is None:
        return RebalanceView(None)
    return RebalanceView(
        chosen,
        finding,
        lives(facts, chosen),
        history(facts, chosen),
        tuple(_polls(facts, chosen)),
        positions(facts, chosen, topic),
    )


def told_of(facts: Facts) -> tuple[str, ...]:
    """Groups of Kafka of which there is something to show."""
    return tuple(
        group
        for group in groups.groups(facts)
        if lives(facts, group) or history(facts, group) or positions(facts, group)
    )


def positions(facts: Facts, group: str, topic: str | None = None) -> Topics:
    """Positions of *group* by topic and partition, of *topic* only where it is named."""
    every = groups.topics(facts)
    return {read: queues for (owner, read), queues in every.items() if owner == group and topic in (None, read)}


def _polls(facts: Facts, group: str) -> Iterator[Poll]:
    for batch in lines.polls(facts, group):
        client, began = batch.client_id or "", batch.at - batch.longest_seconds
        allowed = limits.interval(facts, client, began)
        yield Poll(batch, allowed, limits.poll_records(facts, client, began))


def _finding(facts: Facts, diagnosis: Diagnosis, group: str | None) -> Finding | None:
    known: Sequence[str] = (group,) if group else groups.groups(facts)
    about = [f for f in diagnosis.findings if f.incident in _ABOUT_A_GROUP and _group(f) in known]
    return min(about, key=lambda f: _ABOUT_A_GROUP.index(f.incident), default=None)


def _group(finding: Finding) -> str:
    return finding.subject.partition("/")[0]


def _busiest(facts: Facts) -> str | None:
    """The group with most rebalances of members in trouble, then with most at all, then with the highest lag."""
    return max(told_of(facts), key=lambda group: _trouble(facts, group), default=None)


def _trouble(facts: Facts, group: str) -> tuple[int, int, int]:
    found = history(facts, group)
    in_trouble = sum(one.behind in _IN_TROUBLE for one in found)
    return in_trouble, len(found), peak_lag(positions(facts, group)) or 0
