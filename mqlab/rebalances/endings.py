"""How the life of a member ended: by what was said, or by what its own log did afterwards.

Clients 0.10.1 to 2.0 leave without a word when their application does not poll (KIP-62): the heartbeat thread sends
the LeaveGroup while the application works on. What is left to see is that the process neither stopped nor started
anew, that its next commit fails, and that the interval had passed since its last poll.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.ordinary import ORDERLY
from mqlab.rebalances.index import Lines, between, following
from mqlab.rebalances.kinds import CLIENT, STARTS, STOPS
from mqlab.rebalances.lines import CLOSED, POLL_TIMEOUT
from mqlab.rebalances.marks import CLOCKS, ONCE, Span
from mqlab.rebalances.polls import overdue
from mqlab.rebalances.rows import End

_CLOSING = 60.0
"""Seconds that an application may take from saying that it stops to its LeaveGroup: twice the 30 of ``close()``."""
_FAILING = frozenset({"commit-failed", "partitions-lost"})
"""What a client meets that was taken out of the group and does not know it."""
EXITED = "its process exited without a word"
WENT_ON = "the coordinator gave it up, and its process went on"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a life ended, and how that is known."""

    end: End
    stopped: float | None
    because: str = ""
    evidence: tuple[Evidence, ...] = ()


def ending(facts: Facts, lines: Lines, span: Span, told: Episode | None = None) -> Ending:
    """The end of *span*; *told* is the client's own line about the poll timeout that ended it."""
    if span.end is End.OPEN:
        since = span.since or span.seen
        last = _stops(lines, span, since, _renewed(lines, span, since))
        return Ending(End.OPEN, last[0].first_at if last else None, EXITED if _wordless(last) else "")
    until = span.until or 0.0
    if POLL_TIMEOUT in span.reason or span.end is End.POLL_TIMEOUT:
        return Ending(End.POLL_TIMEOUT, None, "", (told.first,) if told else ())
    if told is not None and span.end in (End.LEFT, End.DROPPED):
        return Ending(End.POLL_TIMEOUT, None, "the client's own log says so", (told.first,))
    if span.end is End.EXPIRED and _went_on(lines, span, until):
        return Ending(span.end, None, WENT_ON)
    stop, because = _stopped(lines, span, until)
    if span.end is not End.LEFT or stop is not None or any(word in span.reason for word in CLOSED):
        return Ending(span.end, stop, because)
    return _silent(facts, lines, span)


def _stopped(lines: Lines, span: Span, until: float) -> tuple[float | None, str]:
    """When its process stopped, if that is what ended this life, and ``EXITED`` where it said nothing before.

    A member that leaves says so shortly before. One that expires may have stopped at any time since it joined: a
    static one sends no LeaveGroup when it stops (KIP-345), a killed one none at all.
    """
    since = _joined(lines, span) if span.end is not End.LEFT else until - _CLOSING
    near = _stops(lines, span, max(since, span.since or since), until + ONCE)
    return near[0].first_at if near else None, EXITED if span.end is not End.LEFT and _wordless(near) else ""


def _joined(lines: Lines, span: Span) -> float:
    """When *span* began; of one that was there before the material, when its process last started or joined."""
    if span.since is not None:
        return span.since
    own = between(lines.clients.get(span.client_id, ()), 0.0, span.seen)
    return max((e.first_at or 0.0 for e in own if e.kind in STARTS or e.kind == "join-completed"), default=0.0)


def _wordless(stops: Sequence[Episode]) -> bool:
    """The process exited and had said nothing before, and not as it does when it is told to (0, SIGINT, SIGTERM)."""
    return bool(stops) and all(e.kind == "process-exit" and e.value_max not in ORDERLY for e in stops)


def _stops(lines: Lines, span: Span, since: float, until: float) -> list[Episode]:
    """Lines with which the process stops, in its last run up to *until*."""
    own = between(lines.clients.get(span.client_id, ()), since, until)
    last = max((e.first_at or 0.0 for e in own if e.kind in STOPS or e.kind == "process-exit"), default=None)
    if last is None:
        return []
    begun = max((e.first_at or 0.0 for e in own if e.kind in STARTS and (e.first_at or 0.0) <= last), default=since)
    return [
        e for e in own
        if (e.kind in STOPS or e.kind == "process-exit") and (e.first_at or 0.0) >= begun
        and (e.kind != "leave-sent" or e.member_id in (None, span.member_id))
    ]  # fmt: skip


def _renewed(lines: Lines, span: Span, since: float) -> float:
    """When the next process of the client began; applications may say that they started a while after they joined."""
    later = following(lines.clients.get(span.client_id, ()), since)
    starts = (e.first_at or 0.0 for e in later if e.kind in STARTS and (e.kind != "app-started" or _late(e, since)))
    return next(starts, float("inf"))


def _late(line: Episode, since: float) -> bool:
    return (line.first_at or 0.0) > since + _CLOSING


def _silent(facts: Facts, lines: Lines, span: Span) -> Ending:
    """A leave of which nobody says why."""
    until = span.until or 0.0
    failed = _failed(lines, span, until)
    late = overdue(facts, lines.group, span.client_id, until)
    if failed is None and late is None:
        return Ending(span.end, None)
    parts = ["it left"]
    if failed is not None:
        parts.append("while its process worked on and then met a group without it")
    if late is not None:
        parts.append(f"{late:.1f} s after its last poll, as long as max.poll.interval.ms allows")
    return Ending(End.POLL_TIMEOUT, None, ", ".join(parts), (failed.first,) if failed else ())


def _went_on(lines: Lines, span: Span, until: float) -> bool:
    """The same process wrote something later on, before it stopped or was started anew."""
    every = lines.clients.get(span.client_id, ())
    own = between(every, span.since or span.seen, until)
    if not every or (every[0].first_at or 0.0) > until:
        return False
    if any(line.kind in STARTS or line.kind in STOPS or line.kind == "process-exit" for line in own):
        return False
    for line in following(lines.clients.get(span.client_id, ()), until):
        if line.kind in STARTS or line.kind in STOPS or line.kind == "process-exit":
            return False
        if line.kind in CLIENT and (line.first_at or 0.0) > until + CLOCKS:
            return True
    return False


def _failed(lines: Lines, span: Span, until: float) -> Episode | None:
    """The first line after the end that shows that the same process did not know of it."""
    for line in following(lines.clients.get(span.client_id, ()), until):
        if line.kind in _FAILING:
            return line
        if line.kind in STARTS or line.kind in STOPS or line.kind == "join-completed":
            return None
    return None
