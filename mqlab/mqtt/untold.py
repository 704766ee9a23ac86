"""Sessions that are away and whose subscriptions nobody tells: what the broker's own counts say that they get.

mosquitto publishes how many shared subscriptions there are. Where there are none, what a session gets is its own; where
there are, stored messages that grow by (sessions away) of (shared subscriptions) of what comes in are their shares.
"""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.models.share_dispatch import fraction
from mqlab.mqtt import gauges, software
from mqlab.mqtt.gauges import Rise
from mqlab.mqtt.sessions import Session, left_behind
from mqlab.mqtt.subscriptions import subscriptions

LEAST = 10
"""Messages below which nothing is told from what is on its way."""
NEAR = 0.1
"""How far a growth may be from the law: the broker publishes its values every ten seconds by default."""
LASTING = 60.0
"""Seconds that a client must be away: one that is started again is back sooner, and at the end all may be stopped."""
_FULL = 0.95
"""Share of what queues hold up to which they grow."""


@dataclass(frozen=True, slots=True)
class Untold:
    """The sessions of one broker that were away at the end, with nothing told of their subscriptions."""

    broker: str | None
    sessions: tuple[Session, ...]
    shared: int | None
    """Shared subscriptions at the broker; None where it does not tell."""
    grown: Rise | None
    """Stored messages since the last of them went away, as long as their queues had room."""
    came: float | None
    """Messages that the broker received meanwhile."""
    waiting: float
    """How many more messages the broker stored at the end than when the last of them went away."""

    @property
    def dealt(self) -> bool:
        """Stored messages grow by the share of these sessions among the shared subscriptions."""
        if self.shared is None or self.shared < len(self.sessions) + 1 or not self._grew():
            return False
        return self._near((self.came or 0.0) * fraction(self.shared, len(self.sessions)))

    @property
    def own(self) -> bool:
        """Nobody shares anything, and stored messages grow; so the sessions get it for themselves."""
        return self.shared == 0 and self._grew()

    @property
    def all_of_it(self) -> bool:
        """Stored messages grow by all that the broker receives."""
        return self._grew() and self._near(self.came or 0.0)

    def _grew(self) -> bool:
        return self.grown is not None and self.grown.by >= LEAST and self.came is not None

    def _near(self, expected: float) -> bool:
        grown = self.grown.by if self.grown is not None else 0.0
        return abs(grown - expected) <= max(LEAST, NEAR * expected)


@per_facts
def untold(facts: Facts) -> tuple[Untold, ...]:
    """The brokers with such sessions, of clients that were away for longer than a restart, by name."""
    known = {s.client_id for s in subscriptions(facts)}
    end = gauges.end_of(facts)
    gone = [s for s in left_behind(facts) if s.client_id not in known and end - (s.last.until or end) >= LASTING]
    return tuple(
        _of(facts, broker, tuple(s for s in gone if s.broker == broker))
        for broker in sorted({s.broker for s in gone}, key=lambda name: name or "")
    )


def _of(facts: Facts, broker: str | None, own: tuple[Session, ...]) -> Untold:
    since = max(s.last.until or 0.0 for s in own)
    shared = gauges.value(gauges.gauge(facts, "mqtt.shared_subscriptions", broker), float("inf"))
    grown = _growth(facts, broker, since, len(own))
    counter = gauges.gauge(facts, "mqtt.publish_received", broker)
    came = None if grown is None else gauges.increase(counter, grown.since, grown.until)
    stored = gauges.gauge(facts, "mqtt.stored_messages", broker)
    waiting = (gauges.value(stored, float("inf")) or 0.0) - (gauges.value(stored, since) or 0.0)
    return Untold(broker, own, None if shared is None else int(shared), grown, came, max(0.0, waiting))


def _growth(facts: Facts, broker: str | None, since: float, sessions: int) -> Rise | None:
    stored = gauges.gauge(facts, "mqtt.stored_messages", broker)
    base = gauges.value(stored, since)
    if stored is None or base is None:
        return None
    queue = software.queue(facts, broker)
    room = float("inf") if queue is None or queue.limit is None else queue.limit * sessions * _FULL
    later = [at for at, value in stored.points if at >= since and value - base < room]
    full = [at for at, value in stored.points if at >= since and value - base >= room]
    until = max((at for at in later if not full or at < full[0]), default=since)
    return gauges.rise(stored, since, until)
