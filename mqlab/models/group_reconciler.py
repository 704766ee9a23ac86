"""The coordinator of a group of the consumer protocol (KIP-848): it deals at once, and nobody waits for anybody.

Whoever comes or goes bumps the epoch of the group. A member takes its new partitions with its next poll, as far as
their owners have let go of them; it lets go of its own with its next poll too.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from mqlab.models.group_coordinator import dealt
from mqlab.models.group_terms import Begun, Cause, Course, Partition

if TYPE_CHECKING:
    from mqlab.models.group_clock import Clock
    from mqlab.models.group_consumer import Consumer
    from mqlab.models.group_ledger import Ledger

_ASSIGNORS = {"range": "range"}
"""The server's assignors by the client's that deal alike; its default, uniform, keeps what it can as sticky does."""


class Reconciler:
    """State of one group."""

    def __init__(self, course: Course, clock: Clock, ledger: Ledger) -> None:
        self._course, self._clock, self._ledger = course, clock, ledger
        self._members: dict[str, Consumer] = {}
        self._targets: dict[str, tuple[Partition, ...]] = {}
        self._owners: dict[Partition, str] = {}

    def seat(self, consumers: list[Consumer]) -> None:
        """Begin with a group of *consumers*."""
        self._members = {each.key: each for each in consumers}
        self._deal()
        for each in consumers:
            each.assign(self._course.since, each.held)

    def knows(self, consumer: Consumer) -> bool:
        """Whether it is a member."""
        return consumer.key in self._members

    def awaits(self, _consumer: Consumer, _now: float) -> bool:
        """Never: no member has to join again."""
        return False

    def commits(self, consumer: Consumer) -> bool:
        """Whether it can commit: who has left does so without an epoch, which an empty group takes."""
        return self.knows(consumer) or not self._members

    def join(self, consumer: Consumer, now: float, cause: Cause = Cause.JOIN) -> None:
        """*consumer* joins, or comes back."""
        if consumer.key not in self._members:
            self._members[consumer.key] = consumer
            self._bump(now, cause, consumer)
        consumer.assign(now, consumer.held)

    def leave(self, consumer: Consumer, now: float, cause: Cause) -> None:
        """*consumer* is no member any more."""
        if self._members.pop(consumer.key, None) is not None:
            self._owners = {p: key for p, key in self._owners.items() if key != consumer.key}
            consumer.held = ()
            self._bump(now, cause, consumer)

    def settle(self, consumer: Consumer, now: float) -> None:
        """*consumer* lets go of what goes to others, and takes what they have let go of."""
        key, wanted = consumer.key, self._targets[consumer.key]
        free = tuple(p for p in wanted if self._owners.get(p, key) == key)
        self._owners = {p: owner for p, owner in self._owners.items() if owner != key} | dict.fromkeys(free, key)
        known = set(consumer.held)
        if consumer.hold(free):
            self._tell(now)
        if set(free) != known:
            consumer.beats_from = now

    def _bump(self, now: float, cause: Cause, consumer: Consumer) -> None:
        self._ledger.rebalances.append(Begun(now, cause, consumer.name))
        self._deal()
        self._tell(now)

    def _deal(self) -> None:
        self._targets = {}
        if self._members:
            assignor = _ASSIGNORS.get(self._course.assignor, "sticky")
            self._targets = dict(dealt(self._course, assignor, self._members))

    def _tell(self, now: float) -> None:
        for each in self._members.values():
            every = each.settings.heartbeat
            behind = ceil((now - each.beats_from) / every) * every if every > 0 else now - each.beats_from
            self._clock.at(max(now, each.beats_from + behind), each.hear)
