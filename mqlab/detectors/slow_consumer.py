"""Kafka, RocketMQ and MQTT: everything is stable, the consumers are slower than the producers.

Fires: lag of a topic rises while the group's members stay the same and the committed position of every queue moves.
Proven where what the members can do (threads ÷ time per message, or records per second of their polls) agrees with
what they did, or nothing tells it. Some partitions of Kafka may fall behind alone: their own production
counts, and they are likely at most. MQTT has no positions: a connected client takes less than is published for it, and
its queue is full or everything comes late; proven where delay or loss is what its queue and both rates make.
Quiet: queues that stand still (no owner, or one stuck message), members that come and go, or that can do several times
what comes in, a Kafka group that is kept from its work by rebalances, a burst that the group works off as fast as ever,
a rise of a few seconds of production, which commits and snapshots alone can make; an MQTT client that gets copies, or
whose publisher's way is slow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding, together
from mqlab.groups.membership import (
    Capacity,
    capacity,
    changed,
    disturbed,
    handling,
    is_kafka,
    left_at,
    places,
    steady,
    streams,
    topics,
)
from mqlab.models.falling import falling
from mqlab.mqtt import slow_clients
from mqlab.mqtt.slow_clients import BEHIND
from mqlab.rocketmq.slots import SETTLING
from mqlab.shared.lag import LEAST, Stretch, climb, speeds, stretch_between
from mqlab.shared.queues import TOGETHER, Points, lag, totals
from mqlab.shared.queues import spread as listed
from mqlab.units import moment

INCIDENT = "slow-consumer"
SYSTEMS: tuple[str, ...] = ("kafka", "rocketmq", "mqtt")
Span = tuple[float, float]
say = words.room(INCIDENT)

SHORTEST = 60.0
"""Seconds that the rise must last: two scrapes of 30 s, or a minute's lines of a script that lists groups."""
NEAR = 0.25
"""How far what was done may be from what can be done: both are means of less than ten grid steps or scrapes."""
SPARE = 4
"""Who can do so many times what comes in is not slow, whatever else of the group's topics it works off meanwhile."""


@dataclass(frozen=True, slots=True)
class Place:
    """What falls behind."""

    group: str
    topic: str
    kafka: bool
    queues: tuple[str, ...] = ()
    """Partitions, where it is not the whole topic."""

    @property
    def where(self) -> str:
        """The topic, or its partitions."""
        return places(self.topic, self.queues) if self.queues else self.topic


def detect(facts: Facts) -> Result:
    """One finding for each group and topic, and for each client of MQTT."""
    mqtt = any(e.system == "mqtt" for e in facts.episodes)
    groups = topics(facts)
    if not groups and not mqtt:
        return Result(missing=(say("no-offsets"),))
    results = [_of_topic(facts, group, topic, queues) for (group, topic), queues in groups.items()]
    return together([*results, slow_clients.of_clients(facts)] if mqtt else results)


def _of_topic(facts: Facts, group: str, topic: str, queues: Mapping[str, Points]) -> Result:
    rise = climb(queues)
    if rise is not None and _matters(rise):
        return _of_rise(facts, Place(group, topic, is_kafka(facts, group)), queues, rise)
    behind = _behind(queues) if is_kafka(facts, group) else {}
    rise = climb(behind)
    if rise is None:
        return CLEAR
    return _of_rise(facts, Place(group, topic, True, tuple(behind)), behind, rise)


def _behind(queues: Mapping[str, Points]) -> Mapping[str, Points]:
    """Partitions whose lag rose by what is much of their own production: all of them, or the one that rose most."""
    rises = {queue: rise for queue, points in queues.items() if (rise := climb({queue: points})) and _matters(rise)}
    behind = {queue: queues[queue] for queue in rises}
    whole = climb(behind)
    if not rises or (whole is not None and _matters(whole)):
        return behind
    most = max(rises, key=lambda queue: (rises[queue].grown, queue))
    return {most: queues[most]}


def _of_rise(facts: Facts, place: Place, queues: Mapping[str, Points], rise: Stretch) -> Result:
    group, kafka, said = place.group, place.kafka, {"group": place.group, "topic": place.where}
    if not streams(facts, group):
        wanted = say("no-kafka-members" if kafka else "no-members", group=group)
        return Result(missing=(wanted,), seen=say("rose", messages=rise.grown, **said))
    if disturbed(facts, group, rise):
        return Result(missing=(say("no-calm", group=group),))
    parts = steady(facts, group, queues, rise)
    calm = parts[0] if parts else None
    if calm is not None and (stuck := _stuck(queues, calm)):
        return Result(rejected=say("stuck", group=group, places=places(place.topic, stuck)))
    mostly_elsewhere = kafka and sum(part.grown for part in parts) < rise.grown / 2
    short = calm is not None and calm.seconds < SHORTEST and (kafka or _is_enough(calm))
    if calm is not None and short and not mostly_elsewhere:
        stayed = say("stayed", seconds=calm.seconds, messages=calm.grown, **said)
        return Result(missing=(say("no-calm", group=group),), seen=stayed)
    if calm is None or not _matters(calm) or mostly_elsewhere:
        if place.queues or not changed(facts, group, rise):  # a change of members keeps all partitions from being read
            return Result(missing=(say("no-calm", group=group),), seen=say("rose", messages=rise.grown, **said))
        return Result(rejected=say("changing", **said))
    if kafka and _burst(queues, calm):
        return Result(rejected=say("burst", **said))
    return _of_calm(facts, place, calm, queues, rise)


