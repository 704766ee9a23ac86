"""One queue of an MQTT session that was full: what says so, and what it lost, by ids."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.facts import Episode
from mqlab.models.courses import Interval
from mqlab.models.session_queue import NEWEST, OLDEST, Queue
from mqlab.mqtt import lists
from mqlab.mqtt.account import Account, Row, total
from mqlab.mqtt.sessions import END, Session, Span
from mqlab.mqtt.subscriptions import SKEW
from mqlab.rows.groups import Client

LEAST = 10
"""Messages below which nothing is told from what is on its way."""
NEAR = 0.05
"""How far two counts of one loss may differ."""
EDGE = 1.5
"""Seconds by which an edge may be off: brokers print whole seconds, and clocks differ."""
MIXED = "scattered"
_WHOLE = 0.9
"""Share of the survivors that lies before or after all that is lost where the queue kept one end."""


@dataclass(frozen=True, slots=True)
class QueueCase:
    """One client's queue, or that of a share group's living members."""

    client_id: str
    broker: str | None
    queue: Queue | None
    lines: tuple[Episode, ...]
    """With which the broker tells that the queue dropped."""
    row: Client | None
    """The last list about it."""
    account: Account | None
    session: Session | None
    """The last of the client's sessions; None where no connection is known."""
    counter: float | None
    """How far the broker's own count of dropped messages rose, for all its clients."""

    @property
    def away(self) -> tuple[Span, ...]:
        """When the session was kept while its client was not connected."""
        return self.session.away if self.session is not None else ()

    @property
    def was_away(self) -> bool:
        """The queue dropped while its client was away: by the lines, else by what is lost."""
        moments = [e.first_at for e in self.lines if e.first_at is not None]
        lost = self.account.lost if self.account is not None else ()
        moments = moments or [(r.first_at + r.last_at) / 2 for r in lost]
        inside = sum(any(a - SKEW <= at <= b + SKEW for a, b in self.away) for at in moments)
        listed = self.row is not None and lists.is_away(self.row)
        return listed if not moments else 2 * inside > len(moments)

    @property
    def silent(self) -> bool:
        """Its ledgers note nothing any more when its queue drops: nobody reads it, though no line says that it left."""
        own = self.account.ledgers.get(self.client_id, ()) if self.account is not None else ()
        at = min((e.first_at for e in self.lines if e.first_at is not None), default=None)
        got = [r.last_at for r in self.account.rows if set(own) & set(r.here)] if self.account is not None else []
        return at is not None and bool(got) and max(got) < at - EDGE and not self.was_away

    @property
    def flooded(self) -> bool:
        """Most of what it got it had got before: copies fill the queue, and who makes them is the cause."""
        return self.account is not None and self.account.copies > self.account.received

    @property
    def missing(self) -> Interval | None:
        """Messages that it did not note; None where no ledger tells."""
        own = self.account
        if own is None or not own.counted or any(client not in own.ledgers for client in own.clients):
            return None
        return own.missing()

    @property
    def waiting(self) -> float:
        """How many of the missing ones are in the queue of a client that did not come back."""
        if not self.away or self.away[-1][1] < END or self.account is None:
            return 0.0
        since = self.away[-1][0] - SKEW
        late = total(r.certain(since, END) for r in self.account.lost).likely
        limit = self.queue.limit if self.queue is not None else None
        return late if limit is None else min(late, float(limit))

    @property
    def lost(self) -> float | None:
        """Missing messages that are in no queue either."""
        return None if self.missing is None else max(0.0, self.missing.likely - self.waiting)

    @property
    def span(self) -> Span | None:
        """When the messages that are lost were published, from the first to the last."""
        lost = self.account.lost if self.account is not None and self.missing is not None else ()
        if lost:
            return min(r.first_at for r in lost), max(r.last_at for r in lost)
        moments = [at for e in self.lines for at in (e.first_at, e.last_at) if at is not None]
        return (min(moments), max(moments)) if moments else None

    @property
    def survivors(self) -> float:
        """Messages that were published while the client was away and came to it afterwards.

        The limit, where they differ by no more than a broker that prints whole seconds makes.
        """
        got = [r for r in self.account.rows if r.copies] if self.account is not None else []
        found = sum(r.within(a, b) for r in got for a, b in self.away)
        limit = self.queue.limit if self.queue is not None else None
        edges = sum(r.within(a - EDGE, a + EDGE) for r in got for a, _ in self.away)
        return float(limit) if limit is not None and abs(found - limit) <= edges / 2 else found

    @property
    def kept(self) -> str | None:
        """Which end of an absence survived: oldest, newest or scattered; None where nothing tells."""
        if self.account is None or not self.was_away:
            return None
        inside = [r for r in self.account.rows if any(r.within(a, b) for a, b in self.away)]
        got, lost = [r for r in inside if r.copies], [r for r in inside if not r.copies]
        return _end(got, lost) if got and lost else None


def _end(got: list[Row], lost: list[Row]) -> str:
    begin, end = min(r.first_at for r in lost), max(r.last_at for r in lost)
    every = sum(r.messages for r in got)
    if sum(r.within(float("-inf"), begin) for r in got) >= _WHOLE * every:
        return OLDEST
    return NEWEST if sum(r.within(end, END) for r in got) >= _WHOLE * every else MIXED
