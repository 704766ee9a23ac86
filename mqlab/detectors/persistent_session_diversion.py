"""MQTT: a member of a share group that is not connected goes on getting its share of the messages.

Fires: a persistent session is a member of a share group while its client is away. Proven where the messages that no
living member noted, the growth of stored messages or the queue in a list of clients is what the broker's way of dealing
gives to it: (members away) of (all members).
Quiet: HiveMQ, which keeps one queue for the group; a member that came back and got what had waited (what waited for one
that came back with a clean session is lost); members that share
all messages among those that live; QoS 0 to a client that is away; a session without a share group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, finding, together
from mqlab.models.mqtt import Strategy
from mqlab.mqtt import brokers as mqtt_brokers
from mqlab.mqtt import connections, sessions
from mqlab.mqtt.accounting import accounts, untold_groups
from mqlab.mqtt.brokers import LASTING, LEAST, NEAR, WHOLE_SECONDS, brokers
from mqlab.mqtt.diversion import Diversion, diversions
from mqlab.mqtt.queue_growth import Unknown, counts, ended, leaving, left_sessions, unknown_subscriptions
from mqlab.mqtt.sessions import BEGIN
from mqlab.mqtt.subscriptions import Subscription, subscriptions
from mqlab.shared.wording import sample
from mqlab.words import listed
from mqlab.words.filling import Value

INCIDENT = "persistent-session-diversion"
SYSTEMS: tuple[str, ...] = ("mqtt",)
say = words.room(INCIDENT)

_CONSEQUENCES = ("session-queue-growth", "session-queue-drop")
_SHOWN = 4


def detect(facts: Facts) -> Result:
    """One finding for each share group."""
    unnamed = Result(
        tuple(_of_unknown(facts, diversion) for diversion in unknown_subscriptions(facts) if diversion.dealt)
    )
    result = together([*(_judged(facts, diversion) for diversion in diversions(facts)), unnamed])
    if result == CLEAR:
        result = _unnamed(facts)
    return Result(missing=(say("no-broker"),)) if result == CLEAR and not _told(facts) else result


def _told(facts: Facts) -> bool:
    """A broker's log, list or statistics tell who is away, no broker deals anything to those, or nothing is missing.

    Clients' own logs tell of those that run: a session that was left behind has nobody who would tell of it.
    """
    whole = [account.missing().likely < LEAST for account in accounts(facts) if account.counted]
    if whole and all(whole):
        return True
    seen = any(c.told_by == "broker" for c in connections.connections(facts)) or sessions.rows(facts)
    queues = [mqtt_brokers.dispatch(facts, broker.name) is Strategy.QUEUE for broker in brokers(facts)]
    return bool(seen or facts.named("mqtt.clients_disconnected") or (queues and all(queues)))


def _unnamed(facts: Facts) -> Result:
    """Nobody is away of whom nothing tells what it subscribed to, or brokers keep a queue a group; else unknown."""
    seen = any(c.told_by == "broker" for c in connections.connections(facts)) or sessions.rows(facts)
    queues = [mqtt_brokers.dispatch(facts, broker.name) is Strategy.QUEUE for broker in brokers(facts)]
    unknown = unknown_subscriptions(facts)
    if (queues and all(queues)) or (not unknown and (seen or subscriptions(facts))):
        return CLEAR
    lines = counts(facts, unknown[0]) if unknown else ()
    return Result(missing=(say("no-subscriptions"),), seen=left_sessions(unknown) or None, evidence=lines)


def _judged(facts: Facts, diversion: Diversion) -> Result:
    who = {"names": diversion.names, "group": diversion.group.name}
    short = min(diversion.phases[-1].until, mqtt_brokers.end_of(facts)) - diversion.phases[0].since < LASTING
    if mqtt_brokers.dispatch(facts, diversion.group.broker) is Strategy.QUEUE:
        return Result(rejected=say("one-queue", **who))
    if diversion.nothing_missing:
        return Result(rejected=say("got-all", **who))
    if diversion.thrown and not (diversion.counted or diversion.grows or _some_missing(diversion)):
        return Result(rejected=say("thrown", **who)) if diversion.missing else _uncounted(who, "gone", diversion.thrown)
    if not (diversion.away or diversion.thrown) and (short or not diversion.counted):
        return Result(rejected=say("came-back", **who))
    if short and not diversion.thrown:
        return CLEAR
    if diversion.counted or diversion.grows or diversion.listed:
        return Result((_finding(facts, diversion, Certainty.PROVEN),))
    if _some(facts, diversion):
        return Result((_finding(facts, diversion, Certainty.LIKELY),))
    return _uncounted(who, "stays", diversion.away)


def _uncounted(who: Mapping[str, Value], seen: str, members: Iterable[Subscription]) -> Result:
    """What was seen of *members* of which nothing tells what went to them."""
    return Result(
        missing=(say("no-count", **who),),
        seen=say(seen, **who),
        evidence=tuple(place for m in members for place in leaving(m.session, m.evidence)),
    )


def _some_missing(diversion: Diversion) -> bool:
    return diversion.missing is not None and diversion.missing.low >= LEAST


def _some(facts: Facts, diversion: Diversion) -> bool:
    """Something went to members that were away, but it is not counted or not what the law says."""
    if diversion.missing is not None:
        return _some_missing(diversion)
    if diversion.queued is not None:
        return diversion.queued >= LEAST
    came = mqtt_brokers.gauge(facts, "mqtt.publish_received", diversion.group.broker)
    rose = mqtt_brokers.increase(came, diversion.phases[0].since, diversion.phases[-1].until)
    deals = mqtt_brokers.dispatch(facts, diversion.group.broker) is Strategy.TURNS
    return deals and (diversion.published >= LEAST or (rose or 0.0) >= LEAST)


def _finding(facts: Facts, diversion: Diversion, certainty: Certainty) -> Finding:
    group = f"$share/{diversion.group.name}/{diversion.group.filter}"
    return finding(
        INCIDENT,
        group,
        certainty,
        (diversion.away_since, None if bool(diversion.away) else diversion.phases[-1].until),
        ongoing=bool(diversion.away),
        name=f"{diversion.group.name}/{diversion.group.filter}",
        slots=_slots(facts, diversion),
        measures=_measures(diversion),
        evidence=_evidence(facts, diversion),
        explains=_CONSEQUENCES,
        facts=_around(facts, diversion),
    )


def _measures(diversion: Diversion) -> dict[str, float | None]:
    last, count = diversion.phases[-1], diversion.count
    members, dead = len(last.members), len(last.dead)
    published = diversion.published
    gone = diversion.thrown and not diversion.away and diversion.missing is not None
    return {
        "members": members,
        "dead_members": dead,
        "diverted_fraction": dead / members,
        "diverted_messages": round(count.likely) if count is not None else None,
        "diverted_messages_low": round(count.low) if count is not None else None,
        "diverted_messages_high": round(count.high) if count is not None else None,
        "lost_records": round(count.likely) if gone and count is not None else None,
        "published_messages": round(published) if published else None,
        "expected_messages": round(diversion.expected.likely) if published else None,
        "queue_growth_per_second": diversion.grown.per_second if diversion.grown is not None else None,
        "alone_seconds": diversion.alone_seconds or None,
    }


def _slots(facts: Facts, diversion: Diversion) -> dict[str, Value]:
    """Who is away, what it gets, what is missing elsewhere."""
    missing, count = diversion.missing, diversion.count
    spread = (count.high - count.low) / 2 if count is not None else 0.0
    return {
        "names": diversion.names,
        "group": diversion.group.name,
        "filter": diversion.group.filter,
        "broker": mqtt_brokers.software(facts, diversion.group.broker) or say("broker"),
        "away_since": diversion.away_since,
        "thrown": bool(diversion.thrown),
        "published_messages": round(diversion.published) if missing is not None else None,
        "missing": round(missing.likely) if missing is not None else None,
        "expected": round(diversion.expected.likely) if missing is not None else None,
        "unclear": missing is not None and count is None,
        "counted": round(count.likely) if count is not None else None,
        "most": round(count.high if spread >= 1 else count.likely) if count is not None else None,
        "about": round(spread) if spread >= 1 else None,
        "alone": diversion.alone_seconds if diversion.alone_seconds >= 1 else None,
    }


def _around(facts: Facts, diversion: Diversion) -> dict[str, str]:
    """Who is there, who came after it, and what those note who read what the members wrote."""
    last = diversion.phases[-1]
    found = {"away": ", ".join(last.dead), "connected": ", ".join(_living(diversion)) or say("nobody")}
    if names := sorted(set(_successors(diversion))):
        found["came after it"] = ", ".join(names)
    if behind := listed(_downstream(facts, diversion)):
        found["behind the members"] = behind
    return found


def _living(diversion: Diversion) -> list[str]:
    return sorted(set(diversion.phases[-1].members) - set(diversion.phases[-1].dead))


def _successors(diversion: Diversion) -> Iterator[str]:
    """Members that subscribed first when one was away, from its address or in its log: an upgrade under a new id."""
    for dead in diversion.away:
        begin = min((a for a, _ in dead.away), default=BEGIN)
        places = {dead.evidence.source, dead.session.last.address if dead.session else None} - {None}
        for other in diversion.group.members:
            mine = {other.evidence.source, other.session.last.address if other.session else None}
            if other.client_id != dead.client_id and other.since >= begin and places & mine:
                yield other.client_id


def _downstream(facts: Facts, diversion: Diversion) -> Iterator[str]:
    """What other ledgers, such as that of a Kafka consumer, note of what the members noted."""
    own = {source for these in diversion.account.ledgers.values() for source in these}
    noted = [f for f in facts.flows if own & dict(f.received).keys()]
    given = sum(f.messages for f in noted if f.sender)
    for source in sorted({source for f in noted for source, _ in f.received} - own):
        got = sum(f.messages for f in noted if f.sender and source in dict(f.received))
        yield say("noted", source=source, got=got, given=given)


def _evidence(facts: Facts, diversion: Diversion) -> Iterator[Evidence]:
    """The dead members' lines, those of the living, the growth, the first message that went away."""
    dead = {client for p in diversion.phases for client in p.dead}
    for member in [m for m in diversion.group.members if m.client_id in dead][:_SHOWN]:
        yield from leaving(member.session, replace(member.evidence, why=say("member")))
    for member in [m for m in diversion.group.members if m.client_id in _living(diversion)][:_SHOWN]:
        yield replace(member.evidence, why=say("living"))
    if diversion.grown is not None:
        why = say("grown", rate=diversion.grown.per_second)
        yield sample(facts, diversion.grown.series, diversion.grown.until, why)
        dropped = mqtt_brokers.gauge(facts, "mqtt.publish_dropped", diversion.group.broker)
        if dropped is not None:
            yield sample(facts, dropped, diversion.grown.until, say("dropped"))
    lost = (
        [r for r in diversion.account.lost if r.last_at >= diversion.phases[0].since]
        if diversion.missing is not None
        else []
    )
    yield from (r.first.because(say("first-lost")) for r in lost[:1])
    yield from mqtt_brokers.limit_told(facts, diversion.group.broker)


