"""Remedies that the lab can try: what mqlab advises, what it foresees of it, and what then truly came.

A scenario's ``[remedy]`` names one: ``poll`` (fewer records a poll), ``batch`` (a batch size within the limit) or
``drain`` (the consumers are started again, ``seconds`` long), and the ``loads`` that it is applied to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from mqlab.facts import Facts
from mqlab.findings import Finding
from mqlab.lab.counting import Books, groups_of
from mqlab.lab.errors import LabError
from mqlab.lab.playing import Played
from mqlab.lab.scenario import Scenario, Step

NEAR = 0.2
"""Share of the outcome by which a prediction may miss it: the goal of the closed loop."""


@dataclass(frozen=True, slots=True)
class Number:
    """One prediction beside its outcome."""

    name: str
    """With its unit."""
    before: float | None
    """In the first run; None where it has none."""
    predicted: float
    outcome: float

    @property
    def right(self) -> bool:
        """Whether the prediction was near."""
        return abs(self.predicted - self.outcome) <= NEAR * abs(self.outcome)


@dataclass(frozen=True, slots=True)
class Advice:
    """What is done about it."""

    told: str
    scenario: Scenario
    """The same with the remedy in it."""
    judge: Callable[[Played], tuple[Number, ...]]
    """Predictions beside what the second run's books tell."""


def advice(played: Played, facts: Facts, finding: Finding | None) -> Advice:
    """The remedy that the scenario names, with the values that mqlab advises for this capture.

    Raises:
        LabError: the scenario names none, or mqlab advises nothing for this capture.
        MqlabError: mqlab cannot foresee anything from this capture.
    """
    kind = str(played.books.scenario.remedy.get("kind", "none"))
    if kind not in REMEDIES:
        known = ", ".join(REMEDIES)
        raise LabError(f"The scenario {played.books.scenario.name} names no remedy that the lab can test: {known}.")
    return REMEDIES[kind](played, facts, finding)


def _poll(played: Played, facts: Facts, _finding: Finding | None) -> Advice:
    """Fewer records a poll, as many as `mqlab what-if` advises."""
    from mqlab.scenarios.replay import replay
    from mqlab.scenarios.replay_changes import changes

    scenario = played.books.scenario
    group = next(iter(groups_of(scenario)))
    most = replay(facts, group).fit_before.advised_records
    if most is None:
        raise LabError(f"mqlab advises no max.poll.records for {group}: not even one record fits into the interval.")
    foreseen = replay(facts, group, changes([f"max.poll.records={most}"]))
    after = foreseen.after
    if after is None:
        raise LabError(f"mqlab predicts nothing for {group}: its replay does not match what was recorded.")
    until = foreseen.until - played.window[0]
    before = played.books

    def judge(second: Played) -> tuple[Number, ...]:
        books = second.books
        return (
            Number(
                "longest poll, seconds",
                _longest(before, played.window[0] + until),
                after.longest_poll_seconds.likely,
                _longest(books, second.window[0] + until),
            ),
            Number(
                "late polls and the rebalances after them",
                len(before.told("poll-timeout")),
                after.rebalances.likely,
                len(books.told("poll-timeout")),
            ),
            Number(
                f"records that wait {until:.0f} s after the begin",
                _waiting(before, played.window[0] + until),
                after.final_lag.likely,
                _waiting(books, second.window[0] + until),
            ),
        )

    return Advice(f"max.poll.records={most}", _with(scenario, {"poll_records": most}), judge)


def _batch(played: Played, facts: Facts, finding: Finding | None) -> Advice:
    """A batch size within the limit."""
    from mqlab.models.producer import Link, burst
    from mqlab.models.splitting import outcome
    from mqlab.scenarios.batch_settings import configured_producer

    scenario = played.books.scenario
    producer = configured_producer(facts, finding)
    if producer is None:
        raise LabError("mqlab predicts nothing for this producer: its version and limit are unknown.")
    load = next(load for load in scenario.loads if load.name in scenario.remedy["loads"])
    size = int(load.options["size"])
    foreseen = outcome(replace(producer, batch_size=_BATCH), Link(_LOOPBACK), burst(_BURST, size))
    changed = {"client": {**load.options.get("client", {}), "batch.size": _BATCH}}

    def judge(second: Played) -> tuple[Number, ...]:
        before, after = _sent(played.books), _sent(second.books)
        return (
            Number(
                "bytes out for each byte in",
                before["wire"] / before["bytes"],
                foreseen.bytes_out / foreseen.bytes_in,
                after["wire"] / after["bytes"],
            ),
            Number("splits", before["splits"], float(foreseen.rounds), after["splits"]),
        )

    return Advice(f"batch.size={_BATCH}", _with(scenario, changed), judge)


