"""What a consumer's way to commit costs, and what a crash leaves: records that are handled twice, or never.

A loop polls, works the records off and commits the positions behind them. A poll comes in turn with its commit:

- ``commitSync`` waits for the answer, so that each poll takes one round trip longer (``KafkaConsumer.commitSync``).
- ``commitAsync`` sends the request and returns (``ConsumerCoordinator.doCommitOffsetsAsync``, ``pollNoWakeup``), so
  that the round trip passes while the next poll is worked off. Requests of one connection are answered one after the
  other (``SocketServer`` reads the next one when the answer is out): where polls are faster than that, answers fall
  behind, and the last one comes that much later. ``close()`` waits for them (``ConsumerCoordinator.close``).
- mixed: asynchronous for each poll, and one ``commitSync`` when partitions are revoked and before ``close()``.
- automatic: ``poll()`` commits the positions of the polls before, where ``auto.commit.interval.ms`` have passed since
  it last did (``maybeAutoCommitOffsetsAsync``); revoking and closing commit at once (``onJoinPrepare``, ``close``).

A commit is of the *position*, the end of what ``poll()`` returned, not of what was worked off. In a loop of one thread
the two are the same; records that were handed to other threads and wait there are committed all the same.
A process that dies commits nothing more; requests that it had sent count or not, so that there are two bounds.
A process that closes its consumer in good order, or whose partitions are revoked, leaves nothing behind that it has
worked off: asynchronous commits are answered before the member leaves, and before it joins again. What other threads
had not begun is lost then, all of it: the positions behind it are committed, whatever the way, and lag shows nothing.
A commit that fails is tried again by ``commitSync`` only; here no failure is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import ceil, floor


class Way(StrEnum):
    """How a consumer commits."""

    SYNC = "sync"
    ASYNC = "async"
    MIXED = "mixed"
    AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Loop:
    """A consumer that reads a number of records to the end."""

    records: int
    poll_records: int
    """Records of one poll, at least 1."""
    poll_seconds: float
    """Time to fetch and work off one poll, above 0."""
    round_trip: float
    """Seconds from the request of a commit to its answer."""
    interval: float = 5.0
    """auto.commit.interval.ms, in seconds."""

    @property
    def polls(self) -> int:
        """Polls that return records."""
        return ceil(self.records / self.poll_records)


@dataclass(frozen=True, slots=True)
class Fallout:
    """Records after a crash: the most that are handled again, at best none, and those that nobody ever handles."""

    again_most: int
    lost_least: int = 0
    lost_most: int = 0


def loop_seconds(loop: Loop, way: Way) -> float:
    """Seconds until the last record is worked off and, where commits are waited for, committed."""
    each = loop.poll_seconds + (loop.round_trip if way is Way.SYNC else 0.0)
    return loop.polls * each


def commits(loop: Loop, way: Way) -> int:
    """Requests to commit, the one at the close included."""
    if way is Way.AUTO:
        return loop.polls // _polls_between(loop) + 1 if loop.polls else 0
    return loop.polls + (1 if way is Way.MIXED and loop.polls else 0)


def in_flight(loop: Loop) -> int:
    """Most asynchronous commits that wait for their answer at a time."""
    if loop.round_trip <= loop.poll_seconds:
        return min(loop.polls, ceil(loop.round_trip / loop.poll_seconds))
    return loop.polls - floor((loop.polls - 1) * loop.poll_seconds / loop.round_trip) if loop.polls else 0


def uncommitted(loop: Loop, way: Way) -> int:
    """Most records that were returned by polls and are not known to be committed, at any moment of the loop.

    Without waiting these are the poll in work and those whose commit is on its way; with an interval the polls until
    ``poll()`` is the first to find that it has passed, and those on whose work the answer comes.
    """
    if way is Way.SYNC:
        polls = 1
    elif way is Way.AUTO:
        polls = _polls_between(loop) + ceil(loop.round_trip / loop.poll_seconds)
    else:
        polls = 1 + in_flight(loop)
    return min(loop.records, polls * loop.poll_records)


def after_crash(loop: Loop, way: Way, waiting: int | None = None) -> Fallout:
    """What a process leaves that is killed at any moment of the loop.

    *waiting* are the records that it had handed to other threads and that nobody had begun; None where the loop works
    them off itself. Of them those are lost that were committed already: hardly any with the automatic commit where
    fewer wait than come in within an interval. librdkafka commits on a timer of its own what it has handed out, so
    that with its automatic commit the records of a poll that are not begun are *waiting* too.
    """
    most = uncommitted(loop, way)
    if waiting is None:
        return Fallout(most)
    waiting = min(waiting, loop.records)
    return Fallout(max(0, most - waiting), max(0, waiting - most), waiting)


def _polls_between(loop: Loop) -> int:
    """Polls from one automatic commit to the next."""
    return max(1, ceil(loop.interval / loop.poll_seconds))
