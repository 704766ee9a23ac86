"""Why an MQTT receiver got fewer messages than were published for it: a funnel of known losses, and what is left over.

Each loss is taken from elsewhere than the receiver's ledger where that is possible: rules, the law by which shares are
dealt, the broker's count of drops. So what is left over tells whether they explain what the ledger lacks.
"""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.models.courses import Interval
from mqlab.models.received_count import Step, funnel
from mqlab.mqtt import denials, gauges, queue_losses
from mqlab.mqtt.account import NOWHERE, Account, total
from mqlab.mqtt.accounting import accounts
from mqlab.mqtt.diversion import diversions
from mqlab.mqtt.queue_cases import queue_cases
from mqlab.mqtt.sessions import END

FAILED, DENIED, DIVERTED, DROPPED, WAITING, QUOTA, UNKEPT, LATE = (
    "failed at the publisher", "refused by access rules", "dealt to members that are away", "dropped by a full queue",
    "waiting for a client that is away", "above a quota", "QoS 0 that nobody kept", "on their way",
)  # fmt: skip
"""Stages of the funnel, in their order; the last one is ``models.received_count.RESIDUAL``."""


@dataclass(frozen=True, slots=True)
class Explained:
    """One receiver's messages, from published to received."""

    receiver: str
    """Client id, or ``$share/GROUP/FILTER``."""
    published: int
    """Messages that publishers noted for it, those that failed included."""
    received: int
    """Different ones that it noted."""
    copies: int
    """How often it noted one again."""
    steps: tuple[Step, ...]
    unknown: tuple[str, ...]
    """Clients of it that have no ledger: what they got is not known."""


@per_facts
def explained(facts: Facts) -> tuple[Explained, ...]:
    """The funnel of each receiver that has a ledger: share groups first, then clients, by name.

    A client that is unknown may have got what is left over: then the rest tells nothing.
    """
    return tuple(_explained(facts, account) for account in accounts(facts) if account.counted)


def _explained(facts: Facts, account: Account) -> Explained:
    failed = sum(r.messages for r in account.rows if r.failed)
    got = sum(r.messages for r in account.rows if r.copies)
    losses = [(name, count) for name, count in _losses(facts, account) if count.high > 0]
    unknown = tuple(c for c in account.clients if c not in account.ledgers)
    published = account.published + failed
    return Explained(account.name, published, got, account.copies, funnel(published, got, losses), unknown)


def _losses(facts: Facts, account: Account) -> list[tuple[str, Interval]]:
    denied, late = _denied(facts, account), _late(account)
    unsent = sum(r.messages for r in account.rows if r.failed and not r.copies)
    kept = [
        (DENIED, denied),
        (DIVERTED, _diverted(facts, account)),
        (DROPPED, _dropped(facts, account)),
        (WAITING, _waiting(facts, account)),
        (QUOTA, _quota(facts)),
    ]
    named = sum(count.likely for _, count in kept)
    return [(FAILED, _exactly(unsent)), *kept, (UNKEPT, _unkept(account, named)), (LATE, late)]


def _exactly(messages: float) -> Interval:
    return Interval(messages, messages, messages)


def _denied(facts: Facts, account: Account) -> Interval:
    own = frozenset(source for these in account.ledgers.values() for source in these)
    found = [r for r in denials.refused(facts) if r.ledgers & own and not r.arrived]
    topics = {(r.sender, r.topic): r.messages for r in found if r.receiver in (None, *account.clients)}
    return _exactly(float(sum(topics.values())))


def _diverted(facts: Facts, account: Account) -> Interval:
    """By the law, not by what is missing; nothing where the members got all of it."""
    own = [d for d in diversions(facts) if d.account.name == account.name and not d.nothing_missing]
    return total(d.expected for d in own)


def _dropped(facts: Facts, account: Account) -> Interval:
    """By the broker's count where it is this client's, else by what it lost."""
    cases = [c for c in queue_cases(facts) if c.client_id in account.clients and queue_losses.signed(facts, c)]
    alone = len(queue_losses.dropping(facts)) <= 1
    if cases and alone and cases[0].counter:
        return _exactly(cases[0].counter)
    return _exactly(max((queue_losses.lost(facts, c) or 0.0 for c in cases), default=0.0))


def _waiting(facts: Facts, account: Account) -> Interval:
    if account.group is not None:
        return NOWHERE
    return total(_exactly(c.waiting) for c in queue_cases(facts) if c.client_id in account.clients)


def _quota(facts: Facts) -> Interval:
    counter = gauges.gauge(facts, "mqtt.quota_exceeded", None)
    return _exactly(gauges.increase(counter, 0.0, END) or 0.0)


def _unkept(account: Account, named: float) -> Interval:
    """QoS 0 is sent once: what is missing of it, beyond what is named, may be lost on either side's connection."""
    lost = sum(r.within(float("-inf"), account.known_until) for r in account.lost if r.qos == 0)
    rest = max(0.0, lost - named)
    return Interval(0.0, rest, rest)


def _late(account: Account) -> Interval:
    """Published after the last message that is sure to have come."""
    every = float(sum(r.messages for r in account.lost))
    known = account.missing()
    return Interval(every - known.high, every - known.likely, every - known.low)
