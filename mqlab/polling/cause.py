"""Why polls of a Kafka group took so long, where the material shows it: the service that the application calls.

An access log tells how long its answers took and how many were 5xx; the application's own lines tell which calls
failed. Both are compared with the time before. Or one record that is tried again and again in the polling thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mqlab import units
from mqlab.facts import Episode, Facts, Series
from mqlab.findings import Evidence
from mqlab.polling import blocked, lines
from mqlab.questions.wording import sample

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
    for one in blocked.behind(facts, group):
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
    every = [e for e, _ in lines.own_lines(facts, group, "call-failed")]
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
