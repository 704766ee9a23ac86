"""MQTT: the queue of a session is full, and the broker drops messages.

Fires: a broker says that a client's queue dropped (its line, a list of clients), or counts as many drops as that client
misses. Proven where the ids that the client misses agree with a count of the broker, with what its queue holds, or
stored messages stand at the limit while the counter of drops rises.
Quiet: a queue full of copies (their maker is the cause), a member of a share group that gets what nobody reads, topics
that are denied, QoS 0 that is lost before it comes to the broker, an absence that is not longer than the queue.
"""

from __future__ import annotations

from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.mqtt import brokers, queue_drops
from mqlab.mqtt.accounting import LEAST, QueueCase
from mqlab.mqtt.brokers import gauge
from mqlab.mqtt.queue_drops import limit_words, queue_cases, statement
from mqlab.shared.wording import moment, sample
from mqlab.sources import Role

INCIDENT = "session-queue-drop"
SYSTEMS: tuple[str, ...] = ("mqtt",)
_SHOWN = 3


def detect(facts: Facts) -> Result:
    """One finding for each client whose queue dropped."""
    every = [_judged(facts, case) for case in queue_cases(facts) if queue_drops.signed(facts, case)]
    found = tuple(f for result in every for f in result.findings)
    if found:
        return Result(found)
    because = "; ".join(result.rejected for result in every if result.rejected)
    missing = tuple(dict.fromkeys(m for result in every for m in result.missing))
    if because or missing:
        return Result(rejected=because or None) if not missing else Result(missing=missing)
    return CLEAR if _would_show(facts) else Result(missing=("the broker's log, its counters, or a list of clients",))


def _would_show(facts: Facts) -> bool:
    counted = facts.named("mqtt.publish_dropped", "mqtt.queue_full_dropped")
    logs = any(facts.logs_of(name, Role.BROKER_LOG) for name in brokers.KNOWN)
    return logs or bool(counted) or any(c.dropped is not None for c in facts.clients if c.system == "mqtt")


def _judged(facts: Facts, case: QueueCase) -> Result:
    if case.flooded:
        return Result(rejected=f"the queue of {case.client_id} is full of copies of messages that it had got")
    if case.silent and case.account is not None and case.account.group is not None:
        return Result(missing=(f"when {case.client_id}, a member of a share group, was connected: the broker's log",))
    proofs = queue_drops.proofs(facts, case)
    lost = queue_drops.lost(facts, case)
    if proofs and (lost is None or lost >= 1):
        return Result((_finding(facts, case, Certainty.PROVEN, proofs),))
    if case.missing is not None and case.missing.likely < LEAST:
        return Result(rejected=f"{case.client_id} got every message that was published for it")
    if case.lost is not None or lost or case.row is not None:
        return Result((_finding(facts, case, Certainty.LIKELY, ()),))
    return Result(missing=(f"what {case.client_id} lost: ids published and received, or the broker's count of drops",))


def _finding(facts: Facts, case: QueueCase, certainty: Certainty, proofs: tuple[str, ...]) -> Finding:
    span = case.span
    lost = queue_drops.lost(facts, case)
    return Finding(
        id=f"{INCIDENT}:{case.client_id}",
        incident=INCIDENT,
        severity=Severity.CRITICAL if certainty is Certainty.PROVEN else Severity.WARNING,
        certainty=certainty,
        subject=case.client_id,
        started_at=moment(span[0]) if span else None,
        ended_at=moment(span[1]) if span else None,
        ongoing=False,
        statement=statement(facts, case, lost, proofs),
        measures=_measures(case, lost),
        evidence=_evidence(facts, case),
        mitigate="Raise the limit of queued messages above rate × longest absence; side effect: memory of the broker.",
        remedy="A subscriber that keeps up and is not away for longer than its queue lasts, or a store before it; "
        "what is lost comes from the publisher again or not at all.",
        verify=f"The broker's count of dropped messages stays, and {case.client_id} receives what is published.",
        facts={"limit": limit_words(facts, case), "client": "away" if case.was_away else "connected"}
        | ({"survived": case.kept} if case.kept else {}),
    )


def _measures(case: QueueCase, lost: float | None) -> dict[str, float]:
    found = {} if lost is None else {"lost_records": float(round(lost))}
    if case.counter is not None:
        found["dropped_messages"] = case.counter
    if case.queue is not None and case.queue.limit is not None:
        found["queue_limit"] = float(case.queue.limit)
    if case.account is not None and case.missing is not None:
        found |= {
            "published_messages": float(case.account.published),
            "received_messages": float(case.account.received),
        }
    if case.was_away and case.survivors:
        found["survivors"] = float(round(case.survivors))
    return found


def _evidence(facts: Facts, case: QueueCase) -> tuple[Evidence, ...]:
    lines = [Evidence(e.first.source, e.first.line, e.first.text, "its queue is full") for e in case.lines[:_SHOWN]]
    listed = [] if case.row is None else [Evidence(case.row.source, case.row.line, case.row.text, "what it dropped")]
    rows = case.account.lost if case.account is not None and case.missing is not None else ()
    ends = (
        [(rows[0].first, "the first that is missing"), (max(rows, key=lambda r: r.last_at).last, "the last")]
        if rows
        else []
    )
    lost = [Evidence(place.source, place.line, place.text, why) for place, why in ends]
    counter = gauge(facts, "mqtt.publish_dropped", case.broker)
    counted = [sample(facts, counter, counter.points[-1][0], "messages that the broker dropped")] if counter else []
    return (*lines, *listed, *lost, *counted, *_absence(case), *brokers.limit_told(facts, case.broker))


def _absence(case: QueueCase) -> list[Evidence]:
    ends = [c.end for c in case.session.connections if c.end is not None] if case.session and case.was_away else []
    return [Evidence(e.source, e.line, e.text, "it goes away and keeps its session") for e in ends[:1]]
