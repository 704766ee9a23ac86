"""Members of a Kafka group whose processes were started anew: a release, a process that dies in a loop, passing names.

A restart is a member whose process stopped and came again as a new process of the same client; a rollout that gives
each new process another name replaces one name by another. Static members leave no trace of a stop but their expiry.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf, nextafter
from statistics import median

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.kafka import groups, log_lines, poll_limits
from mqlab.kafka.lives import lives
from mqlab.kafka.log_lines import CLOSED
from mqlab.kafka.rows import End, Life
from mqlab.memo import per_facts
from mqlab.rows import Shape
from mqlab.shared import configured
from mqlab.shared.benign_lines import ORDERLY, WANTED
from mqlab.shared.restarts import BACKOFF, CLOCKS, TAKEN_BACK, Restart, Round, runs
from mqlab.words import Text

say = words.room("restarts")

NEAR = 60.0
"""Seconds around the end of a process in which an exit, an error or another name belongs to it: the last line of a
shape is known by its minute, and a member without a word is expelled 45 s after it stopped (session.timeout.ms)."""
BEGIN = 10.0
"""Seconds after the first member of a group in which others belong to its start (group.initial.rebalance.delay.ms is
3 s, and processes that are started together come up seconds apart). Judgement, no default behind it."""
PASSING = 4
"""Members of different names that came and went from which the group churns: three may be a trial or a change of size.
Judgement, no default behind it."""
_DEATHS = frozenset({End.LEFT, End.EXPIRED, End.DROPPED})
_BROKEN = (End.POLL_TIMEOUT, End.DROPPED)
_SHARED = " on "
"""In the name of a member whose client id other hosts have, too: nothing tells whose exits and errors a log has."""


def restarts(lives: Sequence[Life]) -> tuple[Restart, ...]:
    """Members that came again as new processes, by time."""
    named = distinct(lives)
    by_client: dict[str, list[Life]] = defaultdict(list)
    for life in sorted(named, key=lambda life: (life.since or 0.0, life.until or 0.0)):
        by_client[life.client_id].append(life)
    again = [
        (old, new)
        for own in by_client.values()
        for old, new in pairwise(own)
        if (new.process_started is None or new.process_started != old.process_started) and _afresh(old, new)
    ]
    every = (_restart(old, new) for old, new in [*_renamed(named), *again])
    return tuple(sorted(every, key=lambda restart: (restart.started, restart.member)))


def distinct(lives: Sequence[Life]) -> tuple[Life, ...]:
    """*lives* with names of their own for hosts that have one client id at a time, as unnamed consumers do."""
    hosts: dict[str, dict[str, float]] = defaultdict(dict)
    shared = set()
    for life in sorted((life for life in lives if life.host), key=lambda life: life.since or -inf):
        ends = hosts[life.client_id]
        if any(host != life.host and until > (life.since or -inf) for host, until in ends.items()):
            shared.add(life.client_id)
        ends[life.host or ""] = max(ends.get(life.host or "", -inf), life.until or inf)
    return tuple(
        replace(life, client_id=f"{life.client_id}{_SHARED}{life.host}") if life.client_id in shared else life
        for life in lives
    )


def _renamed(lives: Sequence[Life]) -> list[tuple[Life, Life]]:
    """Names that ended for good, each with a name that began then and stayed: pods of a rollout have new names.

    A group that is stopped as a whole ends both.
    """
    by_time = sorted(lives, key=lambda life: life.since or 0.0)
    firsts, lasts = {life.client_id: life for life in reversed(by_time)}, {life.client_id: life for life in by_time}
    begin = min((life.since for life in lives if life.since is not None), default=0.0)
    begun = [life for life in firsts.values() if (life.since or 0.0) > begin + BEGIN]
    pairs = []
    for at, _, old in sorted((old.until, client, old) for client, old in lasts.items() if old.until is not None):
        near = [
            (abs((new.since or 0.0) - at), new.client_id, new)
            for new in begun
            if new.client_id != old.client_id and abs((new.since or 0.0) - at) <= NEAR
            if new.until is None or new.until > at + NEAR
        ]
        if near:
            begun.remove(min(near)[-1])
            pairs.append((old, min(near)[-1]))
    return pairs


def _afresh(old: Life, new: Life) -> bool:
    """A new process, as its log or the reason of the former one says.

    A log that has the stop of a process, and no start of it, does not tell of starts: librdkafka prints none.
    """
    if new.process_started is not None:
        return new.process_started > (old.since or -inf)
    told = old.process_started is None and old.process_stopped is not None
    return old.end is End.LEFT and (told or any(word in old.reason for word in CLOSED))


def _restart(old: Life, new: Life) -> Restart:
    started = new.process_started if new.process_started is not None else new.since or 0.0
    stopped = min(started, stopped_at(old))
    return Restart(
        member=new.client_id,
        stopped=stopped,
        started=started,
        orderly=old.end is End.LEFT or (old.process_stopped is not None and not old.wordless),
        lived=None if old.since is None else stopped - old.since,
        evidence=(
            *(place.because(say("ends")) for place in old.evidence[-1:]),
            *(place.because(say("comes")) for place in new.evidence[:1]),
        ),
        joined=new.since if old.until is None or new.since is None else max(new.since, old.until),
    )


def stopped_at(life: Life) -> float:
    """When the process of *life* stopped, as far as that is known; infinite for one that goes on."""
    return min(at for at in (life.process_stopped, life.silent_since, life.until, inf) if at is not None)


def fenced(life: Life) -> bool:
    """Its static membership went to another process while its own still ran.

    The next process of a static member that was stopped takes it over, too: that is how it comes again.
    """
    handed_over = life.process_stopped is not None and life.process_stopped < (life.until or 0.0) - CLOCKS
    return life.end is End.FENCED and not handed_over


@per_facts
def rounds(facts: Facts, group: str) -> tuple[Round, ...]:
    """Runs of restarts of at least two members, by time."""
    named = distinct(lives(facts, group))
    return tuple(Round(group, run, _whole(run, named)) for run in runs(restarts(named)))


def _whole(run: Sequence[Restart], lives: Sequence[Life]) -> bool:
    """Every member of that time came again or ended then, and those that came again did so equally often."""
    since, until = min(restart.stopped for restart in run), max(restart.started for restart in run)
    often = Counter(restart.member for restart in run)
    ended = {life.client_id for life in lives if life.until is not None and since <= life.until <= until + BACKOFF}
    there = {
        life.client_id for life in lives if (life.since or 0.0) < since and (life.until is None or life.until >= since)
    }
    return len(set(often.values())) == 1 and there <= {*often, *ended}


@per_facts
def releases(facts: Facts, group: str) -> tuple[Round, ...]:
    """Rounds that are nothing but a release, by time."""
    return tuple(round_ for round_ in rounds(facts, group) if _why_not(facts, round_) is None)


def no_release(facts: Facts, group: str) -> Text | None:
    """Why restarts of a group's members are no release; None where there are none or they are one."""
    reason = next(filter(None, (_why_not(facts, round_) for round_ in rounds(facts, group))), None)
    return say("because", group=group, reason=reason) if reason else None


