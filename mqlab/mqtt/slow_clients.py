"""MQTT clients that are connected and take less than is published for them: their queue is full, or all comes late.

Ledgers of receivers tell how late their messages are, lines and lists of brokers whose queue is full.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding, together
from mqlab.mqtt import brokers, sessions
from mqlab.mqtt.queue_drops import queue_cases
from mqlab.mqtt.slow_receivers import Pace, backlog_explains, others_in_time, paces, spread
from mqlab.rows import GRID, Client
from mqlab.shared.wording import sample

INCIDENT = "slow-consumer"
say = words.room(INCIDENT)

BEHIND = 2 * GRID
"""Seconds of production that lag must rise by, or messages be late: commits (each 5 s), snapshots and the grid of
ledgers alone make up to one grid."""


def of_clients(facts: Facts) -> Result:
    """What ledgers of receivers say about each client, and what lists of clients say."""
    known, lists = paces(facts), sessions.rows(facts)
    listed_full = tuple(f for client, rows in lists.items() for f in _listed_finding(facts, client, rows))
    result = together([*(_of_client(facts, pace) for pace in known), Result(listed_full)])
    if result != CLEAR:
        return result
    judged = {pace.case.client_id for pace in known}
    full = [c for c in queue_cases(facts) if c.lines and not c.was_away and c.client_id not in judged]
    unseen = [c.client_id for c in full if c.missing is None]
    sharing = [c.client_id for c in full if c.missing is not None and c.sharing]
    if unseen or sharing:
        wanted = (("no-receipts", unseen), ("no-filters", sharing))
        return Result(missing=tuple(say(key, clients=clients) for key, clients in wanted if clients))
    if known or lists or brokers.tells_of_drops(facts):
        return CLEAR
    return Result(missing=(say("no-times"),))


def _of_client(facts: Facts, pace: Pace) -> Result:
    client = pace.case.client_id
    full = _is_full(pace)
    late = pace.behind and pace.latest >= BEHIND
    if not full and not late:
        return CLEAR
    if pace.case.flooded:
        return Result(rejected=say("flooded", client=client))
    if not pace.alike:
        return Result(rejected=say("slow-way", client=client))
    if full and pace.behind:
        return Result((_client_finding(facts, pace, Certainty.PROVEN if pace.agrees else Certainty.LIKELY),))
    if late and backlog_explains(facts, pace):
        return Result((_client_finding(facts, pace, Certainty.PROVEN),))
    return Result(rejected=say("not-waiting", client=client))


def _is_full(pace: Pace) -> bool:
    """Lines or a list say that its queue was full while it was connected."""
    return bool(pace.case.lines or pace.case.row) and not pace.case.was_away


def _client_finding(facts: Facts, pace: Pace, certainty: Certainty) -> Finding:
    lost = pace.case.lost
    return finding(
        INCIDENT,
        pace.case.client_id,
        certainty,
        (pace.since, pace.late_until),
        severity=Severity.WARNING,
        slots={
            "client": pace.case.client_id,
            "dropped": None if lost is None else round(lost),
            "full": _is_full(pace),
        },
        measures={
            "produced_per_second": pace.published,
            "consumed_per_second": pace.handled,
            "lag_growth_per_second": pace.published - pace.handled,
            "longest_delay_seconds": pace.latest,
            "full_queue_delay_seconds": pace.full_delay,
        },
        evidence=_client_evidence(facts, pace),
        explains=("session-queue-drop",),
    )


def _client_evidence(facts: Facts, pace: Pace) -> Iterator[Evidence]:
    yield from (e.first.because(say("full")) for e in pace.case.lines[:2])
    firsts = {r.source: r for r in reversed(facts.receipts)}
    late = max(pace.delays, key=lambda p: (spread(p), p.sender))
    if late.receiver in firsts:
        why = say("late", sender=late.sender, latest=spread(late), median=late.median - late.least)
        yield firsts[late.receiver].first(why)
    for passage in others_in_time(facts, pace)[:1]:
        if passage.receiver in firsts:
            yield firsts[passage.receiver].first(say("in-time", latest=spread(passage)))
    stored = brokers.gauge(facts, "mqtt.stored_messages", pace.case.broker)
    if stored is not None:
        yield sample(facts, stored, pace.until, say("stored"))


def _listed_finding(facts: Facts, client: str, rows: tuple[Client, ...]) -> Iterator[Finding]:
    """A list shows a connected client whose queue is at its limit."""
    last = rows[-1]
    limit = next((c.limit for c in queue_cases(facts) if c.client_id == client), None)
    if limit is None or not sessions.is_there(last) or (last.queued or 0) < limit:
        return
    yield finding(
        INCIDENT,
        client,
        Certainty.PROVEN if last.dropped else Certainty.LIKELY,
        (rows[0].at, None),
        ongoing=True,
        severity=Severity.WARNING,
        slots={"client": client, "listed": True, "full": True, "dropped": last.dropped},
        measures={"pending_records": last.queued or 0, "dropped_messages": last.dropped},
        evidence=(last.evidence.because(say("full-listed")),),
        explains=("session-queue-drop",),
    )
