"""RocketMQ: everything is stable, the consumers are slower than the producers.

Fires: lag of a topic rises while the group's members stay the same and the committed position of every queue moves.
Proven where what the members can do (threads ÷ time per message) agrees with what they did, or nothing tells it.
Quiet: queues that stand still (no owner, or one stuck message), members that come and go, a rise of a few seconds of
production, which commits and snapshots alone can make.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from mqlab import units
from mqlab.capacity import capacity
from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.members import Stream, streams, topics
from mqlab.queues import TOGETHER, Points, lag, spread, totals
from mqlab.slots import SETTLING
from mqlab.stalls import Stretch, climb, stretch
from mqlab.wording import moment

INCIDENT = "slow-consumer"
SYSTEMS: tuple[str, ...] = ("rocketmq",)

SHORTEST = 60.0
"""Seconds that the rise must last."""
BEHIND = 20.0
"""Seconds of production that lag must rise by; commits and snapshots make up to ten."""
LEAST = 10
"""Messages below which lag is no lag."""
NEAR = 0.25
"""How far what was done may be from what can be done."""


def detect(facts: Facts) -> Result:
    """One finding for each group and topic."""
    known = topics(facts)
    if not known:
        return Result(missing=("offsets of the groups, several times",))
    every = [_told(facts, group, topic, queues) for (group, topic), queues in known.items()]
    found = tuple(f for result in every for f in result.findings)
    missing = tuple(m for result in every for m in result.missing)
    reasons = [result.rejected for result in every if result.rejected]
    if found or missing:
        return Result(found, missing=() if found else missing)
    return Result(rejected="; ".join(reasons)) if reasons else CLEAR


def _told(facts: Facts, group: str, topic: str, queues: Mapping[str, Points]) -> Result:
    rise = climb(queues)
    if rise is None or not _matters(rise):
        return CLEAR
    if not streams(facts, group):
        return Result(missing=(f"who was in {group} while its lag rose: consumerConnection or the clients' logs",))
    steady = _steady(facts, group, queues, rise)
    if steady is None or not _matters(steady):
        return Result(rejected=f"{group}: lag of {topic} rose while members came and went")
    if stuck := _stuck(queues, steady):
        return Result(rejected=f"{group}: {spread(stuck)} of {topic} stood still: that is not the consumers' speed")
    return Result((_finding(facts, group, topic, steady, queues),))


def _matters(rise: Stretch) -> bool:
    enough = rise.grown >= max(LEAST, BEHIND * rise.produced / rise.seconds)
    return rise.seconds >= SHORTEST and enough


def _steady(facts: Facts, group: str, queues: Mapping[str, Points], rise: Stretch) -> Stretch | None:
    """The longest part of the rise in which the members are known to have stayed the same; None where it is none."""
    calm = [part for view in streams(facts, group) for part in _calm(view, rise)]
    if not calm:
        return None
    since, until = max(calm, key=lambda part: part[1] - part[0])
    return stretch(queues, since, until) if until > since else None


def _calm(view: Stream, rise: Stretch) -> Iterator[tuple[float, float]]:
    """Times within the rise in which *view* saw the same members; a list of connections only from one to the next."""
    snapshots = view.snapshots
    start = 0
    for n in range(1, len(snapshots) + 1):
        if n < len(snapshots) and snapshots[n].ids == snapshots[start].ids:
            continue
        end = (snapshots[n].at if n < len(snapshots) else view.until) if view.lasting else snapshots[n - 1].at
        settled = snapshots[start].at + (SETTLING if start else 0.0)
        if snapshots[start].members:
            yield max(settled, rise.since), min(end, rise.until)
        start = n


def _stuck(queues: Mapping[str, Points], steady: Stretch) -> list[str]:
    """Queues that took messages in and stood still for a while, at the end of the rise or all the time."""
    late = stretch(queues, max(steady.since, steady.until - SHORTEST - SETTLING), steady.until)
    return [queue for queue, pace in steady.paces.items() if min(pace.consumed, _moved(late, queue)) <= 0]


def _moved(late: Stretch, queue: str) -> int:
    return late.paces[queue].consumed if queue in late.paces else 1


def _finding(facts: Facts, group: str, topic: str, rise: Stretch, queues: Mapping[str, Points]) -> Finding:
    done, came = rise.consumed / rise.seconds, rise.produced / rise.seconds
    able = capacity(facts, group, rise.since - SETTLING, rise.until + TOGETHER)
    agrees = able is None or abs(able.messages_per_second - done) <= NEAR * max(able.messages_per_second, done)
    points = totals(queues)
    ongoing = rise.until >= points[-1][0]
    measures = {
        "produced_per_second": came,
        "consumed_per_second": done,
        "lag_growth_per_second": rise.grown / rise.seconds,
        "peak_lag": float(max(waiting for _, waiting, _ in points)),
        "pending_records": float(points[-1][1]),
    }
    if able is not None:
        measures["capacity_per_second"] = able.messages_per_second
    can = f" {able.told}: {units.digits(able.messages_per_second)}/s." if able is not None else ""
    return Finding(
        id=f"{INCIDENT}:{group}/{topic}",
        incident=INCIDENT,
        severity=Severity.CRITICAL,
        certainty=Certainty.PROVEN if agrees else Certainty.LIKELY,
        subject=f"{group}/{topic}",
        started_at=moment(rise.since),
        ended_at=None if ongoing else moment(rise.until),
        ongoing=ongoing,
        statement=(
            f"{group} handles {units.digits(done)} messages/s of {topic} where {units.digits(came)}/s come in; its "
            f"members stayed the same and every queue moved.{can} Lag rose by {units.digits(rise.grown / rise.seconds)}"
            f"/s to {units.number(measures['peak_lag'])} messages."
        ),
        measures=measures,
        evidence=(*_moving(rise), *(able.evidence if able else ())),
        explains=("retention-loss", "backlog-drain"),
        mitigate="Add threads or members up to the number of queues; side effect: more load on what the consumers "
        "write to, which may be the reason that they are slow.",
        remedy="Find what made each message slower (a release, a store, a remote call), or plan capacity for the peak.",
        verify=f"The diff of {topic} falls, and consumed per second is above produced per second.",
        facts=_slowest(rise),
    )


def _moving(rise: Stretch) -> list[Evidence]:
    worst = sorted(rise.paces.values(), key=lambda p: (lag(p.first) - lag(p.last), p.queue))
    return [
        Evidence(p.source, p.line, p.text, f"{pace.queue} moves, but lags more and more")
        for pace in worst[:2]
        for p in (pace.first, pace.last)
    ]


def _slowest(rise: Stretch) -> Mapping[str, str]:
    """Which brokers' queues fell behind fastest, where they differ."""
    by_queue: dict[str, list[str]] = defaultdict(list)
    for queue, pace in rise.paces.items():
        rate = (lag(pace.last) - lag(pace.first)) / pace.seconds
        by_queue["falling behind" if rate > 0 else "keeping up"].append(queue)
    return {what: spread(found) for what, found in sorted(by_queue.items())} if len(by_queue) > 1 else {}
