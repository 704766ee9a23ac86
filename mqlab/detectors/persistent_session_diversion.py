"""MQTT: a member of a share group that is not connected goes on getting its share of the messages.

Fires: a persistent session is a member of a share group while its client is away. Proven where the messages that no
living member noted, the growth of stored messages or the queue in a list of clients is what the broker's way of dealing
gives to it: (members away) of (all members).
Quiet: HiveMQ, which keeps one queue for the group; a member that came back and got what had waited; members that share
all messages among those that live; QoS 0 to a client that is away; a session without a share group.
"""

from __future__ import annotations

from mqlab import units
from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts
from mqlab.findings import Certainty, Finding, Severity
from mqlab.models.mqtt import Strategy
from mqlab.mqtt import brokers as mqtt_brokers
from mqlab.mqtt import connections, diversion, queue_growth, sessions
from mqlab.mqtt.brokers import brokers
from mqlab.mqtt.diversion import LEAST, Diversion, away_since, evidence, statement, told
from mqlab.mqtt.queue_growth import untold
from mqlab.mqtt.subscriptions import share_groups
from mqlab.shared.wording import moment

INCIDENT = "persistent-session-diversion"
SYSTEMS: tuple[str, ...] = ("mqtt",)

LASTING = 60.0
"""Seconds that a member must be away: one that is started again is back sooner."""


def detect(facts: Facts) -> Result:
    """One finding for each share group."""
    unnamed = tuple(queue_growth.diversion(facts, one) for one in untold(facts) if one.dealt)
    if not share_groups(facts):
        return Result(unnamed) if unnamed else _without_groups(facts)
    every = [_judged(facts, one) for one in diversion.diversions(facts)]
    found = tuple(f for result in every for f in result.findings)
    if found or unnamed:
        return Result((*found, *unnamed))
    missing = tuple(m for result in every for m in result.missing)
    because = "; ".join(result.rejected for result in every if result.rejected)
    return Result(rejected=because or None) if not missing else Result(missing=missing)


def _without_groups(facts: Facts) -> Result:
    """Nobody shares a subscription, nobody that might is away, or brokers keep a queue a group; else it is unknown."""
    seen = any(c.told_by == "broker" for c in connections.connections(facts)) or sessions.rows(facts)
    told = facts.of_kind("client-subscribed") or any(c.subscription for c in facts.clients if c.system == "mqtt")
    queues = [mqtt_brokers.dispatch(facts, broker.name) is Strategy.QUEUE for broker in brokers(facts)]
    if told or (seen and not untold(facts)) or (queues and all(queues)):
        return CLEAR
    return Result(missing=("subscriptions: the clients' or the broker's log, or a list",))


def _judged(facts: Facts, one: Diversion) -> Result:
    names = ", ".join(sorted({client for p in one.phases for client in p.dead}))
    if mqtt_brokers.dispatch(facts, one.group.broker) is Strategy.QUEUE:
        return Result(rejected=f"{names} was away, but this broker keeps one queue for the group {one.group.name}")
    if one.nothing_missing:
        return Result(rejected=f"{names} was away, but the members of {one.group.name} got every message")
    if not one.away:
        return _came_back(facts, one, names)
    if _short(facts, one):
        return CLEAR
    if one.counted or one.grows or one.listed:
        return Result((_finding(facts, one, Certainty.PROVEN),))
    if _some(facts, one):
        return Result((_finding(facts, one, Certainty.LIKELY),))
    return Result(missing=(f"what was published for {one.group.name} while {names} was away",))


def _came_back(facts: Facts, one: Diversion, names: str) -> Result:
    if one.counted and not _short(facts, one):
        return Result((_finding(facts, one, Certainty.PROVEN),))
    return Result(rejected=f"{names} was away from {one.group.name} for a while and came back to what had waited")


def _short(facts: Facts, one: Diversion) -> bool:
    begin = one.phases[0].since
    return min(one.phases[-1].until, mqtt_brokers.end_of(facts)) - begin < LASTING


def _some(facts: Facts, one: Diversion) -> bool:
    """Something went to members that were away, but it is not counted or not what the law says."""
    if one.missing is not None:
        return one.missing.low >= LEAST
    if one.queued is not None:
        return one.queued >= LEAST
    came = mqtt_brokers.gauge(facts, "mqtt.publish_received", one.group.broker)
    rose = mqtt_brokers.increase(came, one.phases[0].since, one.phases[-1].until)
    deals = mqtt_brokers.dispatch(facts, one.group.broker) is Strategy.TURNS
    return deals and (one.published >= LEAST or (rose or 0.0) >= LEAST)


def _finding(facts: Facts, one: Diversion, certainty: Certainty) -> Finding:
    ongoing = bool(one.away)
    group = f"$share/{one.group.name}/{one.group.filter}"
    ids = ", ".join(sorted({client for p in one.phases for client in p.dead}))
    return Finding(
        id=f"{INCIDENT}:{one.group.name}/{one.group.filter}",
        incident=INCIDENT,
        severity=Severity.CRITICAL if certainty is Certainty.PROVEN else Severity.WARNING,
        certainty=certainty,
        subject=group,
        started_at=moment(away_since(one)),
        ended_at=None if ongoing else moment(one.phases[-1].until),
        ongoing=ongoing,
        statement=statement(facts, one),
        measures=_measures(one),
        evidence=evidence(facts, one),
        explains=("session-queue-growth", "session-queue-drop"),
        mitigate=f"Connect once with the client id {ids} and clean_session=false: it gets what waits for it; then "
        "unsubscribe. Side effect: what had been in flight comes twice.",
        remedy=f"Delete the session (connect once as {ids} with clean_session=true), give members of {group} clean "
        "sessions or a short expiry, and keep client ids over releases.",
        verify=f"Members of {group} = connected consumers, stored messages level off, and received / published = "
        f"{units.percent(1.0)}.",
        facts=told(facts, one),
    )


def _measures(one: Diversion) -> dict[str, float]:
    last = one.phases[-1]
    found = {
        "members": float(len(last.members)),
        "dead_members": float(len(last.dead)),
        "diverted_fraction": len(last.dead) / len(last.members),
    }
    if one.count is not None:
        low, likely, high = (float(round(n)) for n in (one.count.low, one.count.likely, one.count.high))
        found |= {"diverted_messages": likely, "diverted_messages_low": low, "diverted_messages_high": high}
    if one.published:
        found |= {
            "published_messages": float(round(one.published)),
            "expected_messages": float(round(one.expected.likely)),
        }
    if one.grown is not None:
        found["queue_growth_per_second"] = one.grown.per_second
    if one.alone:
        found["alone_seconds"] = sum(p.until - p.since for p in one.alone)
    return found
