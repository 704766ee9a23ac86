"""Rows of the way of messages from an MQTT broker over a bridge to a log such as Kafka's, stage by stage.

A *stage* is a place that messages reach one after the other: published, acknowledged, taken by the bridge, stored,
handled. A *gap* is what reached one stage and not the next, and where it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mqlab.findings import Evidence


class Step(StrEnum):
    """Stages in their order."""

    PUBLISHED = "published"
    ACKNOWLEDGED = "acknowledged"
    """By the MQTT broker; QoS 0 has no acknowledgement and counts where the publisher noted no failure."""
    TAKEN = "taken"
    """Noted by a process of the bridge; by any receiver where there is no bridge."""
    STORED = "stored"
    HANDLED = "handled"


class Whereabouts(StrEnum):
    """Where messages are that did not reach the next stage."""

    REFUSED = "refused"
    """Whoever sent them noted that it failed."""
    QUEUED = "queued"
    """In the queue that the MQTT broker keeps for a session whose client is away."""
    DROPPED = "dropped"
    """The MQTT broker counted them as thrown away."""
    PENDING = "pending"
    """In the log, not yet read."""
    AFTER_END = "after the end"
    """They came after the last thing that the next ledger notes."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Share:
    """What one process or ledger had of a stage."""

    who: str
    messages: int
    place: str
    """Its ledger or log."""


@dataclass(frozen=True, slots=True)
class Stage:
    """How many messages reached one stage; None where the material does not say."""

    step: Step
    who: str
    """Topic, group or client ids; empty where nobody in particular."""
    messages: int | None
    low: int | None
    high: int | None
    """Interval in which the number lies; both are ``messages`` where it was counted."""
    how: str
    """How it is known, in a few words."""
    since: float | None = None
    until: float | None = None
    again: int = 0
    """Copies beyond the first that were noted here."""
    shares: tuple[Share, ...] = ()
    evidence: tuple[Evidence, ...] = ()

    @property
    def exact(self) -> bool:
        """Counted, not bounded."""
        return self.messages is not None and self.low == self.messages == self.high


@dataclass(frozen=True, slots=True)
class Gap:
    """Messages that reached one stage and not the next one."""

    after: Step
    """The last stage that they reached."""
    before: Step
    where: Whereabouts
    who: str
    """Client id, group or ledger; empty where nothing names one."""
    messages: int
    low: int
    high: int
    how: str
    since: float | None = None
    until: float | None = None
    """When the first and the last of them were published."""
    away_since: float | None = None
    """Since when the client of the queue has been away."""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """One way from publishers to those who handle their messages."""

    system: str | None
    """Of the log behind the bridge: kafka or rocketmq; None where messages stay with MQTT."""
    topic: str | None
    """Of that log."""
    bridge: tuple[str, ...]
    """Client ids of its processes, else their ledgers; sorted; empty where nothing tells which receiver it is."""
    by: str
    """``ids``: the same messages are followed; ``counts``: only how many."""
    stages: tuple[Stage, ...]
    gaps: tuple[Gap, ...]
    notes: tuple[str, ...] = ()
    """What has to be known to read the numbers, one sentence each."""

    def stage(self, step: Step) -> Stage | None:
        """The first stage of this kind."""
        return next((one for one in self.stages if one.step is step), None)
