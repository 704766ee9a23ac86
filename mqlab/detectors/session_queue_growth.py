"""MQTT: the queue of a session that nobody reads has no limit, and the broker's memory grows with it.

Fires: a persistent session's client is away at the end of the material, queues have no limit, and messages that match
its filters are published. Proven where stored messages grow at the rate of these, or a list of clients shows as many in
its queue; memory that is told must grow by their number × (size + overhead).
Quiet: a queue with a limit, members of share groups (what grows there is what they are dealt), clean sessions, QoS 0,
an absence that ends and hands everything over, one that is as short as a restart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, finding, together
from mqlab.models.mqtt import memory_lasts
from mqlab.mqtt import brokers
from mqlab.mqtt import sessions as mqtt_sessions
from mqlab.mqtt.brokers import LASTING, LEAST
from mqlab.mqtt.queue_growth import Growth, Unknown, counts, growths, leaving, left_sessions, unknown_subscriptions
from mqlab.mqtt.sessions import BEGIN, sessions
from mqlab.shared.wording import clock, sample

INCIDENT = "session-queue-growth"
SYSTEMS: tuple[str, ...] = ("mqtt",)

_MITIGATE = "Limit the queues (max_queued_messages, max_mqueue_len); side effect: what is beyond is dropped."
_VERIFY = "Stored messages and heap fall; resident memory may stay, since the allocator keeps what is free."


def detect(facts: Facts) -> Result:
    """One finding for each client whose session grows."""
    unnamed = tuple(_of_unknown(facts, growth) for growth in unknown_subscriptions(facts) if _grows(facts, growth))
    result = together([*(_judged(facts, growth) for growth in growths(facts)), Result(unnamed)])
    if result != CLEAR:
        return result
    if unknown := unknown_subscriptions(facts):
        wanted = ("what clients that are away had subscribed to: their logs, or a list",)
        return Result(missing=wanted, seen=left_sessions(unknown), evidence=counts(facts, unknown[0]))
    seen = any(s.last.told_by == "broker" for s in sessions(facts)) or mqtt_sessions.rows(facts)
    return CLEAR if seen else Result(missing=("the broker's log, or a list of clients",))


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
        wanted = f"the limit of the queue of {growth.client_id}: the broker's configuration"
        return Result(missing=(wanted,), seen=_away(growth), evidence=tuple(_evidence(facts, growth)))
    if growth.queue is not None and growth.queue.limit is not None:
        return Result(rejected=f"the queue of {growth.client_id} ends at {units.number(growth.queue.limit)} messages")
    agrees = (growth.grows or growth.listed) and growth.remembered is not False
    if agrees or growth.much or (growth.queued or 0) >= LEAST or growth.published >= LEAST:
        return Result((_finding(facts, growth, Certainty.PROVEN if agrees else Certainty.LIKELY),))
    if growth.grown is None and growth.queued is None and not facts.flows:
        what = f"how many messages wait for {growth.client_id}: the broker's values, or a list of clients"
        return Result(missing=(what,), seen=_away(growth), evidence=tuple(_evidence(facts, growth)))
    return CLEAR


def _away(growth: Growth) -> str:
    away = "was away all the time" if growth.since == BEGIN else f"has been away since {clock(growth.since)}"
    return f"{growth.client_id} {away} with a persistent session"


def _finding(facts: Facts, growth: Growth, certainty: Certainty) -> Finding:
    full, expiry = _memory_lasts(facts, growth), brokers.expiry(facts, growth.broker)
    rate = growth.grown.per_second if growth.grown is not None else None
    memory = growth.memory.per_second if growth.memory is not None else None
    waiting = growth.published if growth.queued is None else growth.queued
    return finding(
        INCIDENT,
        growth.client_id,
        certainty,
        (None if growth.since == BEGIN else growth.since, None),
        ongoing=True,
        statement=" ".join(_sentences(growth, full, expiry)),
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
            "full_in_seconds": full,
        },
        evidence=_evidence(facts, growth),
        mitigate=_MITIGATE,
        remedy=_remedy(growth.client_id),
        verify=_VERIFY,
        facts={"filters": ", ".join(sorted({s.filter for s in growth.subscriptions})), "limit": "none"},
    )


def _sentences(growth: Growth, full: float | None, expiry: float | None) -> Iterator[str]:
    """Who is away, what waits, how fast that grows, and when it ends."""
    yield f"{_away(growth)}, and its queue has no limit."
    if growth.queued is not None:
        yield f"{units.number(growth.queued)} messages wait."
    elif growth.published >= 1:
        yield f"{units.number(round(growth.published))} messages for it were published meanwhile."
    if growth.grown is not None:
        memory = f", and its memory by {units.size(growth.memory.per_second)}/s" if growth.memory is not None else ""
        yield f"What the broker stores grows by {units.digits(growth.grown.per_second)} messages/s{memory}."
    if full is not None:
        yield f"Memory is used up in {units.duration(full)}."
    elif expiry is not None:
        yield f"The session expires {units.duration(expiry)} after its end."


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
    yield from leaving(first.session, replace(first.evidence, why="what it subscribed to"))
    if growth.grown is not None:
        yield sample(facts, growth.grown.series, growth.grown.until, "messages that the broker stores")
    if growth.memory is not None:
        yield sample(facts, growth.memory.series, growth.memory.until, "its memory")
    yield from brokers.limit_told(facts, growth.broker)


def _of_unknown(facts: Facts, growth: Unknown) -> Finding:
    """An unlimited queue that grows for nobody; proven where it grows by all that the broker receives."""
    rate = growth.grown.per_second if growth.grown is not None else 0.0
    return finding(
        INCIDENT,
        growth.names,
        Certainty.PROVEN if growth.all_of_it else Certainty.LIKELY,
        (growth.since, None),
        ongoing=True,
        statement=(
            f"{growth.names} has been away since {clock(growth.since)} with a persistent session, and queues have no "
            "limit. "
            f"What the broker stores grows by {units.digits(rate)} messages/s"
            f"{', as many as it receives' if growth.all_of_it else ''}."
        ),
        measures={"queued_messages": growth.waiting, "queue_growth_per_second": rate},
        evidence=counts(facts, growth),
        mitigate=_MITIGATE,
        remedy=_remedy(growth.names),
        verify=_VERIFY,
    )


def _remedy(client: str) -> str:
    return (
        f"Delete the session (connect once as {client} with a clean session) or read it empty; a limit and an expiry "
        "for all sessions."
    )
