"""Kafka, RocketMQ and MQTT: everything is stable, the consumers are slower than the producers.

Fires: lag of a topic rises while the group's members stay the same and the committed position of every queue moves.
Proven where what the members can do (threads ÷ time per message, or records per second of their polls) agrees with
what they did, or nothing tells it. MQTT has no positions: a connected client takes less than is published for it, and
its queue is full or everything comes late; proven where delay or loss is what its queue and both rates make.
Quiet: queues that stand still (no owner, or one stuck message), members that come and go, or that can do several times
what comes in, a Kafka group that is kept from its work by rebalances, a burst that the group works off as fast as ever,
a rise of a few seconds of production, which commits and snapshots alone can make; an MQTT client that gets copies, or
whose publisher's way is slow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding, together
from mqlab.groups.membership import capacity, disturbed, is_kafka, places, steady, streams, topics
from mqlab.models.falling import falling
from mqlab.mqtt import brokers, sessions
from mqlab.mqtt.queue_drops import queue_cases
from mqlab.mqtt.slow_receivers import Pace, backlog_explains, others_in_time, paces, spread
from mqlab.rocketmq.slots import SETTLING
from mqlab.rows import GRID, Client
from mqlab.shared.lag import LEAST, Stretch, climb, speeds, stretch_between
from mqlab.shared.queues import TOGETHER, Points, lag, totals
from mqlab.shared.queues import spread as listed
from mqlab.shared.wording import sample

INCIDENT = "slow-consumer"
SYSTEMS: tuple[str, ...] = ("kafka", "rocketmq", "mqtt")

SHORTEST = 60.0
"""Seconds that the rise must last: two scrapes of 30 s, or a minute's lines of a script that lists groups."""
BEHIND = 2 * GRID
"""Seconds of production that lag must rise by, or messages be late: commits (each 5 s), snapshots and the grid of
ledgers alone make up to one grid."""
NEAR = 0.25
"""How far what was done may be from what can be done: both are means of less than ten grid steps or scrapes."""
SPARE = 4
"""Who can do so many times what comes in is not slow, whatever else of the group's topics it works off meanwhile."""


def detect(facts: Facts) -> Result:
    """One finding for each group and topic, and for each client of MQTT."""
    mqtt = any(e.system == "mqtt" for e in facts.episodes)
    groups = topics(facts)
    if not groups and not mqtt:
        return Result(missing=("offsets of the groups, several times",))
    results = [_of_topic(facts, group, topic, queues) for (group, topic), queues in groups.items()]
    return together([*results, _of_clients(facts)] if mqtt else results)


def _of_topic(facts: Facts, group: str, topic: str, queues: Mapping[str, Points]) -> Result:
    rise = climb(queues)
    if rise is None or not _matters(rise):
        return CLEAR
    kafka = is_kafka(facts, group)
    if not streams(facts, group):
        source = "--members" if kafka else "consumerConnection"
        wanted = f"who was in {group} while its lag rose: {source} or the clients' logs"
        return Result(missing=(wanted,), seen=f"the lag of {group} on {topic} rose by {units.number(rise.grown)}")
    if why := disturbed(facts, group, rise):
        return Result(rejected=f"{group}: lag of {topic} rose while {why}")
    calm = steady(facts, group, queues, rise)
    if calm is not None and (stuck := _stuck(queues, calm)):
        return Result(rejected=f"{group}: {places(topic, stuck)} stood still: a stuck queue is no slow consumer")
    mostly_elsewhere = kafka and calm is not None and calm.grown < rise.grown / 2
    if calm is not None and calm.seconds < SHORTEST and _is_enough(calm) and not mostly_elsewhere:
        stayed = f"{group}: its members stayed the same for {calm.seconds:.0f} s of the rise of {topic}"
        wanted = f"offsets of {group} over a minute or more in which its members stay the same"
        return Result(missing=(wanted,), seen=f"{stayed}, and its lag rose by {units.number(calm.grown)}")
    if calm is None or not _matters(calm) or mostly_elsewhere:
        return Result(rejected=f"{group}: lag of {topic} rose while members came and went")
    if kafka and _burst(queues, calm):
        return Result(rejected=f"{group}: a burst of {topic}, worked off at the usual speed")
    return _of_calm(facts, group, topic, calm, queues)


