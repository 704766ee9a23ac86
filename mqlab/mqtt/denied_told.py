"""What lines tell of one MQTT client that was refused: its publishes, or one filter, and what it lost with it."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.facts import Episode
from mqlab.rows.mqtt import TopicFlow

PUBLISH, SUBSCRIBE = "publish-denied", "subscribe-denied"
LOOP = 3
"""Refusals of one filter from which closed connections are no chance."""
NEAR = 0.05
"""How far two counts of refusals may differ."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of one client: its refused publishes, or one filter that it was refused."""

    kind: str
    client_id: str
    lines: tuple[Episode, ...]
    filter: str | None
    """Of a refused subscription."""
    flows: tuple[TopicFlow, ...]
    """Messages that were published to these topics, by ledgers."""
    ledgers: frozenset[str]
    """The receivers' ledgers that would have them; those of the client itself for a subscription."""
    closed: int
    """Connections of the client that the broker closed for it."""

    @property
    def count(self) -> int:
        """How often it was refused, by lines."""
        return sum(e.count for e in self.lines)

    @property
    def closed_each(self) -> bool:
        """Lines of their own tell that as many connections were closed, and the client came again to be refused."""
        return self.kind == SUBSCRIBE and self.count >= LOOP and abs(self.closed - self.count) <= NEAR * self.count

    @property
    def thrown_out(self) -> bool:
        """The broker closes the connection: publishes get no answer, and the client sends them again."""
        return self.closed > 0

    @property
    def messages(self) -> int:
        """Messages of these topics of which the publisher got no refusal."""
        return sum(f.messages for f in self._meant)

    @property
    def failed(self) -> int:
        """Those that it noted as failed."""
        return sum(f.messages for f in self.flows if f.failed)

    @property
    def _meant(self) -> tuple[TopicFlow, ...]:
        unanswered = self.kind == PUBLISH and self.thrown_out
        return tuple(f for f in self.flows if unanswered or not f.failed)

    @property
    def agrees(self) -> bool:
        """Messages that came to none of the ledgers are all of these topics, or as many as lines tell."""
        if not self.nowhere or (self.kind == SUBSCRIBE and not self.ledgers):
            return self.closed_each
        as_many = abs(self.nowhere - self.count) <= max(2.0, NEAR * self.nowhere)
        return self.kind == SUBSCRIBE or as_many or (bool(self.ledgers) and self.nowhere == self.messages)

    @property
    def nowhere(self) -> int:
        """Messages that came to none of the ledgers."""
        return sum(f.messages for f in self._meant if not self.ledgers & dict(f.received).keys())