def _matters(rise: Stretch) -> bool:
    return rise.seconds >= SHORTEST and _is_enough(rise)


def _is_enough(rise: Stretch) -> bool:
    return rise.grown >= max(LEAST, BEHIND * rise.produced / max(rise.seconds, 1.0))


def _own(rise: Stretch, calm: Stretch) -> Span:
    """The rise from its begin and to its peak, each as far as most of it came while the members stayed the same."""
    own = [(rise.paces[queue], pace) for queue, pace in calm.paces.items()]
    before = sum(lag(pace.last) - lag(whole.first) for whole, pace in own)
    after = sum(lag(whole.last) - lag(pace.first) for whole, pace in own)
    since = rise.since if calm.grown >= before / 2 else calm.since
    return since, rise.until if calm.grown >= after / 2 else calm.until


def _burst(queues: Mapping[str, Points], rise: Stretch) -> bool:
    """The lag went away without anybody consuming faster: more came in than usual, for a while."""
    fall = falling([(at, float(waiting)) for at, waiting, _ in totals(queues)])
    if fall is None or fall.reached_at is None or fall.began_at < rise.since:
        return False
    drain = stretch_between(queues, fall.began_at, fall.reached_at)
    fast = drain.consumed / drain.seconds if drain.seconds > 0 else 0.0
    return fast <= (1 + NEAR) * rise.consumed / rise.seconds


def _stuck(queues: Mapping[str, Points], calm: Stretch) -> list[str]:
    """Queues that took messages in and stood still for a while, at the end of the rise or all the time."""
    late = stretch_between(queues, max(calm.since, calm.until - SHORTEST - SETTLING), calm.until).paces
    return [
        queue for queue, pace in calm.paces.items()
        if pace.consumed <= 0 or (queue in late and late[queue].consumed <= 0)
    ]  # fmt: skip


def _of_calm(facts: Facts, place: Place, rise: Stretch, queues: Mapping[str, Points], all_of_it: Stretch) -> Result:
    """A rise in which the members stayed the same: they are slow, unless they could have done far more."""
    came, _ = speeds(queues, rise)
    able = _able(facts, place, rise)
    if able is None or able.messages_per_second <= SPARE * came:
        return Result((_group_finding(facts, place, rise, queues, all_of_it),))
    return Result(rejected=say("other-cause", group=place.group, topic=place.where, able=able.told, inflow=came))


def _able(facts: Facts, place: Place, rise: Stretch) -> Capacity | None:
    """What all members can do; of some of the partitions only it tells nothing."""
    return None if place.queues else capacity(facts, place.group, rise.since - SETTLING, rise.until + TOGETHER)


def _group_finding(
    facts: Facts, place: Place, rise: Stretch, queues: Mapping[str, Points], all_of_it: Stretch
) -> Finding:
    came, growth = speeds(queues, rise)
    done = came - growth.likely
    able = _able(facts, place, rise)
    agrees = not place.queues if able is None else _near(able.messages_per_second, done)
    points, (begin, end) = totals(queues), _own(all_of_it, rise)
    ongoing = end >= points[-1][0]
    fell = next((at for at, _, _ in points if at > all_of_it.until), end)
    return finding(
        INCIDENT,
        f"{place.group}/{place.topic}",
        Certainty.PROVEN if agrees else Certainty.LIKELY,
        (begin, None if ongoing else left_at(facts, place.group, rise, all_of_it, fell) or end),
        severity=Severity.CRITICAL,
        ongoing=ongoing,
        slots={
            "group": place.group,
            "topic": place.where,
            "kind": "partition" if place.kafka else "queue",
            "some": bool(place.queues),
            "able": able.told if able is not None else None,
            "calm": None if (begin, end) == (rise.since, rise.until) else moment(rise.since),
            "calm_until": moment(rise.until),
            "ongoing": ongoing,
            **handling(facts, place.group, all_of_it.since, rise),
        },
        measures={
            "produced_per_second": came,
            "consumed_per_second": done,
            **growth.measures("lag_growth_per_second"),
            "peak_lag": max(waiting for at, waiting, _ in points if begin <= at <= end),
            "pending_records": points[-1][1],
            "capacity_per_second": able.messages_per_second if able is not None else None,
        },
        evidence=(*_moving(rise), *(able.evidence if able else ())),
        explains=("backlog-drain",),
        facts=_slowest(rise),
    )


def _near(able: float, done: float) -> bool:
    return abs(able - done) <= NEAR * max(able, done)


def _moving(rise: Stretch) -> Iterator[Evidence]:
    worst = sorted(rise.paces.values(), key=lambda p: (lag(p.first) - lag(p.last), p.queue))
    for pace in worst[:2]:
        for position in (pace.first, pace.last):
            yield position.evidence.because(say("moving", queue=pace.queue))


def _slowest(rise: Stretch) -> Mapping[str, str]:
    """Which queues fell behind and which did not, where they differ; of Kafka's, also whose they were."""
    by_queue: dict[str, list[str]] = defaultdict(list)
    for queue, pace in rise.paces.items():
        by_queue["falling behind" if lag(pace.last) > lag(pace.first) else "keeping up"].append(queue)
    if len(by_queue) < 2:
        return {}
    owners = sorted({rise.paces[queue].last.client_id or "" for queue in by_queue["falling behind"]} - {""})
    queues = {what: listed(names) for what, names in sorted(by_queue.items())}
    return {**queues, "owners that fall behind": ", ".join(owners)}
