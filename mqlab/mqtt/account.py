"""What one receiver of MQTT messages should have got and what its ledgers note, as rows that are counted by time.

Counts are exact where a row of Facts lies within the time that is asked for; a row that lies across its edge counts in
proportion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mqlab.findings import Evidence
from mqlab.models.courses import Interval
from mqlab.mqtt.sessions import BEGIN, END
from mqlab.mqtt.share_groups import ShareGroup
from mqlab.mqtt.subscriptions import Subscription

NOWHERE = Interval(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Row:
    """Published messages of which the same is told, as one receiver sees them."""

    sender: str
    party: str | None
    topic: str | None
    """None where the row is by time, of several topics."""
    messages: int
    failed: bool
    qos: int | None
    here: tuple[str, ...]
    """Ledgers of the receiver that note them."""
    copies: int
    """How often these do; 0 is missing."""
    first_at: float
    last_at: float
    first: Evidence
    last: Evidence

    def within(self, since: float, until: float) -> float:
        """How many of its messages were published in that time, if they were spread evenly."""
        if since <= self.first_at and self.last_at <= until:
            return float(self.messages)
        common = min(until, self.last_at) - max(since, self.first_at)
        return self.messages * common / (self.last_at - self.first_at) if common > 0 else 0.0

    def certain(self, since: float, until: float) -> Interval:
        """The same with bounds: where it lies across an edge, its smaller part may be empty, or twice as large."""
        likely = self.within(since, until)
        if likely in (0.0, float(self.messages)):
            return Interval(likely, likely, likely)
        spread = min(likely, self.messages - likely) + 1
        return Interval(max(0.0, likely - spread), likely, min(float(self.messages), likely + spread))


@dataclass(frozen=True, slots=True)
class Account:
    """One receiver: a client, or the members of a share group."""

    name: str
    """Client id, or ``$share/GROUP/FILTER``."""
    group: ShareGroup | None
    subscriptions: tuple[Subscription, ...]
    """Those that are told; a client whose ledger shows that it got something may have none."""
    ledgers: Mapping[str, tuple[str, ...]]
    """Ledgers of each client that has any."""
    rows: tuple[Row, ...]
    """What was published that it should have got, by time."""
    known_until: float
    """Publish time up to which its ledgers tell: what was published later may be on its way."""

    @property
    def clients(self) -> tuple[str, ...]:
        """Client ids, sorted."""
        return tuple(sorted({s.client_id for s in self.subscriptions} | set(self.ledgers)))

    @property
    def published(self) -> int:
        """Messages of which the publisher did not note that they failed."""
        return sum(r.messages for r in self.rows if not r.failed)

    @property
    def received(self) -> int:
        """Different ones of them that it noted."""
        return sum(r.messages for r in self.rows if r.copies and not r.failed)

    @property
    def copies(self) -> int:
        """How often it noted one that it had noted before."""
        return sum(r.messages * (r.copies - 1) for r in self.rows if r.copies > 1)

    def missing(self, since: float = BEGIN, until: float = END) -> Interval:
        """Messages published in that time, and sure to be on no way any more, that it did not note."""
        return total(r.certain(since, min(until, self.known_until)) for r in self.lost)

    @property
    def lost(self) -> tuple[Row, ...]:
        """Rows that it does not note, although their publisher had no failure."""
        return tuple(r for r in self.rows if not r.copies and not r.failed)

    def sent(self, since: float, until: float) -> float:
        """Messages published in that time."""
        return sum(r.within(since, until) for r in self.rows if not r.failed)

    @property
    def counted(self) -> bool:
        """Some ledger tells what it got, and some what was published for it."""
        return bool(self.ledgers) and bool(self.rows)


def total(counts: Iterator[Interval]) -> Interval:
    """Sum, bounds added up."""
    found = NOWHERE
    for count in counts:
        found = found.plus(count)
    return found


def without_ledger(account: Account, since: float, until: float) -> tuple[str, ...]:
    """Clients that may have got messages in that time, connected, and have no ledger."""
    there = {
        s.client_id
        for s in account.subscriptions
        if s.since < until and s.until > since and not any(a <= since and until <= b for a, b in s.away)
    }
    return tuple(sorted(there - set(account.ledgers)))
