"""Queues of MQTT sessions that were full, and what they lost.

Queues of MQTT sessions of which something says that they were full, client by client.

How well it is known that a session's queue dropped: whether two counts of the loss agree.

What is told of a session whose queue dropped messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mqlab import units
from mqlab.facts import Episode, Facts, Series
from mqlab.memo import per_facts
from mqlab.mqtt import brokers
from mqlab.mqtt import sessions as mqtt_sessions
from mqlab.mqtt.accounting import LEAST, MIXED, NEAR, Account, QueueCase, accounts
from mqlab.mqtt.diversion import diversions
from mqlab.mqtt.queue_growth import untold
from mqlab.mqtt.sessions import END, sessions
from mqlab.mqtt.subscriptions import SKEW
from mqlab.shared.wording import clock


@per_facts
def queue_cases(facts: Facts) -> tuple[QueueCase, ...]:
    """Every client with a queue of which something says that it dropped, or that misses messages; by client id.

    Members of share groups of which one was away are left out: what these miss went another way.
    """
    diverted = {client for one in diversions(facts) for client in one.group.clients}
    diverted |= {session.client_id for one in untold(facts) if one.dealt for session in one.sessions}
    return tuple(case for case in _cases(facts) if case.client_id not in diverted)


def _cases(facts: Facts) -> Iterator[QueueCase]:
    lines: dict[str, list[Episode]] = {}
    for line in facts.of_kind("session-queue-dropping"):
        if line.client_id:
            lines.setdefault(line.client_id, []).append(line)
    listed = {client: own[-1] for client, own in mqtt_sessions.rows(facts).items() if own[-1].dropped}
    known = _by_client(facts)
    for client in sorted({*lines, *listed, *known}):
        own = [s for s in sessions(facts) if s.client_id == client]
        broker = own[-1].broker if own and own[-1].last.told_by == "broker" else None
        counter = brokers.gauge(facts, "mqtt.publish_dropped", broker)
        yield QueueCase(
            client,
            broker,
            brokers.queue(facts, broker),
            tuple(lines.get(client, ())),
            listed.get(client),
            known.get(client),
            own[-1] if own else None,
            brokers.increase(counter, 0.0, END),
        )


def _by_client(facts: Facts) -> Mapping[str, Account]:
    """The account of each client: its own, else that of the group that it shares with others."""
    every = sorted(accounts(facts), key=lambda a: (a.group is None, a.name))
    return {client: account for account in every for client in account.clients}


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
    if brokers.software(facts, case.broker) != "hivemq" or not case.lines:
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
    stored = brokers.gauge(facts, "mqtt.stored_messages", case.broker)
    counter = brokers.gauge(facts, "mqtt.publish_dropped", case.broker)
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
    known = brokers.value(stored, min(left)) if left else None
    return min((v for t, v in stored.points if t <= at), default=0.0) if known is None else known


def _listed_full(case: QueueCase) -> bool:
    limit = case.queue.limit if case.queue is not None else None
    row = case.row
    return row is not None and limit is not None and (row.queued or 0) >= (1 - NEAR) * limit and bool(row.dropped)


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= max(2.0, NEAR * max(one, other))


def limit_words(facts: Facts, case: QueueCase) -> str:
    """The limit of the queue, and where it comes from."""
    if case.queue is None:
        return "not known"
    if case.queue.limit is None:
        return "none"
    told = brokers.limit_told(facts, case.broker)
    product = " ".join(w for w in (brokers.software(facts, case.broker), brokers.version(facts, case.broker)) if w)
    return f"{units.number(case.queue.limit)} messages" + ("" if told else f" (default of {product})")


def statement(facts: Facts, case: QueueCase, lost: float | None, proofs: Sequence[str]) -> str:
    """Two or three sentences: whose queue is full and why, what is lost, how that is known."""
    return f"{_full(facts, case)} {_lost(case, lost)}{_known(proofs)}"


def _full(facts: Facts, case: QueueCase) -> str:
    limit = limit_words(facts, case)
    holds = (
        f"its queue holds {limit}" if case.queue is not None and case.queue.limit is not None else "its queue is full"
    )
    spans = [(a, b) for a, b in case.away if case.span is None or (a <= case.span[1] and case.span[0] <= b)]
    if case.was_away and spans:
        a, b = spans[0]
        until = "and did not come back" if b == END else f"until {clock(b)}"
        return f"{case.client_id} was away from {clock(a)} {until}, and {holds}."
    if case.was_away:
        return f"{case.client_id} is away, and {holds}."
    if case.silent:
        return f"Nobody reads the messages of {case.client_id} any more, and {holds}; no line tells when it left."
    if case.session is None:
        return f"What {case.client_id} gets is more than it takes, or it is away, which no line tells; {holds}."
    return f"{case.client_id} is connected but slower than what comes in, and {holds} besides what is in flight."


def _lost(case: QueueCase, lost: float | None) -> str:
    if lost is None:
        return "The broker drops what does not fit."
    text = f"{units.counted(round(lost), 'message')} were dropped"
    if case.account is not None and case.missing is not None:
        text += f" of {units.number(case.account.published)} published for it"
    if case.kept is not None and case.kept != MIXED:
        text += f"; of what came while it was away the {case.kept} {units.number(round(case.survivors))} survived"
    return f"{text}."


def _known(proofs: Sequence[str]) -> str:
    if not proofs:
        return " No second count confirms it."
    return f" {proofs[0][:1].upper()}{proofs[0][1:]}" + "".join(f", and {p}" for p in proofs[1:]) + "."
