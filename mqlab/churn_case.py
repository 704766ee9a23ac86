"""Members of a Kafka group that start, die and start again, and members that come and go under ever new names."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from mqlab import kafka_release, poll_lines
from mqlab.facts import Episode, Facts, Shape
from mqlab.kafka_lives import lives
from mqlab.kafka_renewal import Restart, restarts
from mqlab.memo import per_facts
from mqlab.rebalance_rows import End, Life

LEAST = 3
"""Restarts of one member from which it is a loop: a deploy that is taken back restarts it twice."""
SHORT = 300.0
"""Seconds that a life in a loop lasts at most; supervisors wait no longer before they start a process again."""
NEAR = 60.0
"""Seconds around a restart in which an exit or an error belongs to it."""
PASSING = 4
"""Members of different names that came and went from which members come and go."""


@dataclass(frozen=True, slots=True)
class Churn:
    """One client that died again and again."""

    client_id: str
    restarts: tuple[Restart, ...]
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
        """The last start."""
        return self.restarts[-1].started

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
    """Clients of *group* that were restarted again and again after short lives, by name."""
    every = lives(facts, group)
    released = {one for round_ in kafka_release.releases(facts, group) for one in round_.restarts}
    fenced = {life.client_id for life in every if life.end is End.FENCED}
    found = []
    again: dict[str, list[Restart]] = defaultdict(list)
    for one in restarts(every):
        if one not in released and one.client_id not in fenced:
            again[one.client_id].append(one)
    for client, own in sorted(again.items()):
        run = _run(own)
        if len(run) >= LEAST:
            found.append(
                Churn(client, tuple(run), _exits(facts, group, client, run), _errors(facts, group, client, run))
            )
    return tuple(one for one in found if one.failing or not all(restart.orderly for restart in one.restarts))


@per_facts
def dying(facts: Facts, group: str) -> frozenset[str]:
    """Names of clients whose processes die again and again."""
    return frozenset(one.client_id.split(" on ")[0] for one in churning(facts, group))


def _run(own: Sequence[Restart]) -> list[Restart]:
    """The longest run of restarts after short lives."""
    best: list[Restart] = []
    run: list[Restart] = []
    for one in own:
        run = [*run, one] if one.lived is None or one.lived <= SHORT else [one]
        best = max(best, run, key=len)
    return best


def _exits(facts: Facts, group: str, client: str, run: Sequence[Restart]) -> tuple[Episode, ...]:
    exits = [e for e, who in poll_lines.own_lines(facts, group, "process-exit") if client.split(" on ")[0] == who]
    near = [e for e in exits if any(abs((e.first_at or 0.0) - one.stopped) <= NEAR for one in run)]
    return tuple(e for e in near if e.value_max not in (None, 0.0, 130.0, 143.0))


def _errors(facts: Facts, group: str, client: str, run: Sequence[Restart]) -> tuple[Shape, ...]:
    homes = poll_lines.homes(facts, group)
    own = [s for s in facts.shapes if homes.get(s.source) == client.split(" on ")[0] and s.level in ("ERROR", "FATAL")]
    return tuple(s for s in own if s.lines >= len(run) - 1 and _spans(s, run))


def _spans(shape: Shape, run: Sequence[Restart]) -> bool:
    """Its first and its last line stand shortly before ends of the run."""
    times = (shape.first_at, shape.last_at)
    return all(at is not None and any(-NEAR <= at - one.stopped <= NEAR for one in run) for at in times)


@per_facts
def passing(facts: Facts, group: str) -> tuple[Life, ...]:
    """Short lives of names that never came again, by time, where there are too many for a change of size."""
    every = lives(facts, group)
    names = Counter(life.client_id for life in every)
    released = {one.client_id for round_ in kafka_release.releases(facts, group) for one in round_.restarts}
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
