"""One Kafka group whose members poll too late: when, who, how long polls took, what it did to the group, and why.

An access log of the service that the application calls tells how long its answers took and how many were 5xx; the
application's own lines tell which calls failed. Both are compared with the time before. Or one record is tried again
and again in the polling thread: a consumer that goes back to it polls between two tries and stays in its group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab import units
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.kafka import groups, poll_limits
from mqlab.kafka.lives import lives
from mqlab.kafka.poll_departures import Departure, departures
from mqlab.kafka.poll_limits import Limit, Pace
from mqlab.kafka.rebalances import history
from mqlab.kafka.redelivery import FEWEST, Stuck, extra, many_fail, stuck_records
from mqlab.kafka.rows import Behind, Rebalance
from mqlab.memo import per_facts
from mqlab.shared import queues
from mqlab.shared.wording import sample

_MOST = 0.5
"""Share of the limit that the tries must span."""


@per_facts
def behind(facts: Facts, group: str) -> tuple[Stuck, ...]:
    """Records each of which kept every member from polling that left while it was tried."""
    found = []
    for record in stuck_records(facts):
        left = [d for d in departures(facts, group) if record.since <= d.at <= record.until]
        mine = record.group == group and not many_fail(facts, record)
        if mine and left and all(_blocked(facts, group, record, departure) for departure in left):
            found.append(record)
    return tuple(found)


def explains(facts: Facts, record: Stuck, trouble: Sequence[Rebalance]) -> bool:
    """All of *trouble* are poll timeouts that the record made."""
    late = all(row.behind is Behind.POLL_TIMEOUT for row in trouble)
    return late and record.group is not None and record in behind(facts, record.group)


def _blocked(facts: Facts, group: str, record: Stuck, left: Departure) -> bool:
    """The client of *left* tried the record for most of the time in which it should have polled."""
    if left.limit is None:
        return False
    place = (record.topic, record.queue, float(record.offset))
    tries = [
        e.first_at or 0.0
        for e, client in poll_limits.own_lines(facts, group, "record-failed")
        if client == left.client_id and (e.topic, e.queue, e.value_max) == place
        if left.at - left.limit.seconds <= (e.first_at or 0.0) <= left.at
    ]
    return len(tries) >= FEWEST and max(tries) - min(tries) >= _MOST * left.limit.seconds


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


def case_of(facts: Facts, group: str) -> Case | None:
    """The case of *group*; None where no member left for a late poll."""
    left = departures(facts, group)
    if not left:
        return None
    since = min(
        d.poll.at - d.poll.longest_seconds if d.poll else d.at - (d.limit.seconds if d.limit else 0.0) for d in left
    )
    until = max(max(d.at, d.poll.at) if d.poll else d.at for d in left)
    guilty = {d.client_id for d in left}
    innocent = _members(facts, group, since, until) - guilty
    limit = next((d.limit for d in left if d.limit is not None), None)
    polls = poll_limits.polls(facts, group)
    meanwhile = [b for b in polls if since <= b.at <= until + AFTER]
    own = [b for b in meanwhile if b.client_id in guilty]
    late = [b for b in own if limit and b.longest_seconds > max(1.0, limit.seconds)]
    return Case(
        group=group,
        departures=left,
        since=since,
        until=until,
        ongoing=_goes_on(facts, left, until, limit, group),
        guilty=tuple(sorted(guilty)),
        innocent=tuple(sorted(innocent)),
        limit=limit,
        records=poll_limits.poll_records(facts, left[0].client_id, left[0].at),
        pace=poll_limits.pace(own) if late else None,
        usual=poll_limits.pace([b for b in polls if b.client_id in guilty and b not in own]),
        fair=poll_limits.pace([b for b in meanwhile if b.client_id in innocent]),
        over=len(late),
        commits=_commits(facts, group, since, until + AFTER),
        rebalances=tuple(r for r in history(facts, group) if since <= r.started <= until + AFTER),
        repeated=extra(facts, group, since, until + AFTER),
    )


def _members(facts: Facts, group: str, since: float, until: float) -> set[str]:
    living = {o.client_id for o in lives(facts, group) if (o.since or since) <= until and (o.until or until) >= since}
    lines = poll_limits.own_lines(facts, group, "partitions-assigned", "join-completed", "sync-completed")
    return living | {client for e, client in lines if since <= (e.first_at or 0.0) <= until}


def _goes_on(facts: Facts, left: Sequence[Departure], until: float, limit: Limit | None, group: str) -> bool:
    """The material ends before the next departure would have come, and nobody of the guilty was restarted."""
    last = max((c.last_at for c in facts.coverage if c.last_at is not None), default=until)
    gaps = sorted(b.at - a.at for a, b in pairwise(left))
    usual = gaps[len(gaps) // 2] if gaps else 0.0
    guilty = {d.client_id for d in left}
    afresh = any(o.client_id in guilty and (o.process_started or 0.0) > left[-1].at for o in lives(facts, group))
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


def cause(facts: Facts, case: Case) -> Cause | None:
    """What the called service did in this time, or which record it was; None where nothing tells of either."""
    every = (_record(facts, case.group), _answers(facts, case), _calls(facts, case))
    known = [one for one in every if one is not None]
    if not known:
        return None
    places = tuple(place for one in known for place in one.evidence)
    return Cause("; ".join(one.told for one in known), places, known[0].remedy)


def _record(facts: Facts, group: str) -> Cause | None:
    """A record that is tried in the polling thread without end."""
    for one in behind(facts, group):
        told = f"{one.topic}-{one.queue}@{one.offset} was tried {units.number(one.tries)} times without a poll between"
        place = one.failures[0].first.because("the record fails")
        return Cause(told, (place,), "Bounded retries, and a dead-letter topic for the record.")
    return None


def _answers(facts: Facts, case: Case) -> Cause | None:
    since, until = case.since, case.until
    _, mean_before, failing_before = _service(facts, float("-inf"), since)
    requests, mean, failing = _service(facts, since, until)
    slower = mean >= SLOWER * mean_before and mean >= PART * ((case.pace.mean if case.pace else 0.0) or mean)
    if not requests or not (slower or failing >= max(FAILING, MORE * failing_before)):
        return None
    was = f" (before: {units.brief(mean_before)})" if mean_before else ""
    wrong = f", {units.percent(failing)} of them 5xx" if failing else ""
    places = []
    for series in facts.named("http.slowest_seconds"):
        inside = [(value, at) for at, value in series.points if since <= at <= until]
        if inside:
            places.append(sample(facts, series, max(inside)[1], "the slowest answer of ten seconds"))
    told = f"answers of the called service took {units.brief(mean)} on average{was}{wrong}"
    return Cause(told, tuple(places[:_SHOWN]))


def _service(facts: Facts, since: float, until: float) -> tuple[float, float, float]:
    """Requests to the called service in this time, seconds of each, and the share that was answered with 5xx."""

    def added(name: str, status: str = "") -> float:
        every = [s for s in facts.named(name) if s.labels.get("status", "").startswith(status)]
        return sum(value for s in every for at, value in s.points if since <= at < until)

    requests = added("http.requests")
    return requests, added("http.seconds") / (requests or 1), added("http.requests", "5") / (requests or 1)


def _calls(facts: Facts, case: Case) -> Cause | None:
    """Calls that failed far more often than before."""
    since, until = case.since, case.until
    every = [e for e, _ in poll_limits.own_lines(facts, case.group, "call-failed")]
    now = [e for e in every if since <= (e.first_at or 0.0) <= until]
    failed, before = sum(e.count for e in now), sum(e.count for e in every if (e.first_at or 0.0) < since)
    first = min((c.first_at for c in facts.coverage if c.first_at is not None), default=since)
    if not now or failed / max(1.0, until - since) < MORE * before / max(1.0, since - first):
        return None
    words = sorted({e.reason for e in now if e.reason})
    what = f" ({', '.join(words[:_SHOWN])})" if words else ""
    places = tuple(e.first.because("a call that failed") for e in now[:_SHOWN])
    return Cause(f"{units.counted(failed, 'call')} to it failed{what}", places)
