"""What a simulated consumer asks of its coordinator, whatever the protocol of the group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from mqlab.models.group_terms import Cause

if TYPE_CHECKING:
    from mqlab.models.group_consumer import Consumer


class Seats(Protocol):
    """A coordinator, as its members see it."""

    def knows(self, consumer: Consumer, /) -> bool:
        """Whether it is a member."""

    def awaits(self, consumer: Consumer, now: float, /) -> bool:
        """Whether a rebalance runs of which it has heard, and that it has not joined."""

    def commits(self, consumer: Consumer, /) -> bool:
        """Whether it can commit now."""

    def join(self, consumer: Consumer, now: float, /, cause: Cause = Cause.JOIN) -> None:
        """It joins, or joins again."""

    def leave(self, consumer: Consumer, now: float, cause: Cause, /) -> None:
        """It is no member any more."""

    def settle(self, consumer: Consumer, now: float, /) -> None:
        """It takes over what it was given, before it polls."""
