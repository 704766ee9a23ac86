"""Clients to which messages were sent again: unacknowledged ones at each connect, retained ones at each subscribe.

A subscribe makes the broker send every retained message that matches (MQTT 3.1.1 §3.3.1.3; MQTT 5 §3.3.1.3, unless
retain handling says no). A session that comes back gets what it had not acknowledged, with the DUP flag (§4.4), which
is the in-flight window at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab.facts import Episode, Facts, Series
from mqlab.memo import per_facts
from mqlab.mqtt import accounting, sessions
from mqlab.mqtt.copies import CELL, Receiver, copies_by_topic, subscribers, worst
from mqlab.rows import Receipt
from mqlab.shared.counters import increase

STORM = 3
"""Connects with messages again, or copies of one message, from which it goes on and on."""
MUCH = 0.1
"""Part of what a client gets from which messages again are more than what a lost connection costs."""
WINDOW = ("max_inflight_messages", "mqtt.max_inflight", "zone.external.max_inflight")
"""Settings of mosquitto and EMQX 5 and 4 for what may be under way to a client unacknowledged."""


@dataclass(frozen=True, slots=True)
class Again:
    """Messages that one client got again with the DUP flag."""

    client: str
    dup: int
    rows: int
    """All that it got in that time."""
    connects: int
    """After which some came again."""
    copies: int
    """Of the message that came most often, where a ledger tells; else 0."""
    since: float
    until: float
    ongoing: bool
    receiver: Receiver | None
    lines: tuple[Episode, ...]
    """Lines of a trace that send them, where there is no ledger."""

    @property
    def storm(self) -> bool:
        """They come again and again, and are a good part of what it gets."""
        return max(self.connects, self.copies) >= STORM and self.dup >= MUCH * self.rows


@per_facts
def again(facts: Facts) -> tuple[Again, ...]:
    """All clients that got messages with the DUP flag, by name."""
    found = [one for ledger in subscribers(facts) if (one := _by_ledger(facts, ledger)) is not None]
    known = {one.client for one in found}
    found += [_by_trace(facts, client) for client in accounting.went_out(facts, "dup") if client not in known]
    return tuple(sorted(found, key=lambda one: one.client))


def window(facts: Facts) -> int:
    """Messages that may be under way to a client: as the broker is told, else mosquitto's default; 0 is no limit."""
    told = [s.value for s in facts.settings if s.key in WINDOW and s.value.isdigit()]
    return int(told[-1]) if told else 20


def redelivery_fits(facts: Facts, one: Again) -> bool:
    """No more came again than connects × window; one connect may lie before the material."""
    allowed = window(facts)
    return one.connects >= STORM and (not allowed or one.dup <= (one.connects + 1) * allowed)


def _by_ledger(facts: Facts, ledger: Receiver) -> Again | None:
    flagged = [r for r in ledger.receipts if r.dup]
    if not flagged:
        return None
    since, until = flagged[0].at, flagged[-1].at + CELL
    rows = sum(r.rows for r in ledger.receipts if since <= r.at < until)
    connects = _followed(facts, ledger.client, flagged)
    going = ledger.receipts[-1].at - flagged[-1].at <= _pace(flagged) + CELL
    copies = worst(facts, ledger.source)[0]
    return Again(ledger.client, ledger.dup, rows, connects, copies, since, until, going, ledger, ())


def _followed(facts: Facts, client: str, flagged: Sequence[Receipt]) -> int:
    """Connects of *client* in the ten seconds of messages that came again, or in those before."""
    moments = sessions.connected(facts, client)
    return sum(1 for at in moments if any(r.at - CELL <= at < r.at + CELL for r in flagged))


def _pace(flagged: Sequence[Receipt]) -> float:
    """The longest time between two of them."""
    return max((b.at - a.at for a, b in pairwise(flagged)), default=0.0)


