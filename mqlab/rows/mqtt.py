"""Rows of Facts about MQTT messages: who published them, who noted them as received, and how often.

A message is told apart by the id that its ledgers note. Ledgers of other systems that note the same ids, such as that
of a Kafka consumer behind a bridge, are followed, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.findings import Evidence


@dataclass(frozen=True, slots=True)
class Flow:
    """Messages that one ledger notes as published one after the other, of which the same is told; LEDGER, thinned.

    Where ledgers change too often for that, the messages of ten seconds of which the same is told.
    """

    sender: str | None
    """Ledger of the publisher; None where only receivers note the messages."""
    party: str | None
    """Whose ledger that is."""
    messages: int
    failed: bool
    """The publisher noted that it could not send them, or got no answer."""
    qos: int | None
    """As published; else as first received."""
    received: tuple[tuple[str, int], ...]
    """Ledgers that note each of them as received, forwarded or consumed, sorted, and how often each does."""
    first_at: float
    last_at: float
    """When the first and the last of them were published; else received for the first time."""
    first_key: str
    last_key: str
    first: Evidence
    last: Evidence


@dataclass(frozen=True, slots=True)
class TopicFlow:
    """The same by topic instead of time: all messages of one topic and publisher of which the same is told."""

    topic: str | None
    """As published; None for all topics that have no row of their own, because there are too many."""
    topics: int
    """How many topics: 1 but for the last."""
    sender: str | None
    party: str | None
    messages: int
    failed: bool
    qos: int | None
    received: tuple[tuple[str, int], ...]
    first_at: float
    last_at: float
    first: Evidence
    last: Evidence


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one ledger notes within ten seconds, of any role; LEDGER, thinned."""

    at: float
    """Begin of the ten seconds."""
    source: str
    role: str
    """sent, acked, failed, received, consumed or processed."""
    rows: int
    topics: int
    """Different topics among them."""
    dup: int
    """Rows with the DUP flag."""
    retained: int
    """Rows with the RETAIN flag."""
    again: int
    """Rows whose id this ledger had noted before."""
    again_seconds: float
    """The longest time since an id was first noted, among those; 0 where there are none."""
    line: int
    """The first of them."""
    again_line: int | None
    """The first of those that came again."""
    text: str = ""
    again_text: str = ""
    """What stands there."""

    def first(self, why: str) -> Evidence:
        """Where its first row stands."""
        return Evidence(self.source, self.line, self.text, why)

    def repeated(self, why: str) -> Evidence | None:
        """Where the first row stands whose id came again."""
        return None if self.again_line is None else Evidence(self.source, self.again_line, self.again_text, why)


@dataclass(frozen=True, slots=True)
class Passage:
    """How long messages took from one ledger to another one, by the clocks of both."""

    sender: str
    receiver: str
    messages: int
    least: float
    median: float
    most: float
    """Seconds; negative where the clocks differ."""
    at: float
    """When the message that took least was sent."""
