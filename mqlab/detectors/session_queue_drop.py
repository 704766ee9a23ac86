"""MQTT: the queue of a session is full, and the broker drops messages.

Fires: a broker says that a client's queue dropped (its line, a list of clients), or counts as many drops as that client
misses. Proven where the ids that the client misses agree with a count of the broker, with what its queue holds, or
stored messages stand at the limit while the counter of drops rises.
Quiet: a queue full of copies (their maker is the cause), a member of a share group that gets what nobody reads, topics
that are denied, QoS 0 that is lost before it comes to the broker, an absence that is not longer than the queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, finding, together
from mqlab.mqtt import brokers, queue_drops
from mqlab.mqtt.brokers import LEAST, gauge
from mqlab.mqtt.queue_drops import MIXED, QueueCase, queue_cases
from mqlab.mqtt.sessions import BEGIN, END, bridges
from mqlab.shared.wording import sample
from mqlab.shared.working import TRIES
from mqlab.words.filling import Value

INCIDENT = "session-queue-drop"
SYSTEMS: tuple[str, ...] = ("mqtt",)
say = words.room(INCIDENT)
_SHOWN = 3


class Reader(Enum):
    """What is known of the one whose queue drops."""

    AWAY = "away"
    UNREAD = "unread"
    UNKNOWN = "unknown"
    SLOW = "slow"


def detect(facts: Facts) -> Result:
    """One finding for each client whose queue dropped."""
    result = together(_judged(facts, case) for case in queue_cases(facts) if queue_drops.signed(facts, case))
    if result != CLEAR:
        return result
    listed = any(c.dropped is not None for c in facts.clients if c.system == "mqtt")
    if listed or brokers.tells_of_drops(facts):
        return CLEAR
    return Result(missing=(say("no-material"),))


def _judged(facts: Facts, case: QueueCase) -> Result:
    if case.flooded:
        return Result(rejected=say("copies", client=case.client_id))
    if case.silent and case.account is not None and case.account.group is not None:
        return Result(missing=(say("no-connects", client=case.client_id),))
    proofs = queue_drops.proofs(facts, case)
    lost = queue_drops.lost(facts, case)
    if proofs and (lost is None or lost >= 1):
        return Result((_finding(facts, case, lost, proofs),))
    if case.missing is not None and case.missing.likely < LEAST:
        return Result(rejected=say("all-there", client=case.client_id))
    if case.lost is not None or lost or case.row is not None:
        return Result((_finding(facts, case, lost, ()),))
    if case.stands:
        return Result(missing=(say("no-share", client=case.client_id, dropped=round(case.stands)),))
    return Result(missing=(say("no-count", client=case.client_id),))


def _finding(facts: Facts, case: QueueCase, lost: float | None, proofs: tuple[str, ...]) -> Finding:
    state, product, tried = _reader(case), _product_of_default(facts, case), _tried(facts, case)
    return finding(
        INCIDENT,
        case.client_id,
        Certainty.PROVEN if proofs else Certainty.LIKELY,
        case.span or (None, None),
        cause_ended=_came_back(case),
        slots={
            "state": state,
            **_absence(case),
            "bridge": _peer(facts, case) if tried is None else tried.reason,
            "tried": tried.first_at if tried is not None else None,
            "product": product,
            "software": brokers.software(facts, case.broker),
            "published": case.account.published if case.account and case.missing and lost == case.lost else None,
            "needed": case.limit + round(lost) if case.limit and lost and len(case.away) == 1 else None,
            "kept": None if case.kept == MIXED else case.kept,
            "proofs": proofs,
            "sharing": case.sharing,
            "stands": round(case.stands) if case.stands else None,
        },
        measures={
            "lost_records": round(lost) if lost is not None else None,
            "dropped_messages": case.counter,
            "queue_limit": case.limit,
            "published_messages": case.account.published if case.account and case.missing else None,
            "received_messages": case.account.received if case.account and case.missing else None,
            "survivors": round(case.survivors) if case.was_away and case.survivors else None,
        },
        evidence=_evidence(facts, case),
        facts={
            "limit": say("limit", queue_limit=case.limit, product=product, unlimited=case.queue is not None),
            "client": say("connection", state=state),
            "survived": say("survived", kept=case.kept) if case.kept else None,
        },
    )


def _product_of_default(facts: Facts, case: QueueCase) -> str | None:
    """Broker and version whose default the limit is; None where it is configured."""
    if brokers.limit_told(facts, case.broker):
        return None
    return " ".join(w for w in (brokers.software(facts, case.broker), brokers.version(facts, case.broker)) if w)


def _reader(case: QueueCase) -> Reader:
    if case.was_away:
        return Reader.AWAY
    if case.silent:
        return Reader.UNREAD
    return Reader.UNKNOWN if case.session is None else Reader.SLOW


def _absence(case: QueueCase) -> dict[str, Value]:
    """When its client went away first while the queue dropped, and when it came back."""
    spans = [(a, b) for a, b in case.away if case.span is None or (a <= case.span[1] and case.span[0] <= b)]
    gone, back = spans[0] if spans else (BEGIN, END)
    return {"gone": None if gone == BEGIN else gone, "back": None if back == END else back}


def _peer(facts: Facts, case: QueueCase) -> str | None:
    """Where the bridge connects to whose queue it is; None where it is no bridge's."""
    own = bridges(facts).get((case.broker, case.client_id))
    return own[-1].peer if own else None


def _tried(facts: Facts, case: QueueCase) -> Episode | None:
    """A bridge's first try to connect anew after its queue dropped, where no line says that it was cut off."""
    own = [e for e in facts.of_kind(TRIES) if case.client_id.endswith(f".{e.client_id}") and case.session is None]
    logs, since = {line.source for line in case.lines}, min(case.moments, default=END)
    return next((e for e in own if e.source in logs and e.first_at is not None and e.first_at >= since), None)


def _came_back(case: QueueCase) -> float | None:
    """When the client was back from the last absence in which the queue dropped; None where it was not away, or is."""
    if not case.was_away or case.span is None:
        return None
    back = max((b for a, b in case.away if a <= case.span[1] and case.span[0] <= b), default=END)
    return None if back == END else back


def _evidence(facts: Facts, case: QueueCase) -> Iterator[Evidence]:
    yield from (e.first.because(say("full-line")) for e in case.lines[:_SHOWN])
    if case.row is not None:
        yield case.row.evidence.because(say("list-line"))
    if case.lost_rows:
        yield case.lost_rows[0].first.because(say("first-lost"))
        yield max(case.lost_rows, key=lambda r: r.last_at).last.because(say("last-lost"))
    counter = gauge(facts, "mqtt.publish_dropped", case.broker)
    if counter is not None:
        yield sample(facts, counter, counter.points[-1][0], say("counter-line"))
    ends = [c.end for c in case.session.connections if c.end is not None] if case.session and case.was_away else []
    yield from (end.because(say("left-line")) for end in ends[:1])
    yield from brokers.limit_told(facts, case.broker)
