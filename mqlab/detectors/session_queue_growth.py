"""MQTT: the queue of a session that nobody reads has no limit, and the broker's memory grows with it.

Fires: a persistent session's client is away at the end of the material, queues have no limit, and messages that match
its filters are published. Proven where stored messages grow at the rate of these, or a list of clients shows as many in
its queue; memory that is told must grow by their number × (size + overhead).
Quiet: a queue with a limit, members of share groups (what grows there is what they are dealt), clean sessions, QoS 0,
an absence that ends and hands everything over, one that is as short as a restart.
"""

from __future__ import annotations

from mqlab import units
from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.models.mqtt import Forecast, forecast
from mqlab.mqtt import brokers, queue_growth
from mqlab.mqtt import sessions as mqtt_sessions
from mqlab.mqtt.queue_growth import LEAST, Growth, Untold, growths, untold
from mqlab.mqtt.sessions import BEGIN, sessions
from mqlab.shared.wording import clock, moment, sample

INCIDENT = "session-queue-growth"
SYSTEMS: tuple[str, ...] = ("mqtt",)

LASTING = 60.0
"""Seconds that a client must be away: one that is started again is back sooner."""
_HOUR = 3600.0


def detect(facts: Facts) -> Result:
    """One finding for each client whose session grows."""
    every = [_judged(facts, one) for one in growths(facts)]
    unnamed = [queue_growth.growth(facts, one) for one in untold(facts) if _is_own(facts, one)]
    found = (*(f for result in every for f in result.findings), *unnamed)
    if found:
        return Result(found)
    missing = tuple(dict.fromkeys(m for result in every for m in result.missing))
    because = "; ".join(result.rejected for result in every if result.rejected)
    if because or missing:
        return Result(rejected=because or None) if not missing else Result(missing=missing)
    if untold(facts):
        return Result(missing=("what clients that are away had subscribed to: their logs, or a list",))
    seen = any(s.last.told_by == "broker" for s in sessions(facts)) or mqtt_sessions.rows(facts)
    return CLEAR if seen else Result(missing=("the broker's log, or a list of clients",))


def _is_own(facts: Facts, one: Untold) -> bool:
    """Unlimited queues of sessions that share with nobody, or get all that comes in; not for as short as a restart."""
    queue = brokers.queue(facts, one.broker)
    lasting = one.grown is not None and one.grown.until - (one.sessions[-1].last.until or 0.0) >= LASTING
    return lasting and queue is not None and queue.limit is None and not one.dealt and (one.own or one.all_of_it)


def _judged(facts: Facts, one: Growth) -> Result:
    if brokers.end_of(facts) - one.since < LASTING:
        return CLEAR
    if one.queue is None and one.queued is None:
        return Result(missing=(f"the limit of the queue of {one.client_id}: the broker's configuration",))
    if one.queue is not None and one.queue.limit is not None:
        return Result(rejected=f"the queue of {one.client_id} ends at {units.number(one.queue.limit)} messages")
    agrees = (one.grows or one.listed) and one.remembered is not False
    grown = one.grown is not None and one.grown.by >= LEAST
    if agrees or grown or (one.queued or 0) >= LEAST or one.published >= LEAST:
        return Result((_finding(facts, one, Certainty.PROVEN if agrees else Certainty.LIKELY),))
    if one.grown is None and one.queued is None and not facts.flows:
        return Result(
            missing=(f"how many messages wait for {one.client_id}: the broker's values, or a list of clients",)
        )
    return CLEAR


def _finding(facts: Facts, one: Growth, certainty: Certainty) -> Finding:
    ahead = _forecast(facts, one)
    return Finding(
        id=f"{INCIDENT}:{one.client_id}",
        incident=INCIDENT,
        severity=Severity.CRITICAL if certainty is Certainty.PROVEN else Severity.WARNING,
        certainty=certainty,
        subject=one.client_id,
        started_at=None if one.since == BEGIN else moment(one.since),
        ended_at=None,
        ongoing=True,
        statement=_statement(one, ahead),
        measures=_measures(one, ahead),
        evidence=_evidence(facts, one),
        mitigate="Limit the queues (max_queued_messages, max_mqueue_len); side effect: what is beyond is dropped.",
        remedy=f"Delete the session (connect once as {one.client_id} with a clean session) or read it empty; a limit "
        "and an expiry for all sessions.",
        verify="Stored messages and heap fall; resident memory may stay, since the allocator keeps what is free.",
        facts={"filters": ", ".join(sorted({s.filter for s in one.subscriptions})), "limit": "none"},
    )


def _statement(one: Growth, ahead: Forecast) -> str:
    when = "all the time" if one.since == BEGIN else f"since {clock(one.since)}"
    text = f"{one.client_id} is away {when}, its session stays, and its queue has no limit."
    if one.queued is not None:
        text += f" {units.number(one.queued)} messages wait."
    elif one.published >= 1:
        text += f" {units.number(round(one.published))} messages that it subscribed to were published meanwhile."
    if one.grown is not None:
        text += f" The broker stores {units.digits(one.grown.per_second)} messages/s more"
        text += f", and its memory grows by {units.size(one.memory.per_second)}/s." if one.memory is not None else "."
    if ahead.full_in is not None:
        return f"{text} Memory is used up in {units.duration(ahead.full_in)}."
    if ahead.expires_in is not None:
        return f"{text} The session expires {units.duration(ahead.expires_in)} after its end."
    return text


def _measures(one: Growth, ahead: Forecast) -> dict[str, float]:
    found = {}
    if one.published or one.queued is not None:
        found["queued_messages"] = float(round(one.published if one.queued is None else one.queued))
    if one.grown is not None:
        found["queue_growth_per_second"] = one.grown.per_second
    if one.payload is not None:
        found["payload_bytes"] = one.payload
    if one.memory is not None:
        found["memory_growth_bytes_per_second"] = one.memory.per_second
        found["memory_growth_bytes_per_hour"] = one.memory.per_second * _HOUR
        if one.grown is not None and one.grown.by >= LEAST:
            found["memory_bytes_per_message"] = one.memory.per_second / one.grown.per_second
    if one.each is not None:
        found["expected_bytes_per_message"] = one.each
    return found | ({"full_in_seconds": ahead.full_in} if ahead.full_in is not None else {})


def _forecast(facts: Facts, one: Growth) -> Forecast:
    """To the limit of memory that is configured, and to the session's expiry."""
    told = brokers.settings(facts, one.broker)
    limit = told.get("memory_limit", "")
    memory = float(limit) if limit.isdigit() and int(limit) > 0 else None
    used = one.memory.series.points[-1][1] if one.memory is not None else 0.0
    growth = one.memory.per_second if one.memory is not None else 0.0
    return forecast(used, growth, memory, brokers.expiry(facts, one.broker))


def _evidence(facts: Facts, one: Growth) -> tuple[Evidence, ...]:
    found = []
    session = one.subscriptions[0].session
    if session is not None and session.last.begin is not None:
        begin = session.last.begin
        found.append(Evidence(begin.source, begin.line, begin.text, "connects with a persistent session"))
    place = one.subscriptions[0].evidence
    found.append(Evidence(place.source, place.line, place.text, "what it subscribed to", place.pointer))
    if session is not None and session.last.end is not None:
        end = session.last.end
        found.append(Evidence(end.source, end.line, end.text, "goes away and keeps its session"))
    if one.grown is not None:
        found.append(sample(facts, one.grown.series, one.grown.until, "messages that the broker stores"))
    if one.memory is not None:
        found.append(sample(facts, one.memory.series, one.memory.until, "its memory"))
    return (*found, *brokers.limit_told(facts, one.broker))
