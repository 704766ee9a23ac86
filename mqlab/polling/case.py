"""One Kafka group whose members poll too late: when, who, how long their polls took, and what it did to the group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab.facts import Episode, Facts
from mqlab.groups import queues
from mqlab.kafka import groups
from mqlab.kafka.repeating import extra
from mqlab.polling import durations, limits
from mqlab.polling import lines as poll_lines
from mqlab.polling.departures import departures
from mqlab.polling.durations import Pace
from mqlab.polling.leave import Departure
from mqlab.polling.limits import Limit
from mqlab.rebalances.rows import Life, Rebalance

AFTER = 5.0
"""Seconds after a poll was done in which the client joins again: that rebalance still belongs to it."""
REST = 2.0
"""Limits, or usual times from one departure to the next, without another one, after which it is over."""
_ONE = 2.0
"""Seconds within which the lines about one failed commit are printed."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is known of it."""

    group: str
    departures: tuple[Departure, ...]
    since: float
    until: float
    ongoing: bool
    guilty: tuple[str, ...]
    """Clients that left."""
    innocent: tuple[str, ...]
    """Other clients that were members meanwhile."""
    limit: Limit | None
    records: int | None
    """max.poll.records then."""
    pace: Pace | None
    """How long the polls of the guilty took; None where none of those that were too late is told."""
    usual: Pace | None
    """The same at other times."""
    fair: Pace | None
    """The same of the innocent."""
    over: int
    """Polls that took longer than the limit."""
    commits: tuple[Episode, ...]
    """Commits that failed, one line each."""
    rebalances: tuple[Rebalance, ...]
    """Those that began meanwhile."""
    repeated: int
    """Times that a record was handled again after them, by the ledgers."""

    @property
    def stalled(self) -> bool:
        """One poll only was too late, and at the usual speed its records would have been done in half of the time."""
        if self.over != 1 or self.limit is None or self.pace is None or self.usual is None:
            return False
        return self.usual.each.p99 * self.pace.longest.longest_records <= self.limit.seconds / 2

    @property
    def measured(self) -> bool:
        """Some poll is known to have taken longer than the limit."""
        return self.over > 0 or any(one.measured for one in self.departures)


def case(facts: Facts, group: str, history: Sequence[Rebalance], lives: Sequence[Life]) -> Case | None:
    """The case of *group*; None where no member left for a late poll."""
    left = departures(facts, group)
    if not left:
        return None
    since, until = min(map(_begin, left)), max(map(_end, left))
    guilty = tuple(sorted({one.client_id for one in left}))
    innocent = tuple(sorted(_members(facts, group, lives, since, until) - set(guilty)))
    limit = next((one.limit for one in left if one.limit is not None), None)
    meanwhile = tuple(one for one in history if since <= one.started <= until + AFTER)
    polls = poll_lines.polls(facts, group)
    own = durations.within(polls, since, until + AFTER, guilty)
    late = durations.over(own, limit.seconds) if limit else ()
    others = [b for b in polls if b.client_id in guilty and b not in own]
    return Case(
        group=group,
        departures=left,
        since=since,
        until=until,
        ongoing=_goes_on(facts, left, until, limit, lives),
        guilty=guilty,
        innocent=innocent,
        limit=limit,
        records=limits.poll_records(facts, left[0].client_id, left[0].at),
        pace=durations.pace(own) if late else None,
        usual=durations.pace(others) if others else None,
        fair=durations.pace(durations.within(polls, since, until + AFTER, innocent)) if innocent else None,
        over=len(late),
        commits=_commits(facts, group, since, until + AFTER),
        rebalances=meanwhile,
        repeated=extra(facts, group, since, until + AFTER),
    )


def _begin(one: Departure) -> float:
    """When the poll began that was too late."""
    if one.poll is not None:
        return one.poll.at - one.poll.longest_seconds
    return one.at - (one.limit.seconds if one.limit else 0.0)


def _end(one: Departure) -> float:
    return max(one.at, one.poll.at) if one.poll is not None else one.at


def _members(facts: Facts, group: str, lives: Sequence[Life], since: float, until: float) -> set[str]:
    told = {o.client_id for o in lives if (o.since or since) <= until and (o.until or until) >= since}
    lines = poll_lines.own_lines(facts, group, "partitions-assigned", "join-completed", "sync-completed")
    return told | {client for e, client in lines if since <= (e.first_at or 0.0) <= until}


def _goes_on(facts: Facts, left: Sequence[Departure], until: float, limit: Limit | None, lives: Sequence[Life]) -> bool:
    """The material ends before the next departure would have come, and nobody of the guilty was restarted."""
    last = max((c.last_at for c in facts.coverage if c.last_at is not None), default=until)
    gaps = sorted(b.at - a.at for a, b in pairwise(left))
    usual = gaps[len(gaps) // 2] if gaps else 0.0
    guilty = {one.client_id for one in left}
    afresh = any(o.client_id in guilty and (o.process_started or 0.0) > left[-1].at for o in lives)
    return not afresh and last - until <= REST * max(usual, limit.seconds if limit else 0.0)


def _commits(facts: Facts, group: str, since: float, until: float) -> tuple[Episode, ...]:
    found: list[Episode] = []
    last: dict[str, float] = {}
    for line, client in poll_lines.own_lines(facts, group, "commit-failed"):
        at = line.first_at or 0.0
        if since <= at <= until and at - last.get(client, -_ONE - 1.0) > _ONE:
            found.append(line)
            last[client] = at
    return tuple(found)


def lag(facts: Facts, group: str, since: float, until: float) -> dict[str, float]:
    """Most messages that waited in this time, and by how many a second they became more, over all topics."""
    peak, growth = 0, 0.0
    for (name, _), points in groups.topics(facts).items():
        seen = [(at, waiting) for at, waiting, _ in queues.totals(points) if since - REST <= at <= until]
        if name == group and len(seen) > 1:
            peak += max(waiting for _, waiting in seen)
            growth += (seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0])
    return {"peak_lag": float(peak), "lag_growth_per_second": growth} if peak else {}
