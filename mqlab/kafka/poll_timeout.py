"""Members of a Kafka group that left by themselves because their application polled too late, and what was behind it.

The heartbeat thread of the client counts: since 0.10.1 it sends the leave when max.poll.interval.ms has passed since
the last poll, while the application still works. Before, heartbeats were sent by poll itself, so that the coordinator
expelled the member: there a poll that took longer than the session timeout tells it.
An access log of the service that the application calls tells how long its answers took and how many were 5xx; the
application's own lines tell which calls failed. Both are compared with the time before. Or one record is tried again
and again in the polling thread: a consumer that goes back to it polls between two tries and stays in its group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.kafka import groups, poll_limits
from mqlab.kafka.lives import lives
from mqlab.kafka.poll_limits import SESSION, Limit, Pace, lines_of, own_lines
from mqlab.kafka.rebalances import history
from mqlab.kafka.redelivery import extra
from mqlab.kafka.rows import HEARD, ONCE, Behind, End, Life, Rebalance
from mqlab.kafka.stuck_records import FEWEST, Stuck, many_fail, stuck_records
from mqlab.memo import per_facts
from mqlab.rows import Batch
from mqlab.shared.wording import sample
from mqlab.words import listed

say = words.room("poll-timeout")

EARLY = 0.9
"""Share of the limit from which a wait is the limit: the line that tells of a poll comes after the poll, by up to the
work on one of the records. Judgement, no default behind it."""
LATE = 3.0
"""Seconds by which the coordinator may note a departure later than the limit, at least: two clocks differ by 2 s, and
the heartbeat thread of a busy process is late. Judgement, no default behind it."""


@dataclass(frozen=True, slots=True)
class Departure:
    """One time that a member left."""

    at: float
    client_id: str
    host: str | None
    told: bool
    """A line says that the poll was late; else it is concluded."""
    limit: Limit | None
    poll: Batch | None
    """The poll that was being worked off, where a line tells how long it took."""
    waited: float | None
    """Seconds since its last poll, as far as lines tell of it."""
    counted: bool
    """The client itself says by how much the limit was exceeded, or its metric of the time between polls does."""
    evidence: tuple[Evidence, ...]
    life: Life | None = None
    """The one that it ended."""

    @property
    def measured(self) -> bool:
        """The time between two polls is known, and longer than the limit."""
        if self.counted or self.limit is None:
            return self.counted
        if self.poll is not None and self.poll.longest_seconds > self.limit.seconds:
            return True
        latest = self.limit.seconds + max(LATE, (1 - EARLY) * self.limit.seconds)
        return self.waited is not None and EARLY * self.limit.seconds <= self.waited <= latest

    @property
    def contradicted(self) -> bool:
        """It is only concluded, and its polls were in time."""
        if self.told or self.measured or self.limit is None:
            return False
        return self.waited is not None and self.waited < EARLY * self.limit.seconds


COMMITTED = 5.0
"""Seconds within which a client tries to commit the poll that it has worked off (auto.commit.interval.ms)."""
METERED = 5.0
"""Limits after a departure in which the next poll is awaited, with which its metric tells how long the last one took:
a later maximum is that of another poll. Judgement, no default behind it."""


@per_facts
def departures(facts: Facts, group: str) -> tuple[Departure, ...]:
    """Every departure of *group*, by time."""
    every = lives(facts, group)
    known = (*_said(facts, group), *_ended(facts, group, every), *_uncommitted(facts, group, every))
    runs: list[list[Departure]] = []
    for departure in sorted((d for d in known if not d.contradicted), key=lambda d: (d.client_id, d.at, not d.told)):
        if runs and _same(facts, group, runs[-1], departure):
            runs[-1].append(departure)
        else:
            runs.append([departure])
    return tuple(sorted(map(_merged, runs), key=lambda d: (d.at, d.client_id)))


def _merged(run: Sequence[Departure]) -> Departure:
    """The one that counts most, a line about it more than a conclusion, with the places of all."""
    ordered = sorted(run, key=lambda d: (not d.told, d.at))
    return replace(ordered[0], evidence=groups.once(place for d in ordered for place in d.evidence))


def _same(facts: Facts, group: str, run: Sequence[Departure], other: Departure) -> bool:
    """It is about the departure that *run* is about: the same stay of one client, and the same poll.

    The client may tell of it in its next poll only, so that the end of the late one counts.
    """
    first, poll = run[0], next((d.poll for d in run if d.poll is not None), None)
    if first.client_id != other.client_id or (other.life and any(d.life for d in run)):
        return False
    if any(first.at < at < other.at for at in poll_limits.assigned(facts, group, first.client_id)):
        return False
    if poll is not None and other.poll is not None:
        return poll == other.poll
    return other.at - max(first.at, poll.at if poll is not None else first.at) <= ONCE


def _said(facts: Facts, group: str) -> Iterator[Departure]:
    """By the clients' own lines, at the timeout or at the next poll; the latter say how long ago the timeout was."""
    for line, client in own_lines(facts, group, "poll-timeout"):
        at = (line.first_at or 0.0) - (line.value_max or 0.0)
        departure = _departure(facts, group, at, client, (line.first,), told=True)
        yield replace(departure, host=line.peer, counted=departure.counted or line.value_max is not None)


