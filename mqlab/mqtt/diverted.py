"""What members of an MQTT share group that are away were dealt, counted in up to three ways, as one row.

The ways are ids that no member's ledger notes, stored messages of the broker that grow while members are away, and
queue lengths in lists of clients. The law that they are compared with is ``models.share_dispatch``.
"""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.models.courses import Interval
from mqlab.mqtt.account import Account
from mqlab.mqtt.gauges import Rise
from mqlab.mqtt.share_groups import Phase, ShareGroup
from mqlab.mqtt.subscriptions import Subscription

NEAR = 0.05
"""How far a count may be from the law, besides what the edges make."""
LEAST = 10
"""Messages below which nothing is told from what is on its way."""
SHORTEST = 20.0
"""Seconds of growth that a rate is taken from: two publications of the broker's values, every 10 s by default."""


@dataclass(frozen=True, slots=True)
class Diversion:
    """A share group while members were away."""

    account: Account
    group: ShareGroup
    phases: tuple[Phase, ...]
    """The times in which some member was away."""
    away: tuple[Subscription, ...]
    """Members that are away at the end of the material, or of their sessions."""
    published: float
    """Messages for the group in these times; 0 where no ledger tells."""
    expected: Interval
    """Messages that the law gives to members that were away."""
    missing: Interval | None
    """Messages of these times that no member noted; None where some member that was there has no ledger."""
    grown: Rise | None
    """Stored messages, over a time in which the members stayed the same."""
    grown_expected: float | None
    """By how much the law says that they grow in that time."""
    queued: int | None
    """Messages in the queues of members that were away, and dropped from them, by lists of clients."""
    received: Interval | None
    """Messages that the law gives to members that were away, of all that the broker received."""

    @property
    def counted(self) -> bool:
        """What is missing at the members' ledgers is what the law gives to those that were away."""
        return self.missing is not None and self.expected.likely >= LEAST and self._fits(self.missing)

    @property
    def nothing_missing(self) -> bool:
        """The members' ledgers note all of it, although the law gives a part away."""
        few = max(LEAST, NEAR * self.expected.likely)
        return self.missing is not None and self.expected.likely > few and self.missing.likely < few

    @property
    def grows(self) -> bool:
        """Stored messages grow as the law says."""
        if self.grown is None or self.grown_expected is None or self.grown_expected < LEAST:
            return False
        return abs(self.grown.by - self.grown_expected) <= max(LEAST, 2 * NEAR * self.grown_expected)

    @property
    def listed(self) -> bool:
        """Queues of members that are away hold, with what they dropped, what the law says."""
        if self.queued is None or self.expected.likely < LEAST:
            return False
        return self._fits(Interval(float(self.queued), float(self.queued), float(self.queued)))

    @property
    def count(self) -> Interval | None:
        """How many messages went to members that were away: by ids, else by queues, else by growth and the law.

        None where more is missing than the law gives to them: some of it went elsewhere.
        """
        if self.missing is not None:
            return None if self.missing.low > self.expected.high + self._slack else self.missing
        if self.queued is not None:
            return Interval(float(self.queued), float(self.queued), float(self.queued))
        if self.expected.likely >= LEAST:
            return self.expected
        if self.grows and self.received is not None:
            return self.received
        return None if self.grown is None else self._from_growth(self.grown)

    def _from_growth(self, grown: Rise) -> Interval:
        """Growth goes on at its rate over the phases; the first and the last step between two samples are unsure."""
        seconds = sum(p.until - p.since for p in self.phases)
        likely = grown.per_second * seconds
        spread = NEAR * likely + grown.per_second * SHORTEST / 2
        return Interval(max(0.0, likely - spread), likely, likely + spread)

    def _fits(self, count: Interval) -> bool:
        return count.high >= self.expected.low - self._slack and count.low <= self.expected.high + self._slack

    @property
    def _slack(self) -> float:
        return NEAR * self.expected.likely + 2

    @property
    def alone(self) -> tuple[Phase, ...]:
        """The times in which nobody else was a member."""
        return tuple(p for p in self.phases if len(p.dead) == len(p.members))
