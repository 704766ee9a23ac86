"""Members of a Kafka group that start, die and start again, and members that come and go under ever new names."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import median

from mqlab.facts import Episode, Facts
from mqlab.kafka import groups, log_lines, poll_limits, releases
from mqlab.kafka.lives import lives
from mqlab.kafka.releases import Restart, distinct, fenced, restarts
from mqlab.kafka.rows import End, Life
from mqlab.memo import per_facts
from mqlab.rows import Shape
from mqlab.shared.benign_lines import ORDERLY

LEAST = 3
"""Ends of one process from which it is a loop: a deploy that is taken back ends it twice."""
SHORT = 300.0
"""Seconds that a life in a loop lasts at most; supervisors wait no longer before they start a process again."""
NEAR = 60.0
"""Seconds around a restart in which an exit or an error belongs to it."""
_DEATHS = frozenset({End.LEFT, End.EXPIRED, End.DROPPED})
_SHARED = " on "
"""In the name of a member whose client id other hosts have, too: nothing tells whose exits and errors a log has."""
PASSING = 4
"""Members of different names that came and went from which members come and go."""


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

    @property
    def since(self) -> float:
        """The first death."""
        return self.restarts[0].stopped

    @property
    def until(self) -> float:
        """The last start, or the end after it."""
        return _end(self.last) if self.last is not None else self.restarts[-1].started

    @property
    def deaths(self) -> int:
        """How often it ended."""
        return len(self.restarts) + (self.last is not None)

    @property
    def lived(self) -> float | None:
        """Seconds that its lives lasted, in the middle."""
        known = [one.lived for one in self.restarts if one.lived is not None]
        return median(known) if known else None

    @property
    def failing(self) -> bool:
        """It is seen to die, not to be stopped."""
        return bool(self.exits or self.errors)


@per_facts
def churning(facts: Facts, group: str) -> tuple[Churn, ...]:
    """Clients of *group* whose processes ended again and again after short lives, by name."""
    every = lives(facts, group)
    released = {one for round_ in releases.releases(facts, group) for one in round_.restarts}
    others = {life.client_id for life in every if fenced(life)} | groups.astray(facts, group)
    again: dict[str, list[Restart]] = defaultdict(list)
    for one in restarts(every):
        if one not in released and one.client_id not in others:
            again[one.client_id].append(one)
    found = (_churn(facts, group, client, _run(own)) for client, own in sorted(again.items()))
    return tuple(one for one in found if _loops(one))


def _churn(facts: Facts, group: str, client: str, run: Sequence[Restart]) -> Churn:
    last = _last(facts, group, client, run[-1])
    ends = [one.stopped for one in run] + ([_end(last)] if last is not None else [])
    if _SHARED in client:
        return Churn(client, tuple(run), last, (), ())
    exits = [e for e, who in poll_limits.own_lines(facts, group, "process-exit") if client == who]
    failed = tuple(
        e
        for e in exits
        if any(abs((e.first_at or 0.0) - at) <= NEAR for at in ends) and e.value_max not in (None, *ORDERLY)
    )
    return Churn(client, tuple(run), last, failed, _errors(facts, group, client, ends))


def _loops(one: Churn) -> bool:
    """It died often enough; of restarts that nobody saw fail, some must have come without an orderly end."""
    if one.failing:
        return one.deaths >= LEAST
    return len(one.restarts) >= LEAST and not all(restart.orderly for restart in one.restarts)


def _last(facts: Facts, group: str, client: str, restart: Restart) -> Life | None:
    """The life that the last restart of *client* began, if it has ended soon."""
    own = [life for life in distinct(lives(facts, group)) if life.client_id == client and life.since is not None]
    life = max(own, key=lambda o: o.since or 0.0, default=None)
    if life is None or life.until is None or life.end not in _DEATHS or _end(life) < restart.started:
        return None
    return life if _end(life) - restart.started <= SHORT else None


def _end(life: Life) -> float:
    """When the process of *life* stopped, as far as that is known."""
    return min(at for at in (life.process_stopped, life.silent_since, life.until, inf) if at is not None)


@per_facts
def dying(facts: Facts, group: str) -> frozenset[str]:
    """Names of clients whose processes die again and again."""
    return frozenset(one.client_id.split(_SHARED)[0] for one in churning(facts, group))


def _run(own: Sequence[Restart]) -> list[Restart]:
    """The longest run of restarts after short lives."""
    best: list[Restart] = []
    run: list[Restart] = []
    for one in own:
        run = [*run, one] if one.lived is None or one.lived <= SHORT else [one]
        best = max(best, run, key=len)
    return best


def _errors(facts: Facts, group: str, client: str, ends: Sequence[float]) -> tuple[Shape, ...]:
    """Errors about as frequent as its ends, of which the first and the last, to the minute, stand beside one."""
    homes = log_lines.homes(facts, group)
    return tuple(
        s
        for s in facts.shapes
        if homes.get(s.source) == client and s.level in ("ERROR", "FATAL")
        if len(ends) - 1 <= s.lines <= 2 * len(ends)
        if all(at is not None and any(abs(at - end) <= NEAR for end in ends) for at in (s.first_at, s.last_at))
    )


@per_facts
def passing(facts: Facts, group: str) -> tuple[Life, ...]:
    """Short lives of names that never came again, by time, where there are too many for a change of size."""
    every = lives(facts, group)
    names = Counter(life.client_id for life in every)
    released = {one.client_id for round_ in releases.releases(facts, group) for one in round_.restarts}
    found = [
        life
        for life in every
        if names[life.client_id] == 1
        and life.client_id not in released
        and life.since is not None
        and life.until is not None
        and life.until - life.since <= SHORT
    ]
    last = max((life.until for life in every if life.until is not None), default=0.0)
    gone = [life for life in found if (life.until or 0.0) < last - NEAR]
    return tuple(sorted(gone, key=lambda o: (o.since or 0.0, o.client_id))) if len(gone) >= PASSING else ()
