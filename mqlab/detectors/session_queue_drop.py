"""MQTT: the queue of a session is full, and the broker drops messages.

Fires: a broker says that a client's queue dropped (its line, a list of clients), or counts as many drops as that client
misses. Proven where the ids that the client misses agree with a count of the broker, with what its queue holds, or
stored messages stand at the limit while the counter of drops rises.
Quiet: a queue full of copies (their maker is the cause), a member of a share group that gets what nobody reads, topics
that are denied, QoS 0 that is lost before it comes to the broker, an absence that is not longer than the queue.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, finding, together
from mqlab.mqtt import brokers, queue_drops
from mqlab.mqtt.brokers import LEAST, gauge
from mqlab.mqtt.queue_drops import MIXED, QueueCase, queue_cases
from mqlab.mqtt.sessions import END
from mqlab.shared.wording import clock, sample

INCIDENT = "session-queue-drop"
SYSTEMS: tuple[str, ...] = ("mqtt",)
_SHOWN = 3


def detect(facts: Facts) -> Result:
    """One finding for each client whose queue dropped."""
    result = together(_judged(facts, case) for case in queue_cases(facts) if queue_drops.signed(facts, case))
    if result != CLEAR:
        return result
    listed = any(c.dropped is not None for c in facts.clients if c.system == "mqtt")
    if listed or brokers.tells_of_drops(facts):
        return CLEAR
    return Result(missing=("the broker's log, its counters, or a list of clients",))


def _judged(facts: Facts, case: QueueCase) -> Result:
    if case.flooded:
        return Result(rejected=f"the queue of {case.client_id} is full of copies of messages that it had got")
    if case.silent and case.account is not None and case.account.group is not None:
        return Result(missing=(f"when {case.client_id}, a member of a share group, was connected: the broker's log",))
    proofs = queue_drops.proofs(facts, case)
    lost = queue_drops.lost(facts, case)
    if proofs and (lost is None or lost >= 1):
        return Result((_finding(facts, case, lost, proofs),))
    if case.missing is not None and case.missing.likely < LEAST:
        return Result(rejected=f"{case.client_id} got every message that was published for it")
    if case.lost is not None or lost or case.row is not None:
        return Result((_finding(facts, case, lost, ()),))
    return Result(missing=(f"what {case.client_id} lost: ids published and received, or the broker's count of drops",))


def _finding(facts: Facts, case: QueueCase, lost: float | None, proofs: tuple[str, ...]) -> Finding:
    return finding(
        INCIDENT,
        case.client_id,
        Certainty.PROVEN if proofs else Certainty.LIKELY,
        case.span or (None, None),
        statement=f"{_full(facts, case)} {_lost(case, lost)}{_known(proofs)}",
        measures={
            "lost_records": round(lost) if lost is not None else None,
            "dropped_messages": case.counter,
            "queue_limit": case.limit,
            "published_messages": case.account.published if case.account and case.missing else None,
            "received_messages": case.account.received if case.account and case.missing else None,
            "survivors": round(case.survivors) if case.was_away and case.survivors else None,
        },
        evidence=_evidence(facts, case),
        mitigate="Raise the limit of queued messages above rate × longest absence; side effect: memory of the broker.",
        remedy=(
            "A subscriber that keeps up and is not away for longer than its queue lasts, or a store before it; "
            "what is lost comes from the publisher again or not at all."
        ),
        verify=f"The broker's count of dropped messages stops rising, and {case.client_id} receives what is published.",
        facts={
            "limit": _limit(facts, case),
            "client": "away" if case.was_away else "connected",
            "survived": case.kept,
        },
    )


def _limit(facts: Facts, case: QueueCase) -> str:
    """The limit of the queue, and where it comes from."""
    if case.queue is None or case.limit is None:
        return "not known" if case.queue is None else "none"
    product = " ".join(w for w in (brokers.software(facts, case.broker), brokers.version(facts, case.broker)) if w)
    default = "" if brokers.limit_told(facts, case.broker) else f" (default of {product})"
    return f"{units.number(case.limit)} messages{default}"


def _full(facts: Facts, case: QueueCase) -> str:
    holds = f"its queue holds {_limit(facts, case)}" if case.limit is not None else "its queue is full"
    spans = [(a, b) for a, b in case.away if case.span is None or (a <= case.span[1] and case.span[0] <= b)]
    if case.was_away and spans:
        a, b = spans[0]
        until = "and did not come back" if b == END else f"until {clock(b)}"
        return f"{case.client_id} was away from {clock(a)} {until}, and {holds}."
    if case.was_away:
        return f"{case.client_id} is away, and {holds}."
    if case.silent:
        return f"Nobody reads the messages of {case.client_id} any more, and {holds}; no line says when it left."
    if case.session is None:
        return f"{case.client_id} gets more than it takes, or is away, which no line says; {holds}."
    return f"{case.client_id} is connected but slower than what comes in, and {holds} besides what is in flight."


def _lost(case: QueueCase, lost: float | None) -> str:
    if lost is None:
        return "The broker drops what does not fit."
    text = f"{units.counted(round(lost), 'message')} were dropped"
    if case.account is not None and case.missing is not None:
        text = f"{units.number(round(lost))} of {units.number(case.account.published)} messages for it were dropped"
    if case.kept is not None and case.kept != MIXED:
        text += (
            f"; of those that came while it was away, the {case.kept} {units.number(round(case.survivors))} survived"
        )
    return f"{text}."


def _known(proofs: tuple[str, ...]) -> str:
    if not proofs:
        return " No second count confirms it."
    counts = ", and ".join(proofs)
    return f" {counts[:1].upper()}{counts[1:]}."


def _evidence(facts: Facts, case: QueueCase) -> Iterator[Evidence]:
    yield from (e.first.because("its queue is full") for e in case.lines[:_SHOWN])
    if case.row is not None:
        yield case.row.evidence.because("what it dropped")
    if case.lost_rows:
        yield case.lost_rows[0].first.because("the first that is missing")
        yield max(case.lost_rows, key=lambda r: r.last_at).last.because("the last")
    counter = gauge(facts, "mqtt.publish_dropped", case.broker)
    if counter is not None:
        yield sample(facts, counter, counter.points[-1][0], "messages that the broker dropped")
    ends = [c.end for c in case.session.connections if c.end is not None] if case.session and case.was_away else []
    yield from (end.because("it goes away and keeps its session") for end in ends[:1])
    yield from brokers.limit_told(facts, case.broker)