def _matters(rise: Stretch) -> bool:
    return rise.seconds >= SHORTEST and _is_enough(rise)


def _is_enough(rise: Stretch) -> bool:
    return rise.grown >= max(LEAST, BEHIND * rise.produced / max(rise.seconds, 1.0))


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


def _of_calm(facts: Facts, group: str, topic: str, rise: Stretch, queues: Mapping[str, Points]) -> Result:
    """A rise in which the members stayed the same: they are slow, unless they could have done far more."""
    came, _ = speeds(queues, rise)
    able = capacity(facts, group, rise.since - SETTLING, rise.until + TOGETHER)
    if able is None or able.messages_per_second <= SPARE * came:
        return Result((_group_finding(facts, group, topic, rise, queues),))
    rate, inflow = units.digits(able.messages_per_second), units.digits(came)
    return Result(
        rejected=f"{group}: lag of {topic} rose by another cause: {able.told} {rate}/s, and {inflow}/s came in"
    )


def _group_finding(facts: Facts, group: str, topic: str, rise: Stretch, queues: Mapping[str, Points]) -> Finding:
    came, growth = speeds(queues, rise)
    done = came - growth.likely
    able = capacity(facts, group, rise.since - SETTLING, rise.until + TOGETHER)
    agrees = able is None or abs(able.messages_per_second - done) <= NEAR * max(able.messages_per_second, done)
    queue, waits = ("partition", "LAG") if is_kafka(facts, group) else ("queue", "diff")
    points = totals(queues)
    peak = max(waiting for _, waiting, _ in points)
    can = f" {able.told}: {units.digits(able.messages_per_second)}/s." if able is not None else ""
    return finding(
        INCIDENT,
        f"{group}/{topic}",
        Certainty.PROVEN if agrees else Certainty.LIKELY,
        (rise.since, None if rise.until >= points[-1][0] else rise.until),
        severity=Severity.CRITICAL,
        ongoing=rise.until >= points[-1][0],
        statement=(
            f"{group} handles {units.digits(done)} messages/s of {topic} while {units.digits(came)}/s come in; its "
            f"members stayed the same and every {queue} kept moving.{can} "
            f"Lag rose by {growth.words(units.rate)} to {units.number(peak)} messages."
        ),
        measures={
            "produced_per_second": came,
            "consumed_per_second": done,
            **growth.measures("lag_growth_per_second"),
            "peak_lag": peak,
            "pending_records": points[-1][1],
            "capacity_per_second": able.messages_per_second if able is not None else None,
        },
        evidence=(*_moving(rise), *(able.evidence if able else ())),
        explains=("backlog-drain",),
        mitigate=f"Add threads, or members up to the number of {queue}s; side effect: more load on what the consumers "
        "write to, which may be what slows them down.",
        remedy="Find what made each message slower (a release, a store, a remote call), or plan capacity for the peak.",
        verify=f"The {waits} of {topic} falls, and consumed per second is above produced per second.",
        facts=_slowest(rise),
    )


def _moving(rise: Stretch) -> Iterator[Evidence]:
    worst = sorted(rise.paces.values(), key=lambda p: (lag(p.first) - lag(p.last), p.queue))
    for pace in worst[:2]:
        for position in (pace.first, pace.last):
            yield position.evidence.because(f"{pace.queue} moves, but lags more and more")


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


def _of_clients(facts: Facts) -> Result:
    """What ledgers of receivers say about each client, and what lists of clients say."""
    known, lists = paces(facts), sessions.rows(facts)
    full = tuple(f for client, rows in lists.items() for f in _listed_finding(facts, client, rows))
    result = together([*(_of_client(facts, pace) for pace in known), Result(full)])
    if result != CLEAR:
        return result
    unseen = [c.client_id for c in queue_cases(facts) if c.lines and not c.was_away and c.missing is None]
    if unseen:
        return Result(missing=(f"what came to {', '.join(unseen)}: a ledger with times, or a list of clients",))
    if known or lists or brokers.tells_of_drops(facts):
        return CLEAR
    return Result(missing=("when messages were published and received, or queues in a list of clients",))


