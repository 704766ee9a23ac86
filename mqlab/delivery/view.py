"""The delivery audit of one topic for the eye: its rows, its leaders and replicas by time, offsets by time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mqlab.delivery.rows import Audit
from mqlab.facts import span

LEADER, FOLLOWER, CUT = "starts as leader", "starts as follower", "its log is cut"


@dataclass(frozen=True, slots=True)
class Reign:
    """One broker leads one partition, from one election to the next."""

    queue: str
    broker: str
    epoch: int | None
    since: float
    until: float
    """The next election, or the end of what is known."""
    isr: tuple[str, ...]
    """In-sync replicas as the election tells them, sorted."""
    high_watermark: int | None
    unclean: bool
    place: str
    """``source:line``."""


@dataclass(frozen=True, slots=True)
class InSync:
    """One broker is among the in-sync replicas of one partition."""

    queue: str
    broker: str
    since: float
    until: float


@dataclass(frozen=True, slots=True)
class Level:
    """Where the log of one replica ended at one moment."""

    queue: str
    broker: str
    at: float
    offset: int
    what: str
    """``LEADER``, ``FOLLOWER`` or ``CUT``."""
    place: str


@dataclass(frozen=True, slots=True)
class Acked:
    """Messages that were acknowledged one after the other."""

    since: float
    until: float
    first_offset: int
    last_offset: int
    messages: int
    lost: bool
    place: str


@dataclass(frozen=True, slots=True)
class Offsets:
    """Offsets of one partition by time; pairs are (at, offset)."""

    queue: str
    acked: tuple[Acked, ...] = ()
    ends: tuple[tuple[float, int], ...] = ()
    """Log end as groups' positions and dumps saw it."""
    starts: tuple[tuple[float, int], ...] = ()
    """Log start; what lies below it is deleted."""
    committed: Mapping[str, tuple[tuple[float, int], ...]] = field(default_factory=dict)
    """By group."""


@dataclass(frozen=True, slots=True)
class AuditView:
    """Everything that is drawn about one topic."""

    audit: Audit | None
    """None where the material names no topic of Kafka."""
    reigns: tuple[Reign, ...] = ()
    in_sync: tuple[InSync, ...] = ()
    levels: tuple[Level, ...] = ()
    offsets: tuple[Offsets, ...] = ()

    @property
    def topic(self) -> str:
        """Its name, or words for it."""
        return self.audit.topic if self.audit else "a topic of Kafka"

    @property
    def window(self) -> tuple[float, float] | None:
        """From the first to the last thing that is known of its replicas."""
        bars: tuple[Reign | InSync, ...] = (*self.reigns, *self.in_sync)
        first, last = span([*(at for one in bars for at in (one.since, one.until)), *(one.at for one in self.levels)])
        return None if first is None or last is None else (first, last)
