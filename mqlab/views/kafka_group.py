"""One consumer group of Kafka for the eye: who was in it, each rebalance, how long polls took and what waits."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts, span
from mqlab.findings import Finding
from mqlab.kafka import groups, poll_limits
from mqlab.kafka.lives import lives
from mqlab.kafka.rebalances import history
from mqlab.kafka.rows import Behind, Life, Rebalance
from mqlab.models.polling import Work, work
from mqlab.rows import Batch
from mqlab.shared.queues import Points
from mqlab.units import iso
from mqlab.views.groups import finding_about, waiting_over_time

_UNLIMITED = 2**31 - 1
"""Default of max.poll.records in 0.10.0: a poll has what was fetched."""

Topics = Mapping[str, Mapping[str, Points]]
"""Positions by topic and partition."""


@dataclass(frozen=True, slots=True)
class Poll:
    """Polls of one row of Facts, and what was allowed to the client then."""

    batch: Batch
    interval: float | None
    """Seconds that may pass between two polls; None where nothing tells it."""
    most_records: int | None
    """max.poll.records."""

    @property
    def late(self) -> bool:
        """The longest of them took as long as may pass, or longer."""
        return self.interval is not None and self.batch.longest_seconds >= self.interval

    @property
    def pairs(self) -> Iterator[tuple[int, float]]:
        """(records, seconds) of each: the longest is known, the others are their mean."""
        batch = self.batch
        yield batch.longest_records, batch.longest_seconds
        others = batch.polls - 1
        if others > 0:
            records, seconds = batch.records - batch.longest_records, batch.seconds - batch.longest_seconds
            yield from [(round(records / others), max(0.0, seconds) / others)] * others


@dataclass(frozen=True, slots=True)
class Phase:
    """Polls under the same settings."""

    interval: float | None
    most_records: int | None
    polls: tuple[Poll, ...]
    work: Work

    @property
    def pairs(self) -> tuple[tuple[int, float], ...]:
        """(records, seconds) of each poll."""
        return tuple(pair for poll in self.polls for pair in poll.pairs)

    @property
    def records(self) -> int:
        """Records that a poll may have; where nothing limits them, the most that one had."""
        unlimited = self.most_records is None or self.most_records >= _UNLIMITED
        return self.work.most_records if unlimited else self.most_records or 0

    @property
    def since(self) -> float:
        """When the first of the polls began."""
        return min(poll.batch.at - poll.batch.longest_seconds for poll in self.polls)

    @property
    def until(self) -> float:
        """When the last of them was done."""
        return max(poll.batch.at for poll in self.polls)


@dataclass(frozen=True, slots=True)
class RebalanceView:
    """Everything that is drawn about one group."""

    group: str | None
    """None where the material knows no consumer group of Kafka."""
    finding: Finding | None = None
    lives: tuple[Life, ...] = ()
    history: tuple[Rebalance, ...] = ()
    polls: tuple[Poll, ...] = ()
    topics: Topics = field(default_factory=dict)

    @property
    def window(self) -> tuple[float, float] | None:
        """From the first to the last thing that is known of the group."""
        times = [at for life in self.lives for at in (life.since, life.until)]
        times += [at for one in self.history for at in (one.started, one.stabilised)]
        times += [poll.batch.at for poll in self.polls]
        times += [points[n].at for queues in self.topics.values() for points in queues.values() for n in (0, -1)]
        first, last = span(times)
        return None if first is None or last is None else (first, last)

    @property
    def hosts(self) -> Mapping[str, str]:
        """The host of each client that was on one only, as far as it is told."""
        known: dict[str, set[str]] = {}
        for life in self.lives:
            known.setdefault(life.client_id, set()).update({life.host} if life.host else ())
        return {client: min(hosts) for client, hosts in known.items() if len(hosts) == 1}

    def host(self, life: Life) -> str:
        """Where the member was; what another of its lives tells holds for one that does not tell it."""
        return life.host or self.hosts.get(life.client_id, "")

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The polls by what was allowed, the earliest first."""
        found = []
        for interval, most in dict.fromkeys((poll.interval, poll.most_records) for poll in self.polls):
            own = tuple(p for p in self.polls if (p.interval, p.most_records) == (interval, most))
            known = work(pair for poll in own for pair in poll.pairs)
            if known is not None:
                found.append(Phase(interval, most, own, known))
        return tuple(found)


def peak_lag(topics: Topics) -> int | None:
    """Most records that waited at one time, in all partitions; None without positions."""
    waited = waiting_over_time(points for queues in topics.values() for points in queues.values())
    return round(max(waiting for _, waiting in waited)) if waited else None


_IN_TROUBLE = (Behind.POLL_TIMEOUT, Behind.EXPIRY, Behind.CRASH)


def rebalance_view(
    facts: Facts, diagnosis: Diagnosis, group: str | None = None, topic: str | None = None
) -> RebalanceView:
    """The view of *group*; by default of the one that a finding is about, else of the one with most trouble."""
    finding, named = finding_about(diagnosis, (group,) if group else groups.groups(facts))
    chosen = group or named or _busiest(facts)
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


def groups_to_show(facts: Facts) -> tuple[str, ...]:
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
    for batch in poll_limits.polls(facts, group):
        client, began = batch.client_id or "", batch.at - batch.longest_seconds
        allowed = poll_limits.interval(facts, client, began)
        yield Poll(batch, allowed, poll_limits.poll_records(facts, client, began))


def _busiest(facts: Facts) -> str | None:
    """The group with most rebalances of members in trouble, then with most at all, then with the highest lag."""
    return max(groups_to_show(facts), key=lambda group: _trouble(facts, group), default=None)


def _trouble(facts: Facts, group: str) -> tuple[int, int, int]:
    found = history(facts, group)
    in_trouble = sum(one.behind in _IN_TROUBLE for one in found)
    return in_trouble, len(found), peak_lag(positions(facts, group)) or 0


def rebalances_json(histories: Iterable[tuple[str, Sequence[Rebalance]]]) -> str:
    """The rebalances of each group, schema ``mqlab.rebalances/1``; times in UTC, null for what nothing tells.

    The same facts give the same bytes.
    """
    groups = [{"group": group, "rebalances": [_row(row) for row in rows]} for group, rows in histories]
    return (
        json.dumps({"schema": "mqlab.rebalances/1", "groups": groups}, ensure_ascii=False, allow_nan=False, indent=2)
        + "\n"
    )


def _row(row: Rebalance) -> dict[str, Any]:
    return {
        "group": row.group,
        "generation": row.generation,
        "started": iso(row.started),
        "stabilised": iso(row.stabilised),
        "trigger": str(row.trigger),
        "behind": str(row.behind),
        "reason": row.reason,
        "client_id": row.client_id,
        "member_id": row.member_id,
        "host": row.host,
        "inferred": row.inferred,
        "because": row.because,
        "story": row.story,
        "members_before": row.members_before,
        "members_after": row.members_after,
        "moved": row.moved,
        "standstill_seconds": None if row.standstill is None else round(row.standstill, 3),
        "delayed_records": row.delayed,
        "repeated_records": row.repeated,
        "evidence": [{"source": one.source, "line": one.line, "text": one.text} for one in row.evidence],
    }