def _of_unknown(facts: Facts, diversion: Unknown) -> Finding:
    """Members of a share group that no line names: likely, since only their share tells that they are members."""
    counter = mqtt_brokers.gauge(facts, "mqtt.publish_received", diversion.broker)
    over, until = ended(diversion), min(diversion.until, mqtt_brokers.end_of(facts))
    dealt = (mqtt_brokers.increase(counter, diversion.since, until) or 0.0) * diversion.share
    lost = _missing_meanwhile(facts, diversion, until)
    # Ledgers count better than counters, where they tell of about as many.
    agrees = abs(lost - dealt) <= NEAR * max(lost, dealt)
    who, shared = {"names": diversion.names, "since": diversion.since, "until": over}, diversion.shared or 0
    return finding(
        INCIDENT,
        diversion.names,
        Certainty.LIKELY,
        (diversion.since, over),
        ongoing=over is None,
        statement=say("unknown", dead_members=len(diversion.sessions), members=shared, **who),
        measures={
            "members": shared,
            "dead_members": len(diversion.sessions),
            "diverted_fraction": diversion.share,
            "diverted_messages": float(round(lost if agrees else dealt)),
            "lost_records": float(round(lost)) if agrees and over is not None else None,
            "queue_growth_per_second": diversion.grown.per_second if diversion.grown is not None else 0.0,
        },
        evidence=counts(facts, diversion),
        explains=_CONSEQUENCES,
        mitigate=say("unknown-mitigate", **who),
        remedy=say("unknown-fix", **who),
        verify=say("unknown-verify"),
    )


def _missing_meanwhile(facts: Facts, diversion: Unknown, until: float) -> float:
    """Messages that none of those noted who share with them, where ledgers tell who that is; else that nobody noted."""
    groups = [account for account in untold_groups(facts) if set(account.clients) & set(diversion.clients)]
    if len(groups) == 1:
        return groups[0].missing(diversion.since, until + WHOLE_SECONDS).likely
    sent = [f for f in facts.flows if f.sender and not f.failed and diversion.since <= f.last_at and f.first_at < until]
    return sum(f.messages for f in sent if not f.received)
