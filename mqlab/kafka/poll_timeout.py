"""Kafka groups whose members poll too late: when, who, and why.

Records that are tried again and again in the polling thread: no poll comes, and the record is behind it.

A consumer that goes back to a record polls between two tries and stays in its group; one that waits in its loop leaves.

One Kafka group whose members poll too late: when, who, how long their polls took, and what it did to the group.

Why polls of a Kafka group took so long, where the material shows it: the service that the application calls.

An access log tells how long its answers took and how many were 5xx; the application's own lines tell which calls
failed. Both are compared with the time before. Or one record that is tried again and again in the polling thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab import units
from mqlab.facts import Episode, Facts, Series
from mqlab.findings import Evidence
from mqlab.kafka import groups, poll_limits
from mqlab.kafka.poll_departures import Departure, departures
from mqlab.kafka.poll_limits import Limit, Pace
from mqlab.kafka.redelivery import FEWEST, Stuck, extra, many_fail, stuck_records
from mqlab.kafka.rows import Behind, Life, Rebalance
from mqlab.memo import per_facts
from mqlab.shared import queues
from mqlab.shared.wording import sample

_MOST = 0.5
"""Share of the limit that the tries must span."""


@per_facts
def behind(facts: Facts, group: str) -> tuple[Stuck, ...]:
    """Records each of which kept every member from polling that left while it was tried."""
    left = departures(facts, group)
    found = []
    for one in stuck_records(facts):
        meanwhile = [d for d in left if one.since <= d.at <= one.until]
        mine = one.group == group and not many_fail(facts, one)
        if mine and meanwhile and all(_blocked(facts, group, one, d) for d in meanwhile):
            found.append(one)
    return tuple(found)


def explains(facts: Facts, one: Stuck, trouble: Sequence[Rebalance]) -> bool:
    """All of *trouble* are poll timeouts that the record made."""
    late = all(row.behind is Behind.POLL_TIMEOUT for row in trouble)
    return late and one.group is not None and one in behind(facts, one.group)


def _blocked(facts: Facts, group: str, one: Stuck, left: Departure) -> bool:
    """The client of *left* tried the record for most of the time in which it should have polled."""
    if left.limit is None:
        return False
    tries = [
        e.first_at or 0.0
        for e, client in poll_limits.own_lines(facts, group, "record-failed")
        if client == left.client_id and _same(one, e) and left.at - left.limit.seconds <= (e.first_at or 0.0) <= left.at
    ]
    return len(tries) >= FEWEST and max(tries) - min(tries) >= _MOST * left.limit.seconds


def _same(one: Stuck, line: Episode) -> bool:
    return (line.topic, line.queue, line.value_max) == (one.topic, one.queue, float(one.offset))


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
    polls = poll_limits.polls(facts, group)
    own = poll_limits.within(polls, since, until + AFTER, guilty)
    late = poll_limits.over(own, limit.seconds) if limit else ()
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
        records=poll_limits.poll_records(facts, left[0].client_id, left[0].at),
        pace=poll_limits.pace(own) if late else None,
        usual=poll_limits.pace(others) if others else None,
        fair=poll_limits.pace(poll_limits.within(polls, since, until + AFTER, innocent)) if innocent else None,
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
    lines = poll_limits.own_lines(facts, group, "partitions-assigned", "join-completed", "sync-completed")
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
    for line, client in poll_limits.own_lines(facts, group, "commit-failed"):
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


SLOWER = 2.0
"""How many times the time of an answer must have grown to be a cause."""
PART = 0.3
"""Share of the time per record that the answers must make up."""
FAILING = 0.005
"""Share of answers that are errors from which they are no remark."""
MORE = 3.0
"""How many times as often calls must fail as before."""
_SHOWN = 2


@dataclass(frozen=True, slots=True)
class Cause:
    """What is behind it."""

    told: str
    evidence: tuple[Evidence, ...]
    remedy: str = ""
    """What helps against it, where that is something else than smaller polls."""


@dataclass(frozen=True, slots=True)
class _Service:
    requests: float
    seconds: float
    errors: float

    @property
    def mean(self) -> float:
        return self.seconds / self.requests if self.requests else 0.0

    @property
    def failing(self) -> float:
        return self.errors / self.requests if self.requests else 0.0


def cause(facts: Facts, group: str, since: float, until: float, per_record: float | None) -> Cause | None:
    """What the called service did in this time, or which record it was; None where nothing tells of either."""
    answers = _answers(facts, since, until, per_record)
    known = [one for one in (_record(facts, group), answers, _calls(facts, group, since, until)) if one is not None]
    if not known:
        return None
    places = tuple(place for one in known for place in one.evidence)
    return Cause("; ".join(one.told for one in known), places, known[0].remedy)


def _record(facts: Facts, group: str) -> Cause | None:
    """A record that is tried in the polling thread without end."""
    for one in behind(facts, group):
        first = one.failures[0].first
        told = f"{one.topic}-{one.queue}@{one.offset} was tried {units.number(one.tries)} times without a poll between"
        place = Evidence(first.source, first.line, first.text, "the record fails")
        return Cause(told, (place,), "Bounded retries, and a dead-letter topic for the record.")
    return None


def _answers(facts: Facts, since: float, until: float, per_record: float | None) -> Cause | None:
    before, now = _service(facts, float("-inf"), since), _service(facts, since, until)
    if not now.requests:
        return None
    slower = now.mean >= SLOWER * before.mean and now.mean >= PART * (per_record or now.mean)
    failing = now.failing >= max(FAILING, MORE * before.failing)
    if not slower and not failing:
        return None
    was = f" (before: {units.brief(before.mean)})" if before.requests else ""
    wrong = f", {units.percent(now.failing)} of them 5xx" if now.errors else ""
    worst = [s for s in facts.named("http.slowest_seconds") if any(since <= at <= until for at, _ in s.points)]
    return Cause(
        f"answers of the called service took {units.brief(now.mean)} on average{was}{wrong}",
        tuple(_slowest(facts, s, since, until) for s in worst[:_SHOWN]),
    )


def _slowest(facts: Facts, series: Series, since: float, until: float) -> Evidence:
    at = max((value, at) for at, value in series.points if since <= at <= until)[1]
    return sample(facts, series, at, "the slowest answer of ten seconds")


def _service(facts: Facts, since: float, until: float) -> _Service:
    def added(name: str, status: str = "") -> float:
        every = [s for s in facts.named(name) if s.labels.get("status", "").startswith(status)]
        return sum(value for s in every for at, value in s.points if since <= at < until)

    return _Service(added("http.requests"), added("http.seconds"), added("http.requests", "5"))


def _calls(facts: Facts, group: str, since: float, until: float) -> Cause | None:
    every = [e for e, _ in poll_limits.own_lines(facts, group, "call-failed")]
    now = [e for e in every if since <= (e.first_at or 0.0) <= until]
    before = [e for e in every if (e.first_at or 0.0) < since]
    first = min((c.first_at for c in facts.coverage if c.first_at is not None), default=since)
    seconds, earlier = max(1.0, until - since), max(1.0, since - first)
    if not now or _count(now) / seconds < MORE * _count(before) / earlier:
        return None
    words = sorted({e.reason for e in now if e.reason})
    what = f" ({', '.join(words[:_SHOWN])})" if words else ""
    places = tuple(Evidence(e.first.source, e.first.line, e.first.text, "a call that failed") for e in now[:_SHOWN])
    return Cause(f"{units.counted(_count(now), 'call')} to it failed{what}", places)


def _count(episodes: Sequence[Episode]) -> int:
    return sum(e.count for e in episodes)
