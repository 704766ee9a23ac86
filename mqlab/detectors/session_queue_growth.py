"""MQTT: the queue of a session that nobody reads has no limit, and the broker's memory grows with it.

Fires: a persistent session's client is away at the end of the material, queues have no limit, and messages that match
its filters are published. Proven where stored messages grow at the rate of these, or a list of clients shows as many in
its queue; memory that is told must grow by their number × (size + overhead).
Quiet: a queue with a limit, members of share groups (what grows there is what they are dealt), clean sessions, QoS 0,
an absence that ends and hands everything over, one that is as short as a restart.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, finding, together
from mqlab.models.mqtt import memory_lasts
from mqlab.mqtt import brokers
from mqlab.mqtt import sessions as mqtt_sessions
from mqlab.mqtt.brokers import LASTING, LEAST, SHORTEST
from mqlab.mqtt.queue_growth import (
    Growth,
    Unknown,
    counts,
    ended,
    growths,
    leaving,
    left_sessions,
    unknown_subscriptions,
)
from mqlab.mqtt.sessions import BEGIN, END, sessions
from mqlab.shared.wording import sample
from mqlab.units import moment
from mqlab.words import Text, listed

INCIDENT = "session-queue-growth"
SYSTEMS: tuple[str, ...] = ("mqtt",)

say = words.room(INCIDENT)


def detect(facts: Facts) -> Result:
    """One finding for each client whose session grows."""
    kept = [unknown for unknown in unknown_subscriptions(facts) if ended(unknown) is None]
    unnamed = tuple(_of_unknown(facts, growth) for growth in kept if _grows(facts, growth))
    result = together([*(_judged(facts, growth) for growth in growths(facts)), Result(unnamed)])
    if result != CLEAR:
        return result
    if kept:
        seen = left_sessions(kept)
        return Result(missing=(say("no-subscriptions"),), seen=seen, evidence=counts(facts, kept[0]))
    if passed := listed(_passed(facts)):
        return Result(rejected=passed)
    told = any(s.last.told_by == "broker" for s in sessions(facts)) or mqtt_sessions.rows(facts)
    return CLEAR if told else Result(missing=(say("no-material"),))


def _passed(facts: Facts) -> Iterator[Text]:
    """Growths of what is stored that went back once a client was there again, or its session had ended."""
    for session in sessions(facts):
        stored = brokers.gauge(facts, "mqtt.stored_messages", session.broker)
        for since, until in session.away if session.persistent else ():
            rise = brokers.rise(stored, since, until) if until != END and until - since >= SHORTEST else None
            later = [value for at, value in rise.series.points if at > until] if rise is not None else []
            top = brokers.value(stored, until) or 0.0
            if rise is not None and later and rise.by >= LEAST and min(later) <= top - rise.by:
                yield say("passed", client=session.client_id, since=since, until=until, messages=round(rise.by))


def _grows(facts: Facts, growth: Unknown) -> bool:
    """Unlimited queues of sessions that share with nobody, or get all that comes in; not for as short as a restart."""
    queue = brokers.queue(facts, growth.broker)
    lasting = growth.grown is not None and growth.grown.until - (growth.sessions[-1].last.until or 0.0) >= LASTING
    return (
        lasting and queue is not None and queue.limit is None and not growth.dealt and (growth.own or growth.all_of_it)
    )


def _judged(facts: Facts, growth: Growth) -> Result:
    if brokers.end_of(facts) - growth.since < LASTING:
        return CLEAR
    unset = growth.queue is None or not brokers.settings(facts, growth.broker)  # a default may have been changed
    if unset and growth.queued is None:
        wanted = say("no-limit", client=growth.client_id)
        return Result(missing=(wanted,), seen=_away(growth), evidence=tuple(_evidence(facts, growth)))
    if growth.queue is not None and growth.queue.limit is not None:
        return Result(rejected=say("limited", client=growth.client_id, limit=growth.queue.limit))
    agrees = (growth.grows or growth.listed) and growth.remembered is not False
    if agrees or growth.much or (growth.queued or 0) >= LEAST or growth.published >= LEAST:
        return Result((_finding(facts, growth, Certainty.PROVEN if agrees else Certainty.LIKELY),))
    if growth.grown is None and growth.queued is None and not facts.flows:
        wanted = say("no-count", client=growth.client_id)
        return Result(missing=(wanted,), seen=_away(growth), evidence=tuple(_evidence(facts, growth)))
    return CLEAR


def _away(growth: Growth) -> Text:
    return say("away", subject=growth.client_id, since=_since(growth))


def _since(growth: Growth) -> float | None:
    """When its client went away; None where it was away all the time."""
    return None if growth.since == BEGIN else growth.since


def _finding(facts: Facts, growth: Growth, certainty: Certainty) -> Finding:
    rate = growth.grown.per_second if growth.grown is not None else None
    memory = growth.memory.per_second if growth.memory is not None else None
    waiting = growth.published if growth.queued is None else growth.queued
    stopped = brokers.last_rise(facts, growth.grown) if growth.grown is not None and growth.much else None
    return finding(
        INCIDENT,
        growth.client_id,
        certainty,
        (_since(growth), None),
        ongoing=True,
        slots={
            "unlimited": growth.queue is not None,
            "listed": growth.queued,
            "published": round(growth.published) if growth.published >= 1 else None,
            "expiry": brokers.expiry(facts, growth.broker),
            "grows": growth.much,
            "goes_on": stopped is None,
            "until": moment(stopped),
            "memory_per_second": memory if memory is not None and memory > 0 else None,
            "software": brokers.software(facts, growth.broker),
        },
        measures={
            "queued_messages": round(waiting) if growth.published or growth.queued is not None else None,
            "queue_growth_per_second": rate,
            "payload_bytes": growth.payload,
            "memory_growth_bytes_per_second": memory,
            "memory_growth_bytes_per_hour": memory * 3600 if memory is not None else None,
            "memory_bytes_per_message": memory / rate
            if memory is not None and rate is not None and growth.much
            else None,
            "expected_bytes_per_message": growth.each,
            "full_in_seconds": _memory_lasts(facts, growth),
        },
        evidence=_evidence(facts, growth),
        facts={
            "filters": ", ".join(sorted({s.filter for s in growth.subscriptions})),
            "limit": say("limit") if growth.queue is not None else None,
        },
    )


def _memory_lasts(facts: Facts, growth: Growth) -> float | None:
    """Seconds until the broker's configured memory is full, if the session does not expire before."""
    if growth.memory is None:
        return None
    limit = brokers.settings(facts, growth.broker).get("memory_limit", "")
    memory = float(limit) if limit.isdigit() and int(limit) > 0 else None
    used = growth.memory.series.points[-1][1]
    return memory_lasts(used, growth.memory.per_second, memory, brokers.expiry(facts, growth.broker))


