"""Kafka, RocketMQ and MQTT: everything is stable, the consumers are slower than the producers.

Fires: lag of a topic rises while the group's members stay the same and the committed position of every queue moves.
Proven where what the members can do (threads ÷ time per message, or records per second of their polls) agrees with
what they did, or nothing tells it.
Quiet: queues that stand still (no owner, or one stuck message), members that come and go, a Kafka group that is kept
from its work by rebalances, a burst that the group works off as fast as ever, a rise of a few seconds of production,
which commits and snapshots alone can make.
MQTT has no positions: a connected client whose queue is full, or that gets everything late, see ``mqtt.slow``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from mqlab import units
from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.groups.membership import capacity, disturbed, is_kafka, places, steady, streams, topics
from mqlab.models.falling import falling
from mqlab.mqtt import slow_receivers
from mqlab.rocketmq.slots import SETTLING
from mqlab.shared.lag import Stretch, climb, stretch_between
from mqlab.shared.queues import TOGETHER, Points, lag, spread, totals
from mqlab.shared.wording import moment

INCIDENT = "slow-consumer"
SYSTEMS: tuple[str, ...] = ("kafka", "rocketmq", "mqtt")

SHORTEST = 60.0
"""Seconds that the rise must last."""
BEHIND = 20.0
"""Seconds of production that lag must rise by; commits and snapshots make up to ten."""
LEAST = 10
"""Messages below which lag is no lag."""
NEAR = 0.25
"""How far what was done may be from what can be done."""


def detect(facts: Facts) -> Result:
    """One finding for each group and topic, and for each client of MQTT."""
    if not any(e.system == "mqtt" for e in facts.episodes):
        return _of_groups(facts)
    told = slow_receivers.slow(facts)
    clients = Result(told.findings, told.rejected, told.missing)
    return _both(_of_groups(facts), clients, grouped=bool(topics(facts)))


def _both(groups: Result, clients: Result, *, grouped: bool) -> Result:
    """What both systems say, where there are groups; else what MQTT says."""
    if not grouped:
        return clients
    if groups.findings or clients.findings:
        return Result((*groups.findings, *clients.findings))
    if groups.missing or clients.missing:
        return Result(missing=(*groups.missing, *clients.missing))
    because = "; ".join(r.rejected for r in (groups, clients) if r.rejected)
    return Result(rejected=because) if because else CLEAR


def _of_groups(facts: Facts) -> Result:
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
        source = "--members" if is_kafka(facts, group) else "consumerConnection"
        return Result(missing=(f"who was in {group} while its lag rose: {source} or the clients' logs",))
    if told := disturbed(facts, group, rise):
        return Result(rejected=f"{group}: lag of {topic} rose while {told}")
    calm = steady(facts, group, queues, rise)
    if calm is not None and (stuck := _stuck(queues, calm)):
        return Result(rejected=f"{group}: {places(topic, stuck)} stood still: that is not the consumers' speed")
    if calm is None or not _matters(calm) or _mostly_elsewhere(facts, group, rise, calm):
        return Result(rejected=f"{group}: lag of {topic} rose while members came and went")
    if is_kafka(facts, group) and _burst(queues, calm):
        return Result(rejected=f"{group}: a burst of {topic}, worked off no faster than before it was through")
    return Result((_finding(facts, group, topic, calm, queues),))


def _mostly_elsewhere(facts: Facts, group: str, rise: Stretch, calm: Stretch) -> bool:
    """Most of a Kafka group's lag rose while it was not calm."""
    return is_kafka(facts, group) and calm.grown < rise.grown / 2


def _burst(queues: Mapping[str, Points], rise: Stretch) -> bool:
    """The lag went away without anybody consuming faster: more came in than usual, for a while."""
    fall = falling([(at, float(waiting)) for at, waiting, _ in totals(queues)])
    if fall is None or fall.reached_at is None or fall.began_at < rise.since:
        return False
    drain = stretch_between(queues, fall.began_at, fall.reached_at)
    fast = drain.consumed / drain.seconds if drain.seconds > 0 else 0.0
    return fast <= (1 + NEAR) * rise.consumed / rise.seconds


def _matters(rise: Stretch) -> bool:
    enough = rise.grown >= max(LEAST, BEHIND * rise.produced / rise.seconds)
    return rise.seconds >= SHORTEST and enough


def _stuck(queues: Mapping[str, Points], steady: Stretch) -> list[str]:
    """Queues that took messages in and stood still for a while, at the end of the rise or all the time."""
    late = stretch_between(queues, max(steady.since, steady.until - SHORTEST - SETTLING), steady.until)
    return [queue for queue, pace in steady.paces.items() if min(pace.consumed, _moved(late, queue)) <= 0]


def _moved(late: Stretch, queue: str) -> int:
    return late.paces[queue].consumed if queue in late.paces else 1


def _finding(facts: Facts, group: str, topic: str, rise: Stretch, queues: Mapping[str, Points]) -> Finding:
    done, came = rise.consumed / rise.seconds, rise.produced / rise.seconds
    able = capacity(facts, group, rise.since - SETTLING, rise.until + TOGETHER)
    agrees = able is None or abs(able.messages_per_second - done) <= NEAR * max(able.messages_per_second, done)
    queue = "partition" if is_kafka(facts, group) else "queue"
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
            f"members stayed the same and every {queue} moved.{can} "
            f"Lag rose by {units.digits(rise.grown / rise.seconds)}/s to {units.number(measures['peak_lag'])} messages."
        ),
        measures=measures,
        evidence=(*_moving(rise), *(able.evidence if able else ())),
        explains=("backlog-drain",),
        mitigate=f"Add threads or members up to the number of {queue}s; side effect: more load on what the consumers "
        "write to, which may be the reason that they are slow.",
        remedy="Find what made each message slower (a release, a store, a remote call), or plan capacity for the peak.",
        verify=f"The {'LAG' if queue == 'partition' else 'diff'} of {topic} falls, and consumed per second is above "
        "produced per second.",
        facts=_slowest(rise),
    )


def _moving(rise: Stretch) -> list[Evidence]:
    worst = sorted(rise.paces.values(), key=lambda p: (lag(p.first) - lag(p.last), p.queue))
    return [
        p.evidence.because(f"{pace.queue} moves, but lags more and more")
        for pace in worst[:2]
        for p in (pace.first, pace.last)
    ]


def _slowest(rise: Stretch) -> Mapping[str, str]:
    """Which queues fell behind and which did not, where they differ; of Kafka's, also whose they were."""
    by_queue: dict[str, list[str]] = defaultdict(list)
    for queue, pace in rise.paces.items():
        rate = (lag(pace.last) - lag(pace.first)) / pace.seconds
        by_queue["falling behind" if rate > 0 else "keeping up"].append(queue)
    if len(by_queue) < 2:
        return {}
    owners = sorted({rise.paces[queue].last.client_id or "" for queue in by_queue["falling behind"]} - {""})
    told = {what: spread(found) for what, found in sorted(by_queue.items())}
    return {**told, "owners that fall behind": ", ".join(owners)} if owners else told