def _ended(facts: Facts, group: str, every: Sequence[Life]) -> Iterator[Departure]:
    """By the lives of members: ended by a late poll, or over while a poll took longer than the member may be silent."""
    for life in (life for life in every if life.until is not None):
        end = life.evidence[1:] if life.since is not None and len(life.evidence) > 1 else life.evidence
        told = life.end is End.POLL_TIMEOUT and not life.because
        departure = _departure(facts, group, life.until or 0.0, life.client_id, end, told=told)
        late = departure.poll is not None and departure.measured
        expelled = life.end is End.EXPIRED and departure.limit is not None and departure.limit.key == SESSION
        if life.end is End.POLL_TIMEOUT or (
            late and (expelled or life.end is End.DROPPED) and not _other_process(life, every)
        ):
            yield replace(departure, host=life.host, life=life)


def _other_process(life: Life, every: Sequence[Life]) -> bool:
    """The client's next life is that of a new process."""
    later = [o for o in every if o.client_id == life.client_id and (o.since or 0.0) >= (life.until or 0.0)]
    following = min(later, key=lambda o: o.since or 0.0, default=None)
    return following is not None and following.process_started is not None


def _uncommitted(facts: Facts, group: str, every: Sequence[Life]) -> Iterator[Departure]:
    """Polls longer than the limit whose commit failed, of members that nobody else took out of the group.

    A leave while others join again leaves no line of its own at the coordinator. A client that found itself without
    heartbeats meanwhile was frozen or cut off: it tells so.
    """
    taken_out: dict[str, list[float]] = defaultdict(list)
    for life in (life for life in every if life.end in (End.EXPIRED, End.FENCED)):
        taken_out[life.client_id].append(life.until or 0.0)
    for line, client in own_lines(facts, group, "session-timeout"):
        taken_out[client].append(line.first_at or 0.0)
    for line, client in own_lines(facts, group, "commit-failed"):
        at = line.first_at or 0.0
        poll = poll_limits.last_poll(facts, group, client, at)
        limit = poll_limits.poll_limit(facts, client, at)
        if poll is None or limit is None or at - poll.at > COMMITTED or poll.longest_seconds <= limit.seconds:
            continue
        begun = poll.at - poll.longest_seconds
        if not any(begun <= when <= at + COMMITTED for when in taken_out[client]):
            yield _departure(facts, group, begun + limit.seconds, client, (poll.evidence, line.first), told=False)


def _departure(
    facts: Facts, group: str, at: float, client: str, evidence: tuple[Evidence, ...], *, told: bool
) -> Departure:
    limit = poll_limits.poll_limit(facts, client, at)
    return Departure(
        at=at,
        client_id=client,
        host=None,
        told=told,
        limit=limit,
        poll=poll_limits.covering(facts, group, client, at),
        waited=poll_limits.waited(facts, group, client, at),
        counted=limit is not None and _metered(facts, client, at, limit.seconds),
        evidence=evidence,
    )


def _metered(facts: Facts, client: str, at: float, limit: float) -> bool:
    """``time-between-poll-max``, in ms, is above the limit soon after: the client notes it with its next poll."""
    own = [s for s in facts.named("consumer.time_between_poll_max") if s.labels.get("client_id") == client]
    return any(value > limit * 1000 for s in own for when, value in s.points if at <= when <= at + METERED * limit)


_MOST = 0.5
"""Share of the limit that the tries must span: more than anything else can."""


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
        for e in lines_of(facts, group, left.client_id, "record-failed")
        if (e.topic, e.queue, e.value_max) == place
        if left.at - left.limit.seconds <= (e.first_at or 0.0) <= left.at
    ]
    return len(tries) >= FEWEST and max(tries) - min(tries) >= _MOST * left.limit.seconds


