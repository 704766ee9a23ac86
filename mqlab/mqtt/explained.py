"""Why an MQTT receiver got fewer messages than were published for it: a funnel of known losses.

Each loss is taken from elsewhere than the receiver's ledger where that is possible: rules, the law by which shares are
dealt, the broker's count of drops. So what is left over tells whether they explain what the ledger lacks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mqlab import words
from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.models.mqtt import Step, funnel
from mqlab.mqtt import absences, brokers, denials, queue_drops
from mqlab.mqtt.accounting import Account, Row, accounts, exactly, total
from mqlab.mqtt.diversion import diversions
from mqlab.mqtt.queue_drops import queue_cases
from mqlab.mqtt.sessions import BEGIN, END
from mqlab.units import Interval

say = words.room("mqtt-losses")

FAILED, DENIED, DIVERTED, ABSENT = say("failed"), say("denied"), say("diverted"), say("absent")
DROPPED, WAITING, QUOTA, UNKEPT, LATE = say("dropped"), say("waiting"), say("quota"), say("unkept"), say("late")
"""Stages of the funnel, in their order; the last one is ``models.mqtt.RESIDUAL``."""


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
    """QoS 0 is sent once: what is missing of it, beyond what is named, may be lost on either side's connection."""
    unsent = sum(r.messages for r in account.rows if r.failed and not r.copies)
    waits = () if account.group is not None else queue_cases(facts)
    diverted = [d for d in diversions(facts) if d.account.name == account.name]
    kept = [
        (DENIED, _denied(facts, account)),
        # By the law, not by what is missing; nothing where the members got all of it.
        (DIVERTED, total(d.expected for d in diverted if not d.nothing_missing)),
        (DROPPED, exactly(_dropped(facts, account))),
        (WAITING, total(exactly(c.waiting) for c in waits if c.client_id in account.clients)),
        (QUOTA, exactly(brokers.increase(brokers.gauge(facts, "mqtt.quota_exceeded", None), 0.0, END) or 0)),
    ]
    absent = min(
        sum(r.messages for r in unheard(facts, account)),
        max(0.0, sum(r.messages for r in account.lost) - _likely(kept)),
    )
    kept.append((ABSENT, exactly(absent)))
    lost = sum(r.within(BEGIN, account.known_until) for r in account.lost if r.qos == 0)
    rest = max(0.0, lost - _likely(kept))
    return [(FAILED, exactly(unsent)), *kept, (UNKEPT, Interval(0.0, rest, rest)), (LATE, _late(account))]


def _likely(losses: Iterable[tuple[str, Interval]]) -> float:
    return sum(count.likely for _, count in losses)


def unheard(facts: Facts, account: Account) -> tuple[Row, ...]:
    """What it lacks that was published while it was not connected, and had no session that keeps anything."""
    return tuple(r for r in account.lost if absences.meanwhile(facts, account.clients, r.first_at, r.last_at))


def _denied(facts: Facts, account: Account) -> Interval:
    own = frozenset(source for these in account.ledgers.values() for source in these)
    found = [r for r in denials.refused(facts) if r.ledgers & own and not r.arrived]
    topics = {(r.sender, r.topic): r.messages for r in found if r.receiver in (None, *account.clients)}
    return exactly(sum(topics.values()))


def _dropped(facts: Facts, account: Account) -> float:
    """By the broker's count where it is this client's, else by what it lost."""
    cases = [c for c in queue_cases(facts) if c.client_id in account.clients and queue_drops.signed(facts, c)]
    if cases and cases[0].counter and len(queue_drops.dropping(facts)) <= 1:
        return cases[0].counter
    return max((queue_drops.lost(facts, c) or 0.0 for c in cases), default=0.0)


def _late(account: Account) -> Interval:
    """Published after the last message that is sure to have come."""
    every = float(sum(r.messages for r in account.lost))
    known = account.missing()
    return Interval(every - known.high, every - known.likely, every - known.low)