def _by_trace(facts: Facts, client: str) -> Again:
    lines = [e for e in facts.of_kind("publish-sent") if e.client_id == client and not (e.topic or "$").startswith("$")]
    flagged = [e for e in lines if "dup" in (e.reason or "").split(" ")]
    since = min(e.first_at or 0.0 for e in flagged)
    until = max(e.last_at or e.first_at or 0.0 for e in flagged)
    rows = sum(e.count for e in lines if since <= (e.first_at or 0.0) <= until)
    moments = sessions.connected(facts, client)
    near = [at for at in moments if any(at <= (e.last_at or 0.0) and (e.first_at or 0.0) <= at + CELL for e in flagged)]
    end = max(e.last_at or 0.0 for e in lines)
    going = end - until <= CELL
    dup = sum(e.count for e in flagged)
    return Again(client, dup, rows, len(near), 0, since, until, going, None, tuple(flagged))


@dataclass(frozen=True, slots=True)
class Replayed:
    """Retained messages that one client got after its first subscribe."""

    client: str
    subscribes: int
    """After the first one."""
    retained: int
    """Retained messages that it got since the second one."""
    live: int
    """Other messages that it got since then."""
    topics: int | None
    """Retained topics of its filters; None where nothing tells."""
    since: float
    until: float
    ongoing: bool
    receiver: Receiver | None
    counted: str
    """ledger, trace or counter."""

    @property
    def fits(self) -> bool:
        """Retained topics × subscribes are the rows, within one replay."""
        return bool(self.topics) and abs(self.retained - (self.topics or 0) * self.subscribes) <= (self.topics or 0)

    @property
    def storm(self) -> bool:
        """It subscribed again and again, and most of what it got was replayed."""
        return self.subscribes >= STORM and self.retained > self.live


@per_facts
def replayed(facts: Facts) -> tuple[Replayed, ...]:
    """All clients that subscribed more than once and got retained messages, by name."""
    found = [one for ledger in subscribers(facts) if (one := _replays_by_ledger(facts, ledger)) is not None]
    known = {one.client for one in found}
    traced = [c for c in accounting.went_out(facts, "retained") if c not in known]
    found += [one for client in traced if (one := _replays_by_trace(facts, client)) is not None]
    if not found and not subscribers(facts):
        found += [one for one in (_by_counter(facts),) if one is not None]
    return tuple(sorted(found, key=lambda one: one.client))


def untold(facts: Facts) -> tuple[str, ...]:
    """Receivers that got retained messages more than once, and of which nothing tells when they subscribed."""
    again = [one for one in subscribers(facts) if one.retained and one.again]
    return tuple(one.client for one in again if not sessions.subscribed(facts, one.client))


def uncounted(facts: Facts) -> tuple[str, ...]:
    """Clients that subscribed again and again, and of which nothing tells what came to them."""
    noted = {one.client for one in subscribers(facts)} | set(accounting.went_out(facts, "retained"))
    if facts.named("mqtt.publish_sent"):
        return ()
    clients = sorted({e.client_id for e in facts.of_kind("client-connected", "client-subscribed") if e.client_id})
    return tuple(c for c in clients if c not in noted and len(sessions.subscribed(facts, c)) > STORM)


def _replays_by_ledger(facts: Facts, ledger: Receiver) -> Replayed | None:
    moments = sessions.subscribed(facts, ledger.client)
    if len(moments) < 2 or not ledger.retained:
        return None
    own = [r for r in ledger.receipts if r.at + CELL > moments[1]]
    flagged = [r for r in own if r.retained]
    if not flagged:
        return None
    retained, rows = sum(r.retained for r in own), sum(r.rows for r in own)
    until = flagged[-1].at + CELL
    return Replayed(
        ledger.client, len(moments) - 1, retained, rows - retained, _topics(facts, ledger, retained, len(moments) - 1),
        moments[1], until, _goes_on(moments, ledger.receipts[-1].at + CELL), ledger, "ledger",
    )  # fmt: skip