_LOOPBACK = 1e9
"""Bytes per second of loopback, about: nothing waits for the link here."""
_BURST = 20
_BATCH = 16_384
"""The client's default, which no topic refuses: what the catalogue advises."""


def _drain(played: Played, facts: Facts, _finding: Finding | None) -> Advice:
    """The consumers are started again."""
    from mqlab.scenarios.drain import Request, answer

    scenario = played.books.scenario
    group = next(iter(groups_of(scenario)))
    names = tuple(scenario.remedy["loads"])
    # Nobody works when the capture is taken: how long a message takes is what the application's owner knows.
    polls = played.books.told("poll")
    each = sum(float(fact["seconds"]) for fact in polls) / max(1, sum(int(fact["records"]) for fact in polls))
    asked = Request(group=group, response_time=each, threads=1, instances=len(names), orderly=True)
    foreseen = answer(asked, facts).forecast
    if foreseen is None:
        raise LabError(f"mqlab predicts no drain of {group}.")
    again = Step(scenario.seconds, "start", names)
    longer = replace(scenario, steps=(*scenario.steps, again), seconds=scenario.seconds + scenario.remedy["seconds"])

    def judge(second: Played) -> tuple[Number, ...]:
        started = next(at for at, step in reversed(second.steps) if step.do == "start" and step.loads == names)
        return (Number("drain, seconds", None, foreseen.seconds.likely, _drained(second.books, started)),)

    return Advice(f"{', '.join(names)} started again", longer, judge)


REMEDIES: Mapping[str, Callable[[Played, Facts, Finding | None], Advice]] = {
    "poll": _poll,
    "batch": _batch,
    "drain": _drain,
}


def _with(scenario: Scenario, changed: Mapping[str, Any]) -> Scenario:
    """*scenario* with other options of the loads that its remedy names."""
    names = scenario.remedy["loads"]
    loads = tuple(replace(x, options={**x.options, **changed}) if x.name in names else x for x in scenario.loads)
    return replace(scenario, loads=loads)


def _longest(books: Books, until: float) -> float:
    return max((float(fact["seconds"]) for fact in books.told("poll") if fact["at"] <= until), default=0.0)


def _sent(books: Books) -> dict[str, float]:
    """Sums of the Java producers."""
    last = {(fact["who"], fact["life"]): fact for fact in books.told("producer")}
    return {key: float(sum(fact[key] for fact in last.values())) for key in ("wire", "bytes", "splits")}


def _waiting(books: Books, until: float) -> int:
    """Records acknowledged by then that nobody in the group had handled by then."""
    acked = [row for load in books.scenario.loads for row in books.rows(f"{load.name}-acked")]
    came = {row["id"] for row in acked if _at(row["acked_at"]) <= until}
    rows = [row for group in books.groups() for row in books.handled(group)]
    return len(came - {row["id"] for row in rows if _at(row["processed_at"]) <= until})


def _drained(books: Books, started: float) -> float:
    """Seconds from the first record handled after *started* until no more wait than come in a second.

    Infinite where that never came.
    """
    handled = sorted(_at(row["processed_at"]) for group in books.groups() for row in books.handled(group))
    came = sorted(_at(row["acked_at"]) for load in books.scenario.loads for row in books.rows(f"{load.name}-acked"))
    first = next((at for at in handled if at >= started), None)
    if first is None:
        return float("inf")
    rate = len(came) / max(1.0, came[-1] - came[0])
    done = sum(at < first for at in handled)
    arrived = sum(at < first for at in came)
    for at in handled[done:]:
        done += 1
        while arrived < len(came) and came[arrived] <= at:
            arrived += 1
        if arrived - done <= rate:
            return at - first
    return float("inf")


def _at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
