"""Rebalances of Kafka's consumer groups and the lives of their members, as plain data."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum

from mqlab import words
from mqlab.findings import Evidence
from mqlab.shared.restarts import CLOCKS
from mqlab.words import Text

say = words.room("rebalances")


class _Named(Enum):
    """A kind that tables and figures show."""

    @property
    def text(self) -> Text:
        """What it is called."""
        return say("kind", of=self)

    def __str__(self) -> str:
        """What it is called."""
        return self.text


class Trigger(_Named):
    """What made the coordinator begin a new generation, or bump the epoch of a KIP-848 group."""

    JOIN = "join"
    LEAVE = "leave"
    POLL_TIMEOUT = "poll-timeout"
    """A leave that the client sent because its application did not poll for max.poll.interval.ms."""
    HEARTBEAT_EXPIRY = "heartbeat-expiry"
    SUBSCRIPTION = "subscription"
    COORDINATOR_MOVE = "coordinator-move"
    STATIC_FENCED = "static-fenced"
    FOLLOW_UP = "follow-up"
    """The second half of a cooperative rebalance: partitions that were revoked are given to their new owners."""
    UNKNOWN = "unknown"


class Behind(_Named):
    """What is behind the trigger, in the life of the member that caused it."""

    POLL_TIMEOUT = "poll-timeout"
    """It left, or comes again, because its application did not poll in time."""
    EXPIRY = "heartbeat-expiry"
    """It was expelled, or comes again after it was."""
    START = "start"
    """Its process started, and no member of that name had been there before: the first start, or more members."""
    RESTART = "restart"
    """Its process stopped in good order and came again, or comes again after that."""
    STOP = "stop"
    """Its process stopped in good order and did not come again."""
    CRASH = "crash"
    """Its process died without a word or closed after an error, or comes again after that."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Rebalance:
    """One generation that a coordinator began; of a KIP-848 group, one bump of its epoch."""

    group: str
    started: float
    stabilised: float | None
    """When the members had their partitions again; None where that is not told, or nobody was left."""
    generation: int | None
    """The generation, or epoch, that it led to."""
    trigger: Trigger
    behind: Behind
    reason: str
    """The log's own words; empty where it has none."""
    client_id: str | None
    """Who caused it: the client, without the random part of its member id."""
    member_id: str | None
    host: str | None
    inferred: bool
    """The trigger or what is behind it is concluded from other lines than that of the rebalance itself."""
    because: str
    """How it is known, in a few words."""
    story: int
    """Number of the story it belongs to, from 1 in each group: a cooperative rebalance and its follow-ups share one."""
    members_before: int | None
    members_after: int | None
    moved: int | None
    """Partitions whose owner is another one than before."""
    standstill: float | None
    """Seconds in which members could not work for it: from the start until they had their partitions again."""
    delayed: int | None
    """Records that came in while the group stood still."""
    repeated: int | None
    """Distinct records that were handled before it and handed out again after it, however often."""
    evidence: tuple[Evidence, ...]

    @property
    def what(self) -> Text:
        """What began it, and what is behind it where that is known and something else."""
        other = self.behind if self.behind.value not in (self.trigger.value, Behind.UNKNOWN.value) else None
        return say("what", trigger=self.trigger, behind=other)

    @property
    def empty(self) -> bool:
        """Nobody was left in the group."""
        return self.members_after == 0

    def wanted_by_others(self, clients: Collection[str]) -> bool:
        """Somebody started or stopped another member than *clients*: it is no consequence of what became of these."""
        return self.behind in (Behind.START, Behind.STOP, Behind.RESTART) and self.client_id not in (None, *clients)


RESOLUTION = 1.0
"""Seconds that the clock of a log may resolve: lines of one log that belong together are no further apart."""
HEARD = 3.0 + CLOCKS
"""Seconds in which a member hears of what became of it, and joins again: with its next heartbeat, which comes after
heartbeat.interval.ms (3000)."""
ONCE = 10.0
"""Seconds within which client and coordinator tell of one thing, and a client in several lines: nobody who is back ends
again within the shortest default of session.timeout.ms (10000 before 3.0)."""


class End(_Named):
    """How the life of a member ended."""

    LEFT = "left"
    POLL_TIMEOUT = "poll-timeout"
    EXPIRED = "expired"
    DROPPED = "dropped"
    """It did not come again within the rebalance timeout."""
    FENCED = "fenced"
    OPEN = "open"
    """It has not ended, as far as the material tells."""


@dataclass(eq=False)
class Span:
    """One life as far as lines name the member."""

    member_id: str
    client_id: str
    host: str | None = None
    static: bool = False
    since: float | None = None
    until: float | None = None
    end: End = End.OPEN
    reason: str = ""
    seen: float = 0.0
    """The first line that names it."""
    evidence: list[Evidence] = field(default_factory=list)
    sure: bool = False
    """The coordinator told of the end; it knows when, and the clock of the client may differ."""


@dataclass(frozen=True, slots=True)
class Life:
    """One member of a group, from its join to its end: one member id."""

    group: str
    client_id: str
    member_id: str
    host: str | None
    static: bool
    since: float | None
    """None where it was there before the material begins."""
    until: float | None
    """None where it did not end."""
    end: End
    reason: str
    """The client's reason for leaving, where a log has it."""
    process_started: float | None
    """When the process began that joined, if it did so for this life: a new process, no rejoin of an old one."""
    process_stopped: float | None
    """When its process said that it stops, or was seen to exit."""
    silent_since: float | None
    """The last sign of life before its end, where logs or metrics show a silence before it."""
    evidence: tuple[Evidence, ...]
    because: str = ""
    """How its end is known where no line says it outright; empty where one does."""
    wordless: bool = False
    """Its process exited and had said nothing before."""
    went_on: bool = False
    """The coordinator expelled it while its process went on."""
    failed: str = ""
    """How it is known that its process failed though it closed in good order; empty where nothing tells."""
    before: Life | None = field(default=None, compare=False, repr=False)
    """The life of the same client before it, where one is known."""
