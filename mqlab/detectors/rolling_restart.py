"""Brokers, or the members of a group, are restarted one after another, equally often: a deploy or an upgrade.

Fires: brokers of one cluster stopped in good order and came back, one at a time, or a single one did so once; every
member of a RocketMQ group unregistered and came again once, from the same hosts, or, where nothing tells how it ended,
one after another; every member of a Kafka group left in good order, or with a stop in its own log, or was replaced by
a process of another version or other settings, and came again, all equally often, one after another.
Quiet: one broker that comes back again and again, starts without an orderly stop, brokers that are down together, a
group that has other hosts afterwards or a second process on each, members that connect again after a broker's start;
members that are killed: expelled without a good-bye, or gone without unregistering; Kafka members that fell out before
or meanwhile, die in a loop, are all stopped at once, are added or taken away.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.findings import CLEAR, Certainty, Finding, Result, Severity, finding
from mqlab.groups.backlog import waited
from mqlab.kafka import advised, restarts
from mqlab.kafka import groups as kafka_groups
from mqlab.kafka.rebalances import history
from mqlab.kafka.rows import Behind, Rebalance
from mqlab.rocketmq import members
from mqlab.rocketmq.members import groups
from mqlab.shared.restarts import CLOCKS, Round
from mqlab.sources import Role
from mqlab.units import moment
from mqlab.words import listed

INCIDENT = "rolling-restart"
SYSTEMS: tuple[str, ...] = ("kafka", "rocketmq")
say = words.room(INCIDENT)

BACK = 900.0
"""Seconds within which a stopped broker belongs to the start that follows. Judgement, no default behind it: one that
recovers its logs is back after minutes."""

_OTHERS = (Behind.POLL_TIMEOUT, Behind.EXPIRY, Behind.CRASH)
"""What a restart in good order does not bring about."""
AROUND = 60.0
"""Seconds before and after the first member that came again in which the restart shows in lag: the longest usual scrape
interval."""


@dataclass(frozen=True, slots=True)
class Outage:
    """A broker that was stopped in good order and came back."""

    since: float
    """When its stop began: until it was done the broker may have served."""
    up: float
    stop: Episode
    stopped: Episode | None
    """Its last words; None where they are not in the material."""
    start: Episode

    @property
    def seconds(self) -> float:
        """How long it was away, at most where nothing says when its stop was done."""
        done = self.stopped.first_at if self.stopped else None
        return self.up - (self.since if done is None else done)


def detect(facts: Facts) -> Result:
    """One notice for a restart that went from broker to broker, and one for each group whose members came again."""
    kafka = kafka_groups.groups(facts)
    rounds = [one for group in groups(facts) for one in members.releases(facts, group)]
    rounds += [one for group in kafka for one in restarts.releases(facts, group)]
    brokers = _of_brokers(facts)
    if rounds:
        return Result((*brokers.findings, *(_of_group(facts, one) for one in rounds)))
    reasons = [why for group in kafka if (why := restarts.no_release(facts, group))]
    reasons += [why for group in groups(facts) if (why := members.no_release(facts, group))]
    if reasons and not brokers.findings:
        return Result(rejected=listed([*reasons, *([brokers.rejected] if brokers.rejected else [])]))
    return CLEAR if brokers.missing and (groups(facts) or kafka) else brokers


def _of_group(facts: Facts, one: Round) -> Finding:
    kafka = one.group in kafka_groups.groups(facts)
    caused = _caused(facts, one) if kafka else []
    return finding(
        INCIDENT,
        one.group,
        Certainty.PROVEN,
        (one.since, one.until),
        severity=Severity.NOTICE,
        slots={
            **{"apart": one.apart, "times": _again(one.times), "kafka": kafka},
            "empty": one.empty[1] - one.empty[0] if one.empty else None,
            "emptied": moment(one.empty[0]) if one.empty else None,
            "gentler": (advised.gentler(facts, one.group) if kafka else ()) or None,
        },
        measures={
            "members": len(one.members),
            "rebalances": len(caused) if kafka else None,
            **waited(facts, one.group, one.since, one.until),
        },
        evidence=kafka_groups.once(place for restart in one.restarts for place in restart.evidence),
        explains=("backlog-drain", "reprocess-duplicates"),
    )


def _again(times: int) -> int | None:
    return times if times > 1 else None


def _caused(facts: Facts, one: Round) -> list[Rebalance]:
    """Rebalances of the restart, without those of another cause and of members that were stopped for good later."""
    back = {restart.member: restart.started for restart in one.restarts}
    own = [r for r in history(facts, one.group) if r.behind not in _OTHERS]
    near = [r for r in own if one.since - CLOCKS <= r.started <= one.until + AROUND]
    return [r for r in near if r.behind is not Behind.STOP or r.started < back.get(r.client_id or "", r.started + 1.0)]


def _of_brokers(facts: Facts) -> Result:
    if not facts.of_kind("broker-started", "broker-stopping", "broker-stopped"):
        known = facts.logs_of("kafka", Role.BROKER_LOG)
        return CLEAR if known else Result(missing=(say("no-logs"),))
    outages = {broker: found for broker, found in _outages(facts).items() if found}
    if not outages:
        return CLEAR
    each = sorted((o for found in outages.values() for o in found), key=lambda o: (o.since, o.up, o.start.source))
    if len(outages) < 2 and len(each) > 1:
        return Result(rejected=say("one-broker", restarts=len(each)))
    if len({len(found) for found in outages.values()}) > 1:
        return Result(rejected=say("more-often"))
    if any(later.since < earlier.up for earlier, later in pairwise(each)):
        return Result(rejected=say("together"))
    start, end, times = each[0].since, each[-1].up, len(each) // len(outages)
    longest = max(each, key=lambda o: o.seconds)
    before, after = _versions(facts, start)
    several, names = len(outages) > 1, _brokers(facts)
    started = {names[line.source] for line in facts.of_kind("broker-started")}
    found = finding(
        INCIDENT,
        "brokers",
        Certainty.PROVEN,
        (start, end),
        severity=Severity.NOTICE,
        slots={
            "several": several,
            "alone": not several and started <= outages.keys(),
            "broker": None if several else next(iter(outages)),
            "times": _again(times),
            "bound": longest.stopped is None,
            "before": before,
            "after": after,
        },
        measures={"brokers": len(outages), "longest_outage_seconds": longest.seconds},
        evidence=tuple(place for one in each for place in (one.stop.first, one.start.first)),
        explains=("catch-up-read", "replica-catch-up", "backlog-drain"),
    )
    return Result((found,))


def _outages(facts: Facts) -> dict[str, list[Outage]]:
    """Orderly stops that were followed by a start, by broker."""
    names = _brokers(facts)
    down: dict[str, Episode] = {}
    done: dict[str, Episode] = {}
    found: dict[str, list[Outage]] = defaultdict(list)
    for episode in facts.of_kind("broker-stopping", "broker-stopped", "broker-started"):
        broker, at = names[episode.source], episode.first_at
        if at is None:
            continue
        if episode.kind != "broker-started":
            down.setdefault(broker, episode)
            if episode.kind == "broker-stopped":
                done[broker] = episode
            continue
        stop, last = down.pop(broker, None), done.pop(broker, None)
        if stop is not None and stop.first_at is not None and at - stop.first_at <= BACK:
            found[broker].append(Outage(stop.first_at, at, stop, last, episode))
    return found


def _brokers(facts: Facts) -> dict[str, str]:
    """The broker behind each log: its number where the log names only one, so that rotated files are one broker."""
    told: dict[str, set[str]] = defaultdict(set)
    for episode in facts.of_kind("broker-stopping", "broker-stopped", "broker-started"):
        told[episode.source] |= {episode.node} if episode.node else set()
    return {source: next(iter(nodes)) if len(nodes) == 1 else source for source, nodes in told.items()}


def _versions(facts: Facts, start: float) -> tuple[list[str] | None, list[str] | None]:
    """What brokers printed before and after, where that differs."""
    sources = {e.source for e in facts.of_kind("broker-started")}
    printed = [e for e in facts.of_kind("client-version") if e.source in sources and e.reason]
    before = sorted({e.reason for e in printed if e.first_at is not None and e.first_at < start and e.reason})
    after = sorted({e.reason for e in printed if e.first_at is not None and e.first_at >= start and e.reason})
    return (before, after) if before and after and before != after else (None, None)
