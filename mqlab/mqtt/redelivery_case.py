"""Clients that get messages again with the DUP flag: how many, after how many connects, and what the window allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.models.replaying import MOSQUITTO, most_again
from mqlab.mqtt import returns, trace
from mqlab.mqtt.copies import Receiver, subscribers, worst
from mqlab.rows.mqtt import Receipt

EPISODE = 10.0
"""Seconds that a receipt spans."""
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
    found += [_by_trace(facts, client) for client in trace.went_out(facts, "dup") if client not in known]
    return tuple(sorted(found, key=lambda one: one.client))


def window(facts: Facts) -> int:
    """Messages that may be under way to a client: as the broker is told, else mosquitto's default; 0 is no limit."""
    told = [s.value for s in facts.settings if s.key in WINDOW and s.value.isdigit()]
    return int(told[-1]) if told else MOSQUITTO


def fits(facts: Facts, one: Again) -> bool:
    """No more came again than connects × window; one connect may lie before the material."""
    most = most_again(one.connects + 1, window(facts))
    return one.connects >= STORM and (most is None or one.dup <= most)


def _by_ledger(facts: Facts, ledger: Receiver) -> Again | None:
    flagged = [r for r in ledger.receipts if r.dup]
    if not flagged:
        return None
    since, until = flagged[0].at, flagged[-1].at + EPISODE
    rows = sum(r.rows for r in ledger.receipts if since <= r.at < until)
    connects = _followed(facts, ledger.client, flagged)
    going = ledger.receipts[-1].at - flagged[-1].at <= _pace(flagged) + EPISODE
    copies = worst(facts, ledger.source)[0]
    return Again(ledger.client, ledger.dup, rows, connects, copies, since, until, going, ledger, ())


def _followed(facts: Facts, client: str, flagged: Sequence[Receipt]) -> int:
    """Connects of *client* in the ten seconds of messages that came again, or in those before."""
    moments = returns.connected(facts, client)
    return sum(1 for at in moments if any(r.at - EPISODE <= at < r.at + EPISODE for r in flagged))


def _pace(flagged: Sequence[Receipt]) -> float:
    """The longest time between two of them."""
    return max((b.at - a.at for a, b in pairwise(flagged)), default=0.0)


def _by_trace(facts: Facts, client: str) -> Again:
    lines = [e for e in facts.of_kind("publish-sent") if e.client_id == client and not (e.topic or "$").startswith("$")]
    flagged = [e for e in lines if "dup" in (e.reason or "").split(" ")]
    since = min(e.first_at or 0.0 for e in flagged)
    until = max(e.last_at or e.first_at or 0.0 for e in flagged)
    rows = sum(e.count for e in lines if since <= (e.first_at or 0.0) <= until)
    moments = returns.connected(facts, client)
    near = [
        at for at in moments if any(at <= (e.last_at or 0.0) and (e.first_at or 0.0) <= at + EPISODE for e in flagged)
    ]
    end = max(e.last_at or 0.0 for e in lines)
    going = end - until <= EPISODE
    dup = sum(e.count for e in flagged)
    return Again(client, dup, rows, len(near), 0, since, until, going, None, tuple(flagged))