def _why_not(facts: Facts, round_: Round) -> Text | None:
    ended = [(life.until, life) for life in lives(facts, round_.group) if life.until is not None]
    near = [life for until, life in ended if round_.since - NEAR <= until <= round_.until]
    if any(life.end in _BROKEN or fenced(life) for life in near) or _failing(facts, round_):
        return say("dropped-out")
    if any(life.failed for life in near):
        return say("failed")
    died = {one.member for one in round_.restarts if not one.orderly and not _deployed(facts, one)}
    if died:
        return say("wordless", members=len(died))
    if not round_.whole:
        return say("not-all")
    if not round_.sequence:
        return say("together")
    return None


def _deployed(facts: Facts, restart: Restart) -> bool:
    """Its new process printed another version or other settings than the one before it."""
    member, until = restart.member, restart.started + NEAR
    last = min(restart.stopped, nextafter(restart.started, 0.0))
    if configured.version_of(facts, member, last) != configured.version_of(facts, member, until):
        return True
    own = [s for s in facts.settings if s.scope == "consumer" and s.owner == member and s.origin == "printed"]
    printed = sorted((s.at, s.key, s.value) for s in own if s.at is not None and s.at <= until)
    before = {key: value for at, key, value in printed if at <= last}
    return any(before.get(key, value) != value for at, key, value in printed if at > last)


