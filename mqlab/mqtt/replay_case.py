"""Clients to which retained messages were sent again and again, since they subscribed again and again."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.facts import Facts, Series
from mqlab.memo import per_facts
from mqlab.models.replaying import fits
from mqlab.mqtt import returns, trace
from mqlab.mqtt.copies import Receiver, copies_by_topic, subscribers
from mqlab.questions.traffic import increase

EPISODE = 10.0
"""Seconds that a receipt spans."""
STORM = 3
"""Subscribes after the first one from which a client subscribes again and again."""


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
        return self.topics is not None and fits(self.retained, self.topics, self.subscribes)

    @property
    def storm(self) -> bool:
        """It subscribed again and again, and most of what it got was replayed."""
        return self.subscribes >= STORM and self.retained > self.live


@per_facts
def replayed(facts: Facts) -> tuple[Replayed, ...]:
    """All clients that subscribed more than once and got retained messages, by name."""
    found = [one for ledger in subscribers(facts) if (one := _by_ledger(facts, ledger)) is not None]
    known = {one.client for one in found}
    traced = [c for c in trace.went_out(facts, "retained") if c not in known]
    found += [one for client in traced if (one := _by_trace(facts, client)) is not None]
    if not found and not subscribers(facts):
        found += [one for one in (_by_counter(facts),) if one is not None]
    return tuple(sorted(found, key=lambda one: one.client))


def untold(facts: Facts) -> tuple[str, ...]:
    """Receivers that got retained messages more than once, and of which nothing tells when they subscribed."""
    again = [one for one in subscribers(facts) if one.retained and one.again]
    return tuple(one.client for one in again if not returns.subscribed(facts, one.client))


def uncounted(facts: Facts) -> tuple[str, ...]:
    """Clients that subscribed again and again, and of which nothing tells what came to them."""
    noted = {one.client for one in subscribers(facts)} | set(trace.went_out(facts, "retained"))
    if facts.named("mqtt.publish_sent"):
        return ()
    clients = sorted({e.client_id for e in facts.of_kind("client-connected", "client-subscribed") if e.client_id})
    return tuple(c for c in clients if c not in noted and len(returns.subscribed(facts, c)) > STORM)


def _by_ledger(facts: Facts, ledger: Receiver) -> Replayed | None:
    moments = returns.subscribed(facts, ledger.client)
    if len(moments) < 2 or not ledger.retained:
        return None
    own = [r for r in ledger.receipts if r.at + EPISODE > moments[1]]
    flagged = [r for r in own if r.retained]
    if not flagged:
        return None
    retained, rows = sum(r.retained for r in own), sum(r.rows for r in own)
    until = flagged[-1].at + EPISODE
    return Replayed(
        ledger.client, len(moments) - 1, retained, rows - retained, _topics(facts, ledger, retained, len(moments) - 1),
        moments[1], until, _goes_on(moments, ledger.receipts[-1].at + EPISODE), ledger, "ledger",
    )  # fmt: skip


def _topics(facts: Facts, ledger: Receiver, retained: int, subscribes: int) -> int | None:
    """Retained topics: those of the ledger, or as many as the broker says that it keeps; whichever agrees better."""
    told = [len(copies_by_topic(facts, ledger.source))]
    told += [round(s.points[-1][1]) for s in facts.named("mqtt.retained_messages") if s.points]
    return min((t for t in told if t), key=lambda t: (abs(retained - t * subscribes), t), default=None)


def _goes_on(moments: tuple[float, ...], end: float) -> bool:
    """The next subscribe is not overdue at the end."""
    return end - moments[-1] <= 2 * (moments[-1] - moments[0]) / (len(moments) - 1) + EPISODE


def _by_trace(facts: Facts, client: str) -> Replayed | None:
    moments = returns.subscribed(facts, client)
    if len(moments) < 2:
        return None
    topics = trace.went_out(facts, "retained")[client]
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
    often = sorted(((len(returns.subscribed(facts, c)), c) for c in clients), reverse=True)
    if not often or often[0][0] <= STORM or (len(often) > 1 and often[1][0] > STORM):
        return None
    client = often[0][1]
    moments = returns.subscribed(facts, client)
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
