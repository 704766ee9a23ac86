"""How well it is known that a session's queue dropped: whether two counts of the loss agree."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.facts import Facts, Series
from mqlab.mqtt import gauges, software
from mqlab.mqtt.queue_case import LEAST, NEAR, QueueCase
from mqlab.mqtt.queue_cases import queue_cases
from mqlab.mqtt.subscriptions import SKEW


def lost(facts: Facts, case: QueueCase) -> float | None:
    """Messages that the queue dropped: by ids, else by the list, the broker's count or its lines; None if not told.

    The broker's count is for all its clients: it is this one's where no other one's queue dropped. Where it is more
    than ids tell, a publisher has no ledger here or clocks differ, and it counts.
    """
    told = _by_broker(facts, case)
    if case.lost is None or (told is not None and told > case.lost and not _near(told, case.lost)):
        return told
    return case.lost


def _by_broker(facts: Facts, case: QueueCase) -> float | None:
    if case.row is not None and case.row.dropped:
        return float(case.row.dropped)
    if case.counter and [c.client_id for c in dropping(facts)] == [case.client_id]:
        return case.counter
    return by_lines(facts, case)


def by_lines(facts: Facts, case: QueueCase) -> float | None:
    """Messages by the broker's lines, of which HiveMQ writes one for each; None where lines stand for episodes."""
    if software.software(facts, case.broker) != "hivemq" or not case.lines:
        return None
    return float(sum(e.count for e in case.lines))


def dropping(facts: Facts) -> Sequence[QueueCase]:
    """Cases of which a line or list says that the queue dropped."""
    return [c for c in queue_cases(facts) if c.lines or c.row is not None]


def signed(facts: Facts, case: QueueCase) -> bool:
    """The broker says that this queue dropped, or its count of drops is what only this client misses."""
    if case.lines or case.row is not None:
        return True
    alone = case.account is not None and len(case.account.clients) == 1
    return alone and case.lost is not None and case.lost >= LEAST and _by_counter(facts, case)


def proofs(facts: Facts, case: QueueCase) -> tuple[str, ...]:
    """In words, which counts of the loss agree; empty where none does."""
    found = []
    if case.lost is not None and case.lost >= LEAST:
        if _by_counter(facts, case):
            found.append("the broker's counter of dropped messages rose by as many")
        if _survived(case):
            found.append("as many came afterwards as the queue holds")
        if case.row is not None and _near(float(case.row.dropped or 0), case.lost):
            found.append("the list of clients counts as many dropped")
        told = by_lines(facts, case)
        if told is not None and _near(told, case.lost):
            found.append("the broker wrote a line for each")
    elif case.lost is None:
        found += _plateau(facts, case)
    return tuple(found)


def _by_counter(facts: Facts, case: QueueCase) -> bool:
    """The broker's counter is the sum of what all clients with such queues lost."""
    if not case.counter or case.lost is None:
        return False
    others = [c for c in queue_cases(facts) if c.broker == case.broker and c.client_id != case.client_id]
    every = case.lost + sum(c.lost or 0.0 for c in others if c.lines or c.row is not None)
    return _near(case.counter, case.lost) or _near(case.counter, every)


def _survived(case: QueueCase) -> bool:
    limit = case.queue.limit if case.queue is not None else None
    if limit is None or not case.was_away or len(case.away) != 1:
        return False
    inflight = case.queue.inflight if case.queue is not None else 0
    return limit * (1 - NEAR) <= case.survivors <= (limit + inflight) * (1 + NEAR)


def _plateau(facts: Facts, case: QueueCase) -> list[str]:
    """Without ids: stored messages rose by what the queue holds, and the broker counts drops from then on."""
    queue = case.queue
    if not case.lines or queue is None or queue.limit is None or len(dropping(facts)) > 1:
        return ["the list of clients shows it full"] if _listed_full(case) else []
    stored = gauges.gauge(facts, "mqtt.stored_messages", case.broker)
    counter = gauges.gauge(facts, "mqtt.publish_dropped", case.broker)
    at = min((e.first_at for e in case.lines if e.first_at is not None), default=None)
    if stored is None or counter is None or at is None or not case.counter or case.counter < LEAST:
        return []
    before = _before(case, stored, at)
    top = max((v for t, v in stored.points if t > at), default=0.0)
    room = queue.holds(connected=not case.was_away)
    fits = (1 - NEAR) * queue.limit <= top - before <= (1 + NEAR) * room + LEAST
    return [f"stored messages rose by {top - before:,.0f}, which is what the queue holds"] if fits else []


def _before(case: QueueCase, stored: Series, at: float) -> float:
    """Stored messages with an empty queue: what they were when the client went away, else their least by then.

    Retained ones are among them, and the broker's own values are: these come within its first interval.
    """
    left = [a for a, b in case.away if a - SKEW <= at <= b + SKEW]
    known = gauges.value(stored, min(left)) if left else None
    return min((v for t, v in stored.points if t <= at), default=0.0) if known is None else known


def _listed_full(case: QueueCase) -> bool:
    limit = case.queue.limit if case.queue is not None else None
    row = case.row
    return row is not None and limit is not None and (row.queued or 0) >= (1 - NEAR) * limit and bool(row.dropped)


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= max(2.0, NEAR * max(one, other))