def _failing(facts: Facts, round_: Round) -> bool:
    """Commits failed before the first stop, or a process died with an error, or after one, without a word."""
    failed = poll_limits.own_lines(facts, round_.group, "commit-failed", "poll-timeout")
    if any(round_.since - NEAR <= (line.first_at or 0.0) < round_.since for line, _ in failed):
        return True
    exits = [line for line, _ in poll_limits.own_lines(facts, round_.group, "process-exit")]
    meanwhile = [line for line in exits if round_.since - NEAR <= (line.first_at or 0.0) <= round_.until]
    if any(line.value_max is not None and line.value_max not in WANTED for line in meanwhile):
        return True
    return any(
        restart.stopped - NEAR <= at <= restart.started
        for restart in round_.restarts
        if not restart.orderly
        for shape in _errors(facts, round_.group, restart.member)
        for at in (shape.first_at, shape.last_at)
        if at is not None
    )


def _errors(facts: Facts, group: str, client: str) -> list[Shape]:
    homes = log_lines.homes(facts, group)
    return [s for s in facts.shapes if homes.get(s.source) == client and s.level in ("ERROR", "FATAL")]


@dataclass(frozen=True, slots=True)
class Churn:
    """One client that died again and again."""

    client_id: str
    restarts: tuple[Restart, ...]
    last: Life | None
    """Its last life, where that ended within a short time, too, and no start followed."""
    exits: tuple[Episode, ...]
    """Its ends with an error status, or killed."""
    errors: tuple[Shape, ...]
    """What its log says at ERROR or worse about as often as it died."""
    stops: frozenset[float] = frozenset()
    """Its ends that somebody asked for: they are no deaths."""

    @property
    def since(self) -> float:
        """The first death."""
        return self.restarts[0].stopped

    @property
    def until(self) -> float:
        """The last start, or the end after it."""
        return self.restarts[-1].started if self.last is None else stopped_at(self.last)

    @property
    def ends(self) -> tuple[float, ...]:
        """When it died."""
        return tuple(at for at in _ends(self.restarts, self.last) if at not in self.stops)

    @property
    def deaths(self) -> int:
        """How often it died."""
        return len(self.ends)

    @property
    def lived(self) -> float | None:
        """Seconds that its lives lasted, in the middle."""
        lasted = [restart.lived for restart in self.restarts if restart.lived is not None]
        return median(lasted) if lasted else None

    @property
    def failing(self) -> bool:
        """It is seen to die, not to be stopped."""
        return bool(self.exits or self.errors)

    @property
    def loops(self) -> bool:
        """It died more often than a release ends it; if nobody saw it fail, some ends must not have been in order."""
        if self.failing:
            return self.deaths > TAKEN_BACK
        return len(self.restarts) > TAKEN_BACK and not all(restart.orderly for restart in self.restarts)


@per_facts
def churning(facts: Facts, group: str) -> tuple[Churn, ...]:
    """Clients of *group* whose processes ended again and again after short lives, by name."""
    every = lives(facts, group)
    released = {restart for release in releases(facts, group) for restart in release.restarts}
    others = {life.client_id for life in every if fenced(life)} | groups.astray(facts, group)
    again: dict[str, list[Restart]] = defaultdict(list)
    for restart in restarts(every):
        if restart not in released and restart.member not in others:
            again[restart.member].append(restart)
    loops = (_churn(facts, group, client, _short_lives(own)) for client, own in sorted(again.items()))
    return tuple(churn for churn in loops if churn.loops)


