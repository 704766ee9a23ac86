"""The queue of one MQTT session: what it holds, which messages survive when it is full, how it fills memory.

An offline session holds its queue limit. A connected one holds the limit and, besides, what is in flight.
EMQX throws the oldest away (``emqx_mqueue:in/2``), mosquitto refuses the newest (``db__message_insert``).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

OLDEST, NEWEST = "oldest", "newest"
"""Which messages a full queue keeps."""


@dataclass(frozen=True, slots=True)
class Queue:
    """Limits of one session's queue."""

    limit: int | None
    """Messages that wait; None is unlimited."""
    inflight: int
    """Messages sent to a connected client and not acknowledged."""
    keeps: str | None
    """Oldest or newest; None where it is not known."""

    def holds(self, *, connected: bool) -> float:
        """Messages that the session can have, infinity where there is no limit."""
        return inf if self.limit is None else self.limit + (self.inflight if connected else 0)


@dataclass(frozen=True, slots=True)
class Filling:
    """What becomes of a session that gets messages faster than it hands them over; in messages and seconds."""

    full_after: float
    """Seconds until the queue is full; infinity where it never is."""
    received: float
    """Handed over within the time, and afterwards from the queue."""
    dropped: float
    delay: float
    """How long a message waits at the end of the time."""


def survivors(messages: int, queue: Queue) -> tuple[int, int]:
    """First and last (1-based) of *messages* to an idle session that are left; (1, 0) is none."""
    kept = messages if queue.limit is None else min(messages, queue.limit)
    return (messages - kept + 1, messages) if queue.keeps == NEWEST else (1, kept)


def filling(queue: Queue, arriving: float, handled: float, seconds: float) -> Filling:
    """A session to which *arriving* messages a second come and that hands *handled* a second over; 0 is offline."""
    room = queue.holds(connected=handled > 0)
    surplus = max(0.0, arriving - handled)
    full_after = room / surplus if surplus > 0 else inf
    waiting = min(room, surplus * seconds)
    dropped = surplus * max(0.0, seconds - full_after)
    delay = waiting / handled if handled > 0 else inf
    return Filling(full_after, arriving * seconds - dropped, dropped, delay)


@dataclass(frozen=True, slots=True)
class Overhead:
    """Bytes of memory that a broker needs for a queued message besides its payload."""

    once: float
    """For the message, however many sessions it waits for."""
    each: float
    """For each session."""


OVERHEADS = {"mosquitto": Overhead(300.0, 90.0), "emqx": Overhead(0.0, 1000.0)}
"""Measured at mosquitto 2.0.11; EMQX: message record and queue node, an estimate."""


def bytes_per_message(overhead: Overhead, payload: float, sessions: int = 1) -> float:
    """Memory of one message that waits for *sessions*: the payload is stored once."""
    return payload + overhead.once + overhead.each * sessions


@dataclass(frozen=True, slots=True)
class Forecast:
    """Where a queue that grows will end; seconds from now."""

    full_in: float | None
    """Memory is used up; None where its size is not known or the session expires first."""
    expires_in: float | None
    """The session expires and its queue is thrown away; None where it never does."""
    peak_bytes: float | None
    """Memory when the first of them happens; None where neither is known to."""


def forecast(used: float, growth: float, memory: float | None, expires_in: float | None) -> Forecast:
    """Bytes *used* that grow by *growth* a second, in a *memory* of so many bytes, until the session expires."""
    full = (memory - used) / growth if memory is not None and growth > 0 else inf
    expires = inf if expires_in is None else expires_in
    first = min(full, expires)
    return Forecast(
        full if full <= expires and full < inf else None, expires_in, None if first == inf else used + growth * first
    )
