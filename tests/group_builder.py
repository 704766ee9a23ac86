"""RocketMQ groups drawn by hand: who is listed when, and how each queue moves."""

from __future__ import annotations

from facts_builder import at, episode

from mqlab.facts import Position, Setting
from mqlab.rows import Assignment, Client, Coverage, Delivery, Tally
from mqlab.sources import Role

GROUP, TOPIC = "billing", "ORDERS"


def listing(when, *members, group=GROUP, **more) -> tuple[Client, ...]:
    """One output of consumerConnection: members are ``id ip:port``."""
    source = f"clients/consumerConnection-{group}.{when}.txt"
    rows = [member.split() for member in members]
    return tuple(
        Client(
            at(when), "rocketmq", group, client, peer, f"{TOPIC}:*", "V4_9_4", source, 2 + n, f"{client} {peer}", **more
        )
        for n, (client, peer) in enumerate(rows)
    )


def listings(first, last, step, *members, group=GROUP) -> tuple[Client, ...]:
    """The same members listed again and again; times in seconds since 10:00."""
    return tuple(row for when in range(first, last + 1, step) for row in listing(when, *members, group=group))


def told(when, client, subscription, *, group=GROUP) -> Client:
    """What one member says of itself in consumerStatus."""
    source = f"clients/consumer-status/{when}/{client}"
    return Client(at(when), "rocketmq", group, client, None, subscription, "V4_9_4", source, 9, subscription)


def queue(name, legs, *, step=20, start=0, begin=0, group=GROUP, topic=TOPIC, ahead=0) -> tuple[Position, ...]:
    """Snapshots of one queue: *legs* are (seconds, produced per second, consumed per second), from *start* on.

    *begin* is the first committed offset, *ahead* by how much the end is ahead of it.
    """
    committed, end, when, rows = float(begin), float(begin + ahead), start, []
    for seconds, produced, consumed in legs:
        for _ in range(0, seconds, step):
            rows.append(_position(name, when, committed, end, group, topic))
            end += produced * step
            committed = min(end, committed + consumed * step)
            when += step
    rows.append(_position(name, when, committed, end, group, topic))
    return tuple(rows)


def _position(name, when, committed, end, group, topic):
    source = f"offsets/consumerProgress-{group}.{when}.txt"
    line = 3 + int(name.rpartition("/")[2])
    text = f"{topic} {name} {end:.0f} {committed:.0f}"
    return Position(at(when), group, topic, name, int(committed), int(end), None, None, None, None, source, line, text)


def queues(count, moving, *, seconds=300, rate=3, broker="broker-a", **more) -> tuple[Position, ...]:
    """*count* queues that take *rate* messages a second; those in *moving* are read, the others stand still."""
    return tuple(
        row
        for n in range(count)
        for row in queue(f"{broker}/{n}", [(seconds, rate, rate if n in moving else 0)], **more)
    )


def allocated(when, client, host, held, *, group=GROUP, topic=TOPIC, strategy="AVG"):
    """A client's own line about its queues, in the log of *host*."""
    source = f"logs/clients/{host}/rocketmq_client.log"
    text = f"rebalanced result changed. group={group} topic={topic} clientId={client}"
    line = episode(
        "queues-allocated", when, source, system="rocketmq", group=group, topic=topic, client_id=client,
        reason=strategy, text=text,
    )  # fmt: skip
    rows = [Assignment(at(when), group, topic, q, client, None, None, source, 1, text) for q in held]
    return (line, *rows)


def connected(when, client, peer, *, group=GROUP, kind="consumer-connected", source="logs/broker-a/broker.log"):
    """The broker's line about a connection that came or went."""
    return episode(kind, when, source, system="rocketmq", group=group, client_id=client, peer=peer)


def said(key, value, *, owner=GROUP, when=0) -> Setting:
    """A setting that a command printed."""
    return Setting(
        key, value, "consumer", owner, "printed", at(when), "clients/consumerConnection.txt", 9, f"{key}: {value}"
    )


def broker_log(first=0, last=600) -> Coverage:
    """A broker's log that was read."""
    return Coverage(
        "logs/broker-a/broker.log",
        "rocketmq-broker-log",
        9,
        900,
        9,
        0,
        0,
        "+08:00",
        "rule",
        at(first),
        at(last),
        None,
        "rocketmq",
        Role.BROKER_LOG,
    )


def ledger(topic, name, hosts, messages, *, when=100) -> tuple[Tally | Delivery, ...]:
    """*messages* of a queue that the ledgers of all *hosts* note."""
    sources = tuple(f"clients/app/{host}/consumed.csv" for host in hosts)
    tallies = tuple(Tally(at(when), "consumed", topic, name, messages, s, 2) for s in sources)
    return (*tallies, Delivery(at(when), topic, name, sources, messages))


def offline(when):
    """The answer of consumerConnection where nobody is connected."""
    place = f"clients/consumerConnection-{GROUP}.{when}.txt"
    reason = f"CODE: 206  DESC: Not found the consumer group connection: {GROUP}"
    return episode("tool-error", when, place, system="rocketmq", group=GROUP, reason=reason)


def flip(when, reason, broker="broker-a"):
    """A broker adds a topic to the group, or takes it away."""
    own = {"system": "rocketmq", "group": GROUP, "topic": "TRADES", "reason": reason, "line": int(when)}
    return episode("subscription-changed", when, f"logs/{broker}/broker.log", **own)


FLIPS = [flip(100 + 30 * n + (15 if reason == "add" else 0), reason) for n in range(8) for reason in ("remove", "add")]
