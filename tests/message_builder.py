"""Messages, leaders and elections drawn by hand: what ledgers, dumps and brokers tell, in a few lines."""

from __future__ import annotations

from facts_builder import at, drawn, episode, log, moment, settings

from mqlab.delivery import elections, loss_mechanisms
from mqlab.facts import Setting
from mqlab.findings import Evidence
from mqlab.rows import Fate, Part

TOPIC = "orders"
SINK = "clients/sink-received.csv"
DUMP = "offsets/dump-log.txt"
BROKERS = log("logs/kafka-1/server.log", "kafka-broker-log")


def fates(text, *, topic=TOPIC, keyed=True) -> tuple[Fate, ...]:
    """Messages from a table: queue, from, to, at, and as needed until, sent, acked, failed, places, over and so on.

    ``over`` is yes where another id was acknowledged there later; ``stored`` and ``handled`` name files, parted by +.
    """
    return drawn(text, lambda **cells: _fate(topic, keyed, cells))


def _fate(topic, keyed, cells):
    first, last = cells.get("from"), cells.get("to")
    since, until = moment(cells["at"]), moment(cells.get("until") or cells["at"])
    line = 1000 + (first or 0)
    return Fate(
        topic, str(cells.get("queue", 0)) if first is not None else "",
        cells.get("messages") or (last - first + 1), first, last, since, until,
        sent=cells.get("sent", 0) or 0, acked=_number(cells, "acked", 1), failed=cells.get("failed", 0) or 0,
        offsets=_number(cells, "places", 1), overwritten=cells.get("over") == "yes",
        stored=_names(cells.get("stored")), handled=_names(cells.get("handled")), keyed=keyed,
        first=Evidence("clients/gateway-acked.csv", line, f"{line},0,{first}"),
        last=Evidence("clients/gateway-acked.csv", line + 1, f"{line},0,{last}"),
    )  # fmt: skip


def _number(cells, name, default):
    return default if cells.get(name) is None else cells[name]


def _names(cell):
    return tuple(sorted(str(cell).split("+"))) if cell else ()


def part(role, first, last, since, until, *, queue="0", topic=TOPIC, source=None, **more) -> Part:
    """What one ledger or dump tells of one partition."""
    place = source or f"clients/gateway-{role}.csv"
    line = Evidence(place, 1, f"1,{queue},{first}")
    values = {"party": "gateway", "keys": 1, "told": "name", **more}
    messages = 0 if first is None else last - first + 1
    return Part(
        place, role, values.pop("told"), values.pop("party"), None, topic, queue, messages, values.pop("keys"),
        first, last, at(since), at(until), line, line, **values,
    )  # fmt: skip


def dump(first, last, taken, **more) -> Part:
    """A dump of one segment."""
    return part("stored", first, last, "10:00", taken, source=DUMP, start=first, taken_at=at(taken), **more)


def acked(last=5000, since="10:00", until="10:30", **more) -> Part:
    """A ledger of acknowledged ids that covers everything."""
    return part("acked", 0, last, since, until, **more)


def leaders(text, *, topic=TOPIC):
    """Lines of new leaders from a table: at, queue, epoch, broker, from, and as known high and isr."""
    return drawn(text, lambda **cells: _led("leader-started", topic, cells))


def followers(text, *, topic=TOPIC):
    """Lines of brokers that begin to follow: at, queue, epoch, broker, from."""
    return drawn(text, lambda **cells: _led("follower-started", topic, cells))


def _led(kind, topic, cells):
    broker, start = cells["broker"], cells["from"]
    isr = f" ISR [{cells['isr']}]" if cells.get("isr") else ""
    high = f" with high watermark {cells['high']}" if cells.get("high") is not None else ""
    reason = f"epoch {cells['epoch']} from offset {start}{high}{isr}. Previous leader epoch was -1."
    text = f"{topic}-{cells['queue']} starts at leader {reason}"
    return episode(
        kind, cells["at"], f"logs/kafka-{broker}/state-change.log", left=float(start), text=text, topic=topic,
        queue=str(cells["queue"]), node=str(broker), reason=reason,
    )  # fmt: skip


def cuts(text, *, topic=TOPIC):
    """Lines of logs that were cut: at, queue, broker, to."""
    return drawn(
        text,
        lambda **c: episode(
            "log-truncated", c["at"], f"logs/kafka-{c['broker']}/server.log", left=float(c["to"]), topic=topic,
            queue=str(c["queue"]), text=f"Truncating to offset {c['to']}",
        ),
    )  # fmt: skip


def controller(text, *, topic=TOPIC):
    """Lines of a ZooKeeper controller: at, queue, epoch, leader (none is nobody), isr."""
    return drawn(text, lambda **c: _said(topic, c))


def _said(topic, cells):
    leader = -1 if cells["leader"] == "none" else cells["leader"]
    reason = f"(Leader:{leader},ISR:{cells['isr']},LeaderEpoch:{cells['epoch']},ZkVersion:1,ControllerEpoch:2)"
    return episode(
        "leader-elected", cells["at"], "logs/kafka-9/controller.log", left=float(leader), topic=topic,
        queue=str(cells["queue"]), node="9", reason=reason, text=reason,
    )  # fmt: skip


def kraft(when, queue, change, *, kind="unclean-election", leader=1, topic=TOPIC):
    """A KRaft controller's line about a change of one partition."""
    return episode(
        kind, when, "logs/kafka-9/controller.log", left=float(leader), topic=topic, queue=queue, reason=change,
        text=f"partition change for {topic}-{queue}: {change}",
    )  # fmt: skip


def acks(value, *, client="gateway", when="10:00"):
    """What the producer printed when it started."""
    return settings(f"at owner key value\n{when} {client} acks {value}", f"clients/{client}.log")


def of_topic(key, value, *, topic=TOPIC) -> Setting:
    """A topic's setting, as described."""
    text = f"Topic: {topic} Configs: {key}={value}"
    return Setting(key, value, "topic", topic, "describe", at("10:00"), "offsets/topics.txt", 1, text)


def of_brokers(key, value) -> Setting:
    """A broker's setting, as printed."""
    return Setting(
        key, value, "broker", "1", "printed", at("10:00"), "logs/kafka-1/server.log", 9, f"\t{key} = {value}"
    )


def undecided(why, missing="leaders", most=54, **more):
    """Nothing shows how records of a log were lost: *why*, and what is missing."""
    say = loss_mechanisms.say
    return say("undecided", missing=say(missing), why=why, topic="orders", queue="0", most=most, **more)


def read_yet(why, **values):
    """Consumers had read what was lost, yet the election was clean: *why*."""
    return loss_mechanisms.say("read-yet", why=elections.say(why, **values))