def _of_client(facts: Facts, pace: Pace) -> Result:
    client = pace.case.client_id
    full = bool(pace.case.lines or pace.case.row) and not pace.case.was_away
    late = pace.behind and pace.latest >= BEHIND
    if not full and not late:
        return CLEAR
    if pace.case.flooded:
        return Result(rejected=f"{client} gets copies of what it already has: too many messages, not a slow client")
    if not pace.alike:
        return Result(rejected=f"{client} gets messages of another publisher at once: the way to the broker is slow")
    if full and pace.behind:
        return Result((_client_finding(facts, pace, Certainty.PROVEN if pace.agrees else Certainty.LIKELY),))
    if late and backlog_explains(facts, pace):
        return Result((_client_finding(facts, pace, Certainty.PROVEN),))
    return Result(rejected=f"{client} gets messages late, but nothing shows that they wait for it at the broker")


_LARGER_QUEUE = "A larger queue for bursts; side effect: memory, and what is late comes later still."


def _client_finding(facts: Facts, pace: Pace, certainty: Certainty) -> Finding:
    client, dropped = pace.case.client_id, round(pace.case.lost or 0.0)
    loses = f" Its queue is full: {units.counted(dropped, 'message')} were dropped." if dropped else ""
    return finding(
        INCIDENT,
        client,
        certainty,
        (pace.since, pace.until),
        severity=Severity.WARNING,
        statement=(
            f"{client} was connected all the time and took {units.digits(pace.handled)} messages/s while "
            f"{units.digits(pace.published)}/s were published for it, so they came up to "
            f"{units.duration(pace.latest)} late.{loses}"
        ),
        measures={
            "produced_per_second": pace.published,
            "consumed_per_second": pace.handled,
            "lag_growth_per_second": pace.published - pace.handled,
            "longest_delay_seconds": pace.latest,
            "full_queue_delay_seconds": pace.full_delay,
        },
        evidence=_client_evidence(facts, pace),
        explains=("session-queue-drop",),
        mitigate=_LARGER_QUEUE,
        remedy=f"Make {client} faster: work off in batches or beside the callback, or share the load in a share group.",
        verify=f"Delay at {client} is below a second, and the broker's count of dropped messages stops rising.",
    )


def _client_evidence(facts: Facts, pace: Pace) -> Iterator[Evidence]:
    yield from (e.first.because("its queue is full") for e in pace.case.lines[:2])
    firsts = {r.source: r for r in reversed(facts.receipts)}
    late = max(pace.delays, key=lambda p: (spread(p), p.sender))
    if late.receiver in firsts:
        half = f"half of them {late.median - late.least:.1f} s"
        yield firsts[late.receiver].first(f"messages of {late.sender} come up to {spread(late):.1f} s late, {half}")
    for passage in others_in_time(facts, pace)[:1]:
        if passage.receiver in firsts:
            why = f"others of the same publisher come here within {spread(passage):.1f} s"
            yield firsts[passage.receiver].first(why)
    stored = brokers.gauge(facts, "mqtt.stored_messages", pace.case.broker)
    if stored is not None:
        yield sample(facts, stored, pace.until, "messages that wait at the broker")


def _listed_finding(facts: Facts, client: str, rows: tuple[Client, ...]) -> Iterator[Finding]:
    """A list shows a connected client whose queue is at its limit."""
    last = rows[-1]
    limit = next((c.limit for c in queue_cases(facts) if c.client_id == client), None)
    if limit is None or not sessions.is_there(last) or (last.queued or 0) < limit:
        return
    yield finding(
        INCIDENT,
        client,
        Certainty.PROVEN if last.dropped else Certainty.LIKELY,
        (rows[0].at, None),
        ongoing=True,
        severity=Severity.WARNING,
        statement=f"{client} is connected, and {units.number(last.queued or 0)} messages wait for it, as many as "
        f"its queue holds; {units.number(last.dropped or 0)} were dropped.",
        measures={"pending_records": last.queued or 0, "dropped_messages": last.dropped or 0},
        evidence=(last.evidence.because("connected, with a full queue"),),
        explains=("session-queue-drop",),
        mitigate=_LARGER_QUEUE,
        remedy=f"Make {client} faster, or share the load in a share group.",
        verify=f"The queue of {client} is empty in the next list.",
    )