def _topics(facts: Facts, ledger: Receiver, retained: int, subscribes: int) -> int | None:
    """Retained topics: those of the ledger, or as many as the broker says that it keeps; whichever agrees better."""
    told = [len(copies_by_topic(facts, ledger.source))]
    told += [round(s.points[-1][1]) for s in facts.named("mqtt.retained_messages") if s.points]
    return min((t for t in told if t), key=lambda t: (abs(retained - t * subscribes), t), default=None)


def _goes_on(moments: tuple[float, ...], end: float) -> bool:
    """The next subscribe is not overdue at the end."""
    return end - moments[-1] <= 2 * (moments[-1] - moments[0]) / (len(moments) - 1) + CELL


def _replays_by_trace(facts: Facts, client: str) -> Replayed | None:
    moments = sessions.subscribed(facts, client)
    if len(moments) < 2:
        return None
    topics = accounting.went_out(facts, "retained")[client]
    lines = [e for e in facts.of_kind("publish-sent") if e.client_id == client and not (e.topic or "$").startswith("$")]
    late = [e for e in lines if (e.first_at or 0.0) >= moments[1]]
    flagged = [e for e in late if "retained" in (e.reason or "")]
    retained = sum(e.count for e in flagged)
    live = sum(e.count for e in late) - retained
    if not flagged:
        return None
    until = max(e.last_at or e.first_at or 0.0 for e in flagged)
    end = max((e.last_at or 0.0 for e in facts.of_kind("publish-sent", "publish-received")), default=until)
    going = _goes_on(moments, end)
    told = (len(moments) - 1, retained, live, len(topics), moments[1], until, going)
    return Replayed(client, *told, None, "trace")


def _by_counter(facts: Facts) -> Replayed | None:
    """The one client that came back again and again, where a broker sends more by what it keeps for each time."""
    clients = {e.client_id for e in facts.of_kind("client-connected") if e.client_id}
    often = sorted(((len(sessions.subscribed(facts, c)), c) for c in clients), reverse=True)
    if not often or often[0][0] <= STORM or (len(often) > 1 and often[1][0] > STORM):
        return None
    client = often[0][1]
    moments = sessions.subscribed(facts, client)
    kept = [s.points[-1][1] for s in facts.named("mqtt.retained_messages") if s.points]
    sent = facts.named("mqtt.publish_sent")
    if len(sent) != 1 or len(kept) != 1 or not _as_before(facts, moments):
        return None
    more = _more(sent[0], moments)
    subscribes = len(moments) - 1
    if more is None or not kept[0] / 2 <= more[0] / subscribes <= kept[0]:
        return None
    going = _goes_on(moments, sent[0].points[-1][0])
    return Replayed(
        client, subscribes, round(more[0]), round(more[1]), None, moments[1], moments[-1], going, None, "counter"
    )


def _more(sent: Series, moments: tuple[float, ...]) -> tuple[float, float] | None:
    """What was sent since the second subscribe beyond the pace before it, and what that pace makes."""
    before = increase([sent], sent.points[0][0], moments[1])
    since = increase([sent], moments[1], sent.points[-1][0])
    if before is None or since is None or before.until <= before.since:
        return None
    usual = before.value / (before.until - before.since) * (since.until - since.since)
    return since.value - usual, usual


def _as_before(facts: Facts, moments: tuple[float, ...]) -> bool:
    """Brokers take in no more than before; connects and acknowledgements are in the counter, too."""
    for series in facts.named("mqtt.messages_received"):
        before = increase([series], series.points[0][0], moments[1])
        since = increase([series], moments[1], series.points[-1][0])
        if before is None or since is None:
            return False
        paces = [i.value / (i.until - i.since) if i.until > i.since else 0.0 for i in (before, since)]
        if paces[1] > 1.5 * paces[0]:
            return False
    return True