def _short_lives(own: Sequence[Restart]) -> Sequence[Restart]:
    """The longest run of restarts after lives no longer than a supervisor's longest wait."""
    cuts = [n for n, restart in enumerate(own) if restart.lived is not None and restart.lived > BACKOFF]
    return max((own[begin:end] for begin, end in pairwise([0, *cuts, len(own)])), key=len)


def _churn(facts: Facts, group: str, client: str, run: Sequence[Restart]) -> Churn:
    last = _last(facts, group, client, run[-1])
    if _SHARED in client:
        return Churn(client, tuple(run), last, (), ())
    ends = _ends(run, last)

    def beside_an_end(at: float | None) -> bool:
        return at is not None and any(abs(at - end) <= NEAR for end in ends)

    told = [
        line
        for line, own in poll_limits.own_lines(facts, group, "process-exit")
        if own == client and beside_an_end(line.first_at) and line.value_max is not None
    ]
    exits = tuple(line for line in told if line.value_max not in ORDERLY)
    errors = tuple(
        shape
        for shape in _errors(facts, group, client)
        if len(ends) - 1 <= shape.lines <= 2 * len(ends)
        if beside_an_end(shape.first_at) and beside_an_end(shape.last_at)
    )
    return Churn(client, tuple(run), last, exits, errors, _stops(run, last, told, errors))


def _ends(run: Sequence[Restart], last: Life | None) -> tuple[float, ...]:
    return (*(restart.stopped for restart in run), *([stopped_at(last)] if last is not None else []))


def _stops(
    run: Sequence[Restart], last: Life | None, told: Sequence[Episode], errors: Sequence[Shape]
) -> frozenset[float]:
    """Ends with the status of one that was asked for; where no status is told, those in good order far from errors."""
    ends = _ends(run, last)
    statuses: dict[float, set[bool]] = defaultdict(set)
    for line in told:
        nearest = min(ends, key=lambda end: abs(end - (line.first_at or 0.0)))
        statuses[nearest].add(line.value_max in ORDERLY)
    orderly = [restart.orderly for restart in run]
    orderly += [last.end is End.LEFT or last.process_stopped is not None] if last is not None else []
    failed = [(s.first_at - NEAR, s.last_at + NEAR) for s in errors if s.first_at is not None and s.last_at is not None]
    return frozenset(
        end
        for end, well in zip(ends, orderly, strict=True)
        if (statuses[end] == {True} if end in statuses else well and failed and not _within(end, failed))
    )


def _within(at: float, spans: Sequence[tuple[float, float]]) -> bool:
    return any(since <= at <= until for since, until in spans)


def _last(facts: Facts, group: str, client: str, restart: Restart) -> Life | None:
    """The life that the last restart of *client* began, if it has ended soon."""
    own = [life for life in distinct(lives(facts, group)) if life.client_id == client and life.since is not None]
    life = max(own, key=lambda life: life.since or 0.0, default=None)
    if life is None or life.until is None or life.end not in _DEATHS:
        return None
    return life if 0.0 <= stopped_at(life) - restart.started <= BACKOFF else None


@per_facts
def dying(facts: Facts, group: str) -> frozenset[str]:
    """Names of clients whose processes die again and again."""
    return frozenset(churn.client_id.split(_SHARED)[0] for churn in churning(facts, group))


@per_facts
def passing(facts: Facts, group: str) -> tuple[Life, ...]:
    """Short lives of names that never came again, by time; none where there are too few."""
    every = lives(facts, group)
    names = Counter(life.client_id for life in every)
    released = {restart.member for release in releases(facts, group) for restart in release.restarts}
    last = max((life.until for life in every if life.until is not None), default=0.0)
    short = [
        life
        for life in every
        if names[life.client_id] == 1 and life.client_id not in released
        if life.since is not None and life.until is not None
        if life.until - life.since <= BACKOFF and life.until < last - NEAR
    ]
    return tuple(sorted(short, key=lambda life: (life.since or 0.0, life.client_id))) if len(short) >= PASSING else ()
