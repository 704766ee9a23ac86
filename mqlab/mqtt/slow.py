"""MQTT's part of the rule for slow consumers: a connected client whose queue is full, or that gets all of it late."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.mqtt import gauges, lists, software
from mqlab.mqtt import pace as mqtt_pace
from mqlab.mqtt.pace import BEHIND, Pace
from mqlab.mqtt.queue_case import LEAST, QueueCase
from mqlab.mqtt.queue_cases import queue_cases
from mqlab.questions.wording import moment, sample
from mqlab.rows.groups import Client

INCIDENT = "slow-consumer"


@dataclass(frozen=True, slots=True)
class Slow:
    """What is said about slow clients: findings, why there are none, or what is needed; nothing of it is clear."""

    findings: tuple[Finding, ...] = ()
    rejected: str | None = None
    missing: tuple[str, ...] = ()


def slow(facts: Facts) -> Slow:
    """One finding for each slow client; missing where neither ledgers of receivers nor lists of clients tell."""
    known = mqtt_pace.paces(facts)
    listed = [found for client, own in lists.rows(facts).items() for found in _listed(facts, client, own)]
    every = [_judged(facts, pace) for pace in known]
    found = (*(f for result in every for f in result.findings), *listed)
    if found:
        return Slow(found)
    because = "; ".join(result.rejected for result in every if result.rejected)
    if because:
        return Slow(rejected=because)
    without = [c.client_id for c in queue_cases(facts) if c.lines and not c.was_away and c.missing is None]
    if without:
        return Slow(missing=(f"what came to {', '.join(without)}: a ledger with times, or a list of clients",))
    return Slow() if known or lists.rows(facts) or _drops_known(facts) else Slow(missing=(_NEEDED,))


_NEEDED = "when messages were published and received, or queues in a list of clients"


def _drops_known(facts: Facts) -> bool:
    """The broker tells when a queue drops."""
    logs = any(c.format.endswith("-log") and c.format.startswith(software.KNOWN) for c in facts.coverage)
    return logs or bool(facts.named("mqtt.publish_dropped", "mqtt.queue_full_dropped"))


def _judged(facts: Facts, pace: Pace) -> Slow:
    client = pace.case.client_id
    full = bool(pace.case.lines or pace.case.row) and not pace.case.was_away
    late = pace.behind and pace.latest >= BEHIND
    if not full and not late:
        return Slow()
    if pace.case.flooded:
        return Slow(rejected=f"{client} gets copies of what it had got: they are too many, not the client too slow")
    if not pace.alike:
        return Slow(rejected=f"{client} gets messages of another publisher at once: the way to the broker is slow")
    if full and pace.behind:
        return Slow((_finding(facts, pace, Certainty.PROVEN if pace.agrees else Certainty.LIKELY),))
    if late and _explained(facts, pace):
        return Slow((_finding(facts, pace, Certainty.PROVEN),))
    return Slow(rejected=f"{client} gets messages late, but nothing shows that they wait for it at the broker")


def _explained(facts: Facts, pace: Pace) -> bool:
    """Nothing is lost, the delay is that of its backlog, and others get the same in time or the broker stores it."""
    if (pace.case.missing is not None and pace.case.missing.likely >= LEAST) or not pace.agrees:
        return False
    stored = gauges.gauge(facts, "mqtt.stored_messages", pace.case.broker)
    before, top = gauges.value(stored, pace.since) or 0.0, _top(facts, pace)
    backlog = (pace.published - pace.handled) * (pace.until - pace.since)
    return bool(mqtt_pace.others_in_time(facts, pace)) or top - before >= backlog / 2


def _top(facts: Facts, pace: Pace) -> float:
    stored = gauges.gauge(facts, "mqtt.stored_messages", pace.case.broker)
    inside = [v for t, v in stored.points if pace.since <= t <= pace.until] if stored is not None else []
    return max(inside, default=0.0)


def _finding(facts: Facts, pace: Pace, certainty: Certainty) -> Finding:
    client, drops = pace.case.client_id, pace.case.lost or 0.0
    measures = {
        "produced_per_second": pace.published,
        "consumed_per_second": pace.handled,
        "lag_growth_per_second": pace.published - pace.handled,
        "longest_delay_seconds": pace.latest,
    }
    if pace.full_delay is not None:
        measures["full_queue_delay_seconds"] = pace.full_delay
    loses = f" Its queue is full: {units.number(round(drops))} messages were dropped." if drops >= 1 else ""
    return Finding(
        id=f"{INCIDENT}:{client}",
        incident=INCIDENT,
        severity=Severity.WARNING,
        certainty=certainty,
        subject=client,
        started_at=moment(pace.since),
        ended_at=moment(pace.until),
        ongoing=False,
        statement=(
            f"{client} is connected all the time and takes {units.digits(pace.handled)} messages/s where "
            f"{units.digits(pace.published)}/s are published for it, so they come up to "
            f"{units.duration(pace.latest)} late.{loses}"
        ),
        measures=measures,
        evidence=_evidence(facts, pace),
        explains=("session-queue-drop",),
        mitigate="A larger queue for bursts; side effect: memory, and what is late comes later still.",
        remedy=f"Make {client} faster: work off in batches or beside the callback, or share the load in a share group.",
        verify=f"Delay at {client} is below a second, and the broker's count of dropped messages stays.",
    )


def _evidence(facts: Facts, pace: Pace) -> tuple[Evidence, ...]:
    lines = [Evidence(e.first.source, e.first.line, e.first.text, "its queue is full") for e in pace.case.lines[:2]]
    late = max(pace.delays, key=lambda p: (mqtt_pace.spread(p), p.sender))
    own = next((r for r in facts.receipts if r.source == late.receiver), None)
    half = late.median - late.least
    took = f"messages of {late.sender} come up to {mqtt_pace.spread(late):.1f} s late, half of them {half:.1f} s"
    places = [] if own is None else [own.first(took)]
    others = mqtt_pace.others_in_time(facts, pace)[:1]
    beside = [
        r.first(f"others of the same publisher come here within {mqtt_pace.spread(p):.1f} s")
        for p in others
        for r in [next((r for r in facts.receipts if r.source == p.receiver), None)]
        if r is not None
    ]
    stored = gauges.gauge(facts, "mqtt.stored_messages", pace.case.broker)
    held = [sample(facts, stored, pace.until, "messages that wait at the broker")] if stored is not None else []
    return (*lines, *places, *beside, *held)


def _listed(facts: Facts, client: str, own: tuple[Client, ...]) -> list[Finding]:
    """A list shows a connected client whose queue is at its limit."""
    last = own[-1]
    case = next((c for c in queue_cases(facts) if c.client_id == client), None)
    if case is None or not lists.is_there(last) or not _at_limit(case, last):
        return []
    return [
        Finding(
            id=f"{INCIDENT}:{client}",
            incident=INCIDENT,
            severity=Severity.WARNING,
            certainty=Certainty.PROVEN if last.dropped else Certainty.LIKELY,
            subject=client,
            started_at=moment(own[0].at),
            ended_at=None,
            ongoing=True,
            statement=f"{client} is connected, and {units.number(last.queued or 0)} messages wait for it, as many as "
            f"its queue holds; {units.number(last.dropped or 0)} were dropped.",
            measures={"pending_records": float(last.queued or 0), "dropped_messages": float(last.dropped or 0)},
            evidence=(Evidence(last.source, last.line, last.text, "connected, with a full queue"),),
            explains=("session-queue-drop",),
            mitigate="A larger queue for bursts; side effect: memory, and what is late comes later still.",
            remedy=f"Make {client} faster, or share the load in a share group.",
            verify=f"The queue of {client} is empty in the next list.",
        )
    ]


def _at_limit(case: QueueCase, row: Client) -> bool:
    limit = case.queue.limit if case.queue is not None else None
    return limit is not None and (row.queued or 0) >= limit
