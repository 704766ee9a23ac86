"""Rows of the delivery audit: what became of the messages of a topic, stage by stage, and what was lost or doubled.

Terms: a message is *lost* where it was acknowledged and is gone from the log, or where a group committed past it and
never handled it; *pending* where it is only not yet read; *doubled* where the log or a group has it more than once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from mqlab.findings import Evidence
from mqlab.rows import Fate
from mqlab.words import room

_ways = room("delivery-ways")


class Side(Enum):
    """Where a message was lost or doubled."""

    PRODUCER = "producer"
    """It was refused or given up and never entered the log."""
    LOG = "log"
    GROUP = "group"


class Outcome(Enum):
    """What the audit of a topic says."""

    COMPLETE = "nothing lost"
    LOST = "lost"
    DOUBLED = "doubled"
    LOST_AND_DOUBLED = "lost and doubled"
    IN_LOG = "nothing lost from the log"
    """What a group handled is not told of every message."""
    UNKNOWN = "cannot say"


class Gap(Enum):
    """Where in a member's ledger messages are missing that it had committed."""

    TAIL = auto()
    """Right up to the committed offset, as a queue in memory is lost."""
    HOLES = auto()
    """Later ones are there."""
    FAILED = auto()
    """Its application says that it failed to handle them, and it went on."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Messages of one partition that one mechanism lost."""

    incident: str | None
    """Slug of the mechanism; None where nothing in the material tells it."""
    side: Side
    topic: str
    queue: str
    group: str | None
    records: int
    least: int
    most: int
    """Interval in which the number lies; both are ``records`` where it was counted."""
    first_offset: int | None
    last_offset: int | None
    since: float | None
    until: float | None
    """When the messages were acknowledged, first and last."""
    how: str
    """How they were counted, in a few words."""
    evidence: tuple[Evidence, ...] = ()
    gap: Gap | None = None
    """Of messages that a group committed."""

    @property
    def exact(self) -> bool:
        """Counted, not estimated."""
        return self.least == self.records == self.most


@dataclass(frozen=True, slots=True)
class Doubled:
    """Messages of one partition that one mechanism doubled."""

    incident: str | None
    side: Side
    topic: str
    queue: str
    group: str | None
    records: int
    """Messages that are there more than once."""
    extra: int
    """Copies too many."""
    least: int
    most: int
    """Interval in which ``extra`` lies."""
    since: float | None
    until: float | None
    how: str
    evidence: tuple[Evidence, ...] = ()
    at_changes: int = 0
    """Copies of these that came while members changed, who take over what is not yet committed."""


@dataclass(frozen=True, slots=True)
class LogRow:
    """One partition from the producer to the log; None where the material does not say."""

    topic: str
    queue: str
    sent: int | None
    acked: int | None
    """Messages that were acknowledged at least once."""
    failed: int | None
    """Messages that the producer was told of as failed, and that were not acknowledged at another try."""
    failed_stored: int | None
    """Of those, the ones that are in the log all the same."""
    unanswered: int | None
    """Sent, neither acknowledged nor reported as failed."""
    stored: int | None
    """Messages that the log is known to hold or to have held: at least, but for ``held_all``."""
    lost: int
    doubled: int
    start: int | None
    end: int | None
    """Log start and end, as last seen."""

    @property
    def held_all(self) -> bool:
        """``stored`` is all that the log ever held, not only what somebody noted.

        Each message that was sent was acknowledged, or places of the log, from its begin to its end, are as many.
        """
        answered = self.sent is not None and self.sent == self.acked
        places = None if self.start or self.end is None else self.end + self.lost - self.doubled
        return answered or (places is not None and places == self.stored)


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One partition from the log to a group; None where the material does not say."""

    group: str
    topic: str
    queue: str
    handled: int | None
    """Different messages that the group's ledgers note."""
    times: int | None
    """How often they note one, in all."""
    committed: int | None
    """The group's position, as last seen."""
    pending: int | None
    """Messages at or behind the position that were not handled: lag."""
    lost: int
    doubled: int
    unknown: int
    """Messages before the position that no ledger notes while the material does not tell whether it should."""
    by_hand: int = 0
    """Messages that were left out: somebody set the position past them."""
    aside: int = 0
    """Messages that could not be handled and stand in a topic for such."""
    earlier: int = 0
    """Messages before the end at which the group was told to begin."""
    filters: tuple[str, ...] = ()
    """The expressions of members that all read a part of the topic only."""


@dataclass(frozen=True, slots=True)
class Audit:
    """One topic."""

    topic: str
    outcome: Outcome
    statement: str
    """Two sentences: what was counted, and what that means."""
    log: tuple[LogRow, ...]
    groups: tuple[GroupRow, ...]
    losses: tuple[Loss, ...]
    doubled: tuple[Doubled, ...]
    missing: tuple[str, ...]
    """What would have to be fetched for certainty."""
    looked: tuple[float, float] | None = None
    """When the first and the last of the offsets were seen that stand there; None where none was."""


def doubled(
    place: tuple[str, str, str],
    counts: tuple[int, int],
    incident: str | None,
    shown: Sequence[Fate],
    how: str = "ledgers-doubled",
) -> Iterator[Doubled]:
    """The row of one *place*, unless nothing was handled too often.

    When that was is not known: a run of messages tells when it was written and first handled.

    Args:
        place: group, topic and queue.
        counts: messages, and how many times too many they were handled in all.
        incident: slug of the class that did it.
        shown: runs of such messages.
        how: key of the words for how they were counted.
    """
    group, topic, queue = place
    records, extra = counts
    if extra:
        yield Doubled(
            incident, Side.GROUP, topic, queue, group, records, extra, extra, extra,
            None, None, _ways(how), tuple(fate.first for fate in shown[:2]),
        )  # fmt: skip