def _evidence(facts: Facts, growth: Growth) -> Iterator[Evidence]:
    first = growth.subscriptions[0]
    yield from leaving(first.session, first.evidence.because(say("subscribed-line")))
    if growth.grown is not None:
        yield sample(facts, growth.grown.series, growth.grown.until, say("stored-line"))
    if growth.memory is not None:
        yield sample(facts, growth.memory.series, growth.memory.until, say("memory-line"))
    yield from brokers.limit_told(facts, growth.broker)


def _of_unknown(facts: Facts, growth: Unknown) -> Finding:
    """An unlimited queue that grows for nobody; proven where it grows by all that the broker receives."""
    rate = growth.grown.per_second if growth.grown is not None else 0.0
    stopped = brokers.last_rise(facts, growth.grown) if growth.grown is not None else None
    return finding(
        INCIDENT,
        growth.names,
        Certainty.PROVEN if growth.all_of_it else Certainty.LIKELY,
        (growth.since, None),
        ongoing=True,
        slots={
            "clients": growth.clients,
            "grows": True,
            "goes_on": stopped is None,
            "until": moment(stopped),
            "all_of_it": growth.all_of_it,
            "software": brokers.software(facts, growth.broker),
        },
        measures={"queued_messages": growth.waiting, "queue_growth_per_second": rate},
        evidence=counts(facts, growth),
    )