ONE = 2.0
"""Seconds within which the client and the application tell of one failed commit, each in whole seconds."""
REST = 2.0
"""Limits, or usual times from one departure to the next, without another one, after which it is over. Judgement, no
default behind it: one may be late."""


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
    meanwhile = [b for b in polls if since <= b.at <= until + HEARD]
    own = [b for b in meanwhile if b.client_id in guilty]
    late = [b for b in own if limit and b.longest_seconds > limit.seconds]
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
        commits=_commits(facts, group, since, until + HEARD),
        rebalances=tuple(
            r for r in history(facts, group) if since <= r.started <= until + HEARD and not r.wanted_by_others(guilty)
        ),
        repeated=extra(
            facts,
            group,
            since,
            until + HEARD,
            [r.started for r in history(facts, group) if r.wanted_by_others(guilty)],
        ),
    )


def _members(facts: Facts, group: str, since: float, until: float) -> set[str]:
    living = {o.client_id for o in lives(facts, group) if (o.since or since) <= until and (o.until or until) >= since}
    lines = own_lines(facts, group, "partitions-assigned", "join-completed", "sync-completed")
    listed = {
        p.client_id
        for p in facts.positions
        if p.group == group and p.client_id and p.at is not None and since <= p.at <= until
    }
    return living | listed | {client for e, client in lines if since <= (e.first_at or 0.0) <= until}


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
    for line, client in own_lines(facts, group, "commit-failed"):
        at = line.first_at or 0.0
        if since <= at <= until and at - last.get(client, -inf) > ONE:
            found.append(line)
            last[client] = at
    return tuple(found)


SLOWER = 2.0
"""How many times the time of an answer must have grown to be a cause. Judgement, no default behind it: below it most of
the time was there before."""
PART = 0.3
"""Share of the time per record that the answers must make up. Judgement, no default behind it: of less, answers twice
as fast would save no sixth."""
FAILING = 0.005
"""Share of answers that are errors from which they are no remark, one of 200. Judgement, no default behind it."""
MORE = 3.0
"""How many times as often calls must fail as before. Judgement, no default behind it."""
_SHOWN = 2


@dataclass(frozen=True, slots=True)
class Cause:
    """What is behind it."""

    told: str
    evidence: tuple[Evidence, ...]
    record: bool = False
    """It is one record, against which smaller polls do not help."""


def cause(facts: Facts, case: Case) -> Cause | None:
    """What the called service did in this time, or which record it was; None where nothing tells of either."""
    every = (_record(facts, case.group), _answers(facts, case), _calls(facts, case))
    known = [one for one in every if one is not None]
    if not known:
        return None
    places = tuple(place for one in known for place in one.evidence)
    return Cause(listed(one.told for one in known), places, known[0].record)


def _record(facts: Facts, group: str) -> Cause | None:
    """A record that is tried in the polling thread without end."""
    for one in behind(facts, group):
        told = say("tried", topic=one.topic, queue=one.queue, offset=str(one.offset), tries=one.tries)
        return Cause(told, (one.failures[0].first.because(say("record-line")),), record=True)
    return None


def _answers(facts: Facts, case: Case) -> Cause | None:
    since, until = case.since, case.until
    requests, mean, failing = _service(facts, since, until)
    _, mean_before, failing_before = _service(facts, float("-inf"), _slow_since(facts, since, mean))
    slower = mean >= SLOWER * mean_before and mean >= PART * ((case.pace.mean if case.pace else 0.0) or mean)
    if not requests or not (slower or failing >= max(FAILING, MORE * failing_before)):
        return None
    places = []
    for series in facts.named("http.slowest_seconds"):
        inside = [(value, at) for at, value in series.points if since <= at <= until]
        if inside:
            places.append(sample(facts, series, max(inside)[1], say("slowest")))
    told = say("answers", mean=mean, before=mean_before or None, failing=failing or None)
    return Cause(told, tuple(places[:_SHOWN]))


def _slow_since(facts: Facts, since: float, mean: float) -> float:
    """When the answers became as slow as they were from *since* on, the first late poll: its service is slow before it.

    *since* itself where they had never been faster.
    """
    change = since
    for at in sorted({at for s in facts.named("http.requests") for at, _ in s.points if at < since}, reverse=True):
        _, each, _ = _service(facts, at, change)
        if SLOWER * each < mean:
            return change
        change = at
    return since


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
    every = [e for e, _ in own_lines(facts, case.group, "call-failed")]
    now = [e for e in every if since <= (e.first_at or 0.0) <= until]
    failed, before = sum(e.count for e in now), sum(e.count for e in every if (e.first_at or 0.0) < since)
    first = min((c.first_at for c in facts.coverage if c.first_at is not None), default=since)
    if not now or failed / max(1.0, until - since) < MORE * before / max(1.0, since - first):
        return None
    reasons = sorted({e.reason for e in now if e.reason})[:_SHOWN]
    places = tuple(e.first.because(say("call-line")) for e in now[:_SHOWN])
    return Cause(say("calls", calls=failed, reasons=reasons or None), places)
