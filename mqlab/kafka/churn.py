"""Members of a Kafka group whose processes die and start again and again.

Members of a Kafka group that start, die and start again, and members that come and go under ever new names.

What is said about members of a Kafka group whose processes die again and again.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import median

from mqlab import units
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.kafka import groups, log_lines, poll_limits, releases
from mqlab.kafka.groups import once, triggers
from mqlab.kafka.lives import lives
from mqlab.kafka.releases import Restart, distinct, fenced, restarts
from mqlab.kafka.rows import End, Life, Rebalance
from mqlab.memo import per_facts
from mqlab.rows import Shape
from mqlab.shared.benign_lines import ORDERLY
from mqlab.units import counted

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
    return Churn(client, tuple(run), last, _exits(facts, group, client, ends), _errors(facts, group, client, ends))


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


def _exits(facts: Facts, group: str, client: str, ends: Sequence[float]) -> tuple[Episode, ...]:
    exits = [e for e, who in poll_limits.own_lines(facts, group, "process-exit") if client == who]
    near = [e for e in exits if any(abs((e.first_at or 0.0) - at) <= NEAR for at in ends)]
    return tuple(e for e in near if e.value_max not in (None, *ORDERLY))


def _errors(facts: Facts, group: str, client: str, ends: Sequence[float]) -> tuple[Shape, ...]:
    """Errors about as frequent as its ends, of which the first and the last stand beside one."""
    homes = log_lines.homes(facts, group)
    own = [s for s in facts.shapes if homes.get(s.source) == client and s.level in ("ERROR", "FATAL")]
    return tuple(s for s in own if len(ends) - 1 <= s.lines <= 2 * len(ends) and _spans(s, ends))


def _spans(shape: Shape, ends: Sequence[float]) -> bool:
    """Its first and its last line, to the minute, stand beside ends of the run."""
    times = (shape.first_at, shape.last_at)
    return all(at is not None and any(abs(at - end) <= NEAR for end in ends) for at in times)


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


_SHOWN = 3
_LONGEST = 80
"""Characters of an error that are read at a glance."""
_SHORTEST = 8
"""Characters from which it says something: shapes are cut."""
_LAYOUT = re.compile(r"^.*?(?: - | : )")
"""What stands before the message in most layouts."""


def statement(group: str, every: Sequence[Churn], rebalances: int, again: int) -> str:
    """Two sentences: who died how often, and what came of it."""
    names = ", ".join(f"{one.client_id} died {counted(one.deaths, 'time')}" for one in every[:_SHOWN])
    more = f" and {counted(len(every) - _SHOWN, 'more member')}" if len(every) > _SHOWN else ""
    lived = _lived(every)
    short = f" after {units.duration(lived)}" if lived is not None else ""
    cost = counted(rebalances, "rebalance") + (f" and {counted(again, 'record')} handled again" if again else "")
    errors = [error for one in every for error in one.errors]
    words = _message(errors[0]) if errors else ""
    said = f"; before each end it says: {words}" if len(words) >= _SHORTEST else ""
    return f"In {group} {names}{more}{short} and was started again. It cost {cost}{said}."


def measures(every: Sequence[Churn], rebalances: int, again: int) -> dict[str, float]:
    """The numbers of the finding."""
    lived = _lived(every)
    found = {
        "members": float(len(every)),
        "deaths": float(sum(one.deaths for one in every)),
        "restarts": float(sum(len(one.restarts) for one in every)),
        "rebalances": float(rebalances),
    }
    if lived is not None:
        found["life_seconds"] = lived
    return found | ({"duplicated_records": float(again)} if again else {})


def remarks(every: Sequence[Churn], rows: Sequence[Rebalance]) -> dict[str, str]:
    """Short words for the screen: who it is, what made the group rebalance, what is behind it."""
    names = {one.client_id.split(" on ")[0] for one in every}
    own = [row for row in rows if row.client_id in names]
    statuses = sorted({f"{e.value_max:.0f}" for one in every for e in one.exits if e.value_max is not None})
    found = {
        "members": ", ".join(one.client_id for one in every),
        "triggers": triggers(rows, own, "end"),
        "cause": f"processes exit with status {', '.join(statuses)}" if statuses else "",
    }
    return {name: words for name, words in found.items() if words}


def evidence(every: Sequence[Churn]) -> tuple[Evidence, ...]:
    """What ends each process, and its first restarts."""
    found = [_with(e.first, "its process fails") for one in every for e in one.exits[:_SHOWN]]
    errors = [error for one in every for error in one.errors[:1]]
    found += [Evidence(e.source, e.first_line, e.sample or e.shape, "before each end") for e in errors]
    found += [
        _with(place, why)
        for one in every
        for restart in one.restarts[:_SHOWN]
        for place, why in zip(restart.evidence, ("a member ends", "and comes again"), strict=False)
    ]
    return once(found)


def _lived(every: Sequence[Churn]) -> float | None:
    known = [one.lived for one in every if one.lived is not None]
    return min(known) if known else None


def _message(error: Shape) -> str:
    """The error without the layout of its line."""
    plain = " ".join((error.sample or error.shape).split())
    return (_LAYOUT.sub("", plain) or plain)[:_LONGEST]


def _with(place: Evidence, why: str) -> Evidence:
    return Evidence(place.source, place.line, place.text, why, place.pointer)
