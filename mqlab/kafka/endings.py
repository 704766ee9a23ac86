"""How the life of a member of a Kafka group ended: by what was said, or by what its own log did afterwards.

Clients 0.10.1 to 2.0 leave without a word when their application does not poll (KIP-62): the heartbeat thread sends
the LeaveGroup while the application works on. What is left to see is that the process neither stopped nor started
anew, that its next commit fails, and that the interval had passed since its last poll.
A process may have failed though it left in good order: ``close()`` runs after an error too. The status with which it
exits tells of it, or an error that is the last word of the application each time before it closes its consumer.
The Java client writes of a poll timeout when it leaves. What librdkafka has to say waits for the application's next
poll where the application takes its log (``log_cb``; ``logger`` of confluent-kafka): ``MAXPOLL`` is written when the
batch that took too long is done, and before the member joins again.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.kafka import poll_limits
from mqlab.kafka.log_lines import (
    CLIENT,
    CLOSED,
    POLL_TIMEOUT,
    STARTS,
    STOPS,
    Lines,
    between,
    following,
    homes,
    lines,
    timed_out,
)
from mqlab.kafka.poll_limits import interval, polls_of
from mqlab.kafka.rows import ONCE, End, Span
from mqlab.memo import per_facts
from mqlab.rows import Batch, Shape
from mqlab.shared.benign_lines import ORDERLY, WANTED
from mqlab.shared.restarts import CLOCKS
from mqlab.words import Text

say = words.room("endings")

EARLY, LATE = 0.3, 1.0
"""Seconds around max.poll.interval.ms in which a leave without a reason is one: applications round the times of their
polls, and the heartbeat thread looks each 100 ms (retry.backoff.ms) or when it may. A wider window meets by chance."""
_LATE_TOLD = "maximum poll interval"
"""What librdkafka says of a poll timeout: as ``MAXPOLL``, and as the error that the next poll returns."""
_PROCESS = STARTS | STOPS | {"process-exit"}


_CLOSING = 60.0
"""Seconds that an application may take from saying that it stops to its LeaveGroup: twice the 30 of ``close()``."""
_FAILING = frozenset({"commit-failed", "partitions-lost"})
"""What a client meets that was taken out of the group and does not know it."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a life ended, and how that is known."""

    end: End
    stopped: float | None
    because: str = ""
    wordless: bool = False
    """Its process exited and had said nothing before."""
    went_on: bool = False
    """The coordinator expelled it while its process went on."""
    evidence: tuple[Evidence, ...] = ()


def ending(facts: Facts, lines: Lines, span: Span, told: Episode | None = None) -> Ending:
    """The end of *span*; *told* is the client's own line about the poll timeout that ended it."""
    if span.end is End.OPEN:
        since = span.since or span.seen
        last = _stops(lines, span, since, _renewed(lines, span, since))
        return _stop(End.OPEN, last, wordless=_wordless(last))
    until = span.until or 0.0
    if POLL_TIMEOUT in span.reason or span.end is End.POLL_TIMEOUT:
        return Ending(End.POLL_TIMEOUT, None, evidence=(told.first,) if told else ())
    if told is not None and span.end in (End.LEFT, End.DROPPED):
        return Ending(End.POLL_TIMEOUT, None, say("own-log"), evidence=(told.first,))
    if span.end is End.EXPIRED and _went_on(lines, span, until):
        return Ending(span.end, None, say("went-on"), went_on=True)
    stopped = _stopped(lines, span, until)
    if span.end is not End.LEFT or stopped.stopped is not None or any(word in span.reason for word in CLOSED):
        return stopped
    return _silent(facts, lines, span)


def _stopped(lines: Lines, span: Span, until: float) -> Ending:
    """When its process stopped, if that is what ended this life, and whether it said nothing before.

    A member that leaves says so shortly before. One that expires may have stopped at any time since it joined: a
    static one sends no LeaveGroup when it stops (KIP-345), a killed one none at all.
    """
    since = _joined(lines, span) if span.end is not End.LEFT else until - _CLOSING
    near = _stops(lines, span, max(since, span.since or since), until + ONCE)
    return _stop(span.end, near, wordless=span.end is not End.LEFT and _wordless(near))


def _stop(end: End, stops: Sequence[Episode], *, wordless: bool) -> Ending:
    stopped = stops[0].first_at if stops else None
    return Ending(end, stopped, say("exited") if wordless else "", wordless=wordless)


def _joined(lines: Lines, span: Span) -> float:
    """When *span* began; of one that was there before the material, when its process last started or joined."""
    if span.since is not None:
        return span.since
    own = between(lines.of(span.client_id), 0.0, span.seen)
    return max((e.first_at or 0.0 for e in own if e.kind in STARTS or e.kind == "join-completed"), default=0.0)


def _wordless(stops: Sequence[Episode]) -> bool:
    """The process exited and had said nothing before, and not as it does when it is told to (0, SIGINT, SIGTERM)."""
    return bool(stops) and all(e.kind == "process-exit" and e.value_max not in ORDERLY for e in stops)


def _stops(lines: Lines, span: Span, since: float, until: float) -> list[Episode]:
    """Lines with which the process stops, in its last run up to *until*."""
    own = between(lines.of(span.client_id), since, until)
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
    later = following(lines.of(span.client_id), since)
    starts = (
        e.first_at or 0.0
        for e in later
        if e.kind in STARTS and (e.kind != "app-started" or (e.first_at or 0.0) > since + _CLOSING)
    )
    return next(starts, float("inf"))


def _silent(facts: Facts, lines: Lines, span: Span) -> Ending:
    """A leave of which nobody says why."""
    until = span.until or 0.0
    failed = _failed(lines, span, until)
    limit = interval(facts, span.client_id, until)
    waited = poll_limits.waited(facts, lines.group, span.client_id, until)
    late = limit is not None and waited is not None and -EARLY <= waited - limit <= LATE
    if failed is None and not late:
        return Ending(span.end, None)
    because = say("left", waited=waited if late else None, failed=failed is not None)
    return Ending(End.POLL_TIMEOUT, None, because, evidence=(failed.first,) if failed else ())


def _went_on(lines: Lines, span: Span, until: float) -> bool:
    """The same process wrote something later on, before it stopped or was started anew."""
    every = lines.of(span.client_id)
    own = between(every, span.since or span.seen, until)
    if not every or (every[0].first_at or 0.0) > until:
        return False
    if any(line.kind in _PROCESS for line in own):
        return False
    for line in following(lines.of(span.client_id), until):
        if line.kind in _PROCESS:
            return False
        if line.kind in CLIENT and (line.first_at or 0.0) > until + CLOCKS:
            return True
    return False


def _failed(lines: Lines, span: Span, until: float) -> Episode | None:
    """The first line after the end that shows that the same process did not know of it."""
    for line in following(lines.of(span.client_id), until):
        if line.kind in _FAILING:
            return line
        if line.kind in STARTS or line.kind in STOPS or line.kind == "join-completed":
            return None
    return None


_MINUTE = 60.0
"""Shapes tell their last line by its minute."""
_LEVELS = frozenset({"ERROR", "FATAL", "CRITICAL", "SEVERE"})
_ASKED = re.compile(r"interrupt|wakeup|shut|stop|close|closing|signal|sigterm|cancel", re.IGNORECASE)
"""What an application may call an error that was told to stop."""
_JOINS = frozenset({"join-started", "join-completed", "partitions-assigned"})
_CLOSES = frozenset({"app-stopping", "leave-sent", "consumer-closed"})


def failures(facts: Facts, known: Lines, every: Sequence[Span]) -> Mapping[int, Text]:
    """``id`` of a span → how it is known that its process failed, for those that left the group or just expired."""
    by_client: dict[str, list[tuple[Span, Episode | None]]] = defaultdict(list)
    for span in every:
        if span.end in (End.LEFT, End.EXPIRED):
            by_client[span.client_id].append((span, _closing(known, span)))
    return {
        id(span): told
        for client, own in sorted(by_client.items())
        for span, told in _said_failure(facts, known, client, own)
    }


def _closing(known: Lines, span: Span) -> Episode | None:
    """The line with which the process began to close, in this life."""
    until = span.until or 0.0
    since = max(until - _CLOSING, span.since or span.seen) if span.end is End.LEFT else span.since or span.seen
    own = between(known.of(span.client_id), since, until + ONCE)
    closes = [e for e in own if e.kind in _CLOSES and (e.kind != "leave-sent" or e.member_id in (None, span.member_id))]
    return closes[0] if closes else None


def _said_failure(
    facts: Facts, known: Lines, client: str, own: Sequence[tuple[Span, Episode | None]]
) -> Iterator[tuple[Span, Text]]:
    closings = sorted((c for _, c in own if c is not None), key=lambda e: (e.first_at or 0.0, e.first.line or 0))
    last_words = _last_words(facts, known.group, client, closings)
    for span, closing in own:
        asked = closing is not None and closing.kind == "app-stopping"
        error = last_words.get(closing.first_at or 0.0, "") if closing is not None else ""
        done = _exit(known, client, closing.first_at if closing is not None else span.until)
        status = None if done is None else done.value_max
        if status not in (None, *WANTED) and (not asked or error):
            yield span, say("exit-status", status=status)
        elif done is None and error and not asked:
            yield span, say("uncaught", error=error)


def _exit(known: Lines, client: str, at: float | None) -> Episode | None:
    """The exit of the process that ran at *at* and did not join again."""
    for line in following(known.of(client), (at or 0.0) - CLOCKS):
        if line.kind == "process-exit":
            return line
        if (line.kind in STARTS or line.kind in _JOINS) and (line.first_at or 0.0) > (at or 0.0):
            return None
    return None


def _last_words(facts: Facts, group: str, client: str, closings: Sequence[Episode]) -> Mapping[float, str]:
    """Moments of *closings*, which are by time, each of which the same error precedes.

    Of a shape of lines its first line is known and how many followed until which minute: the error is the last word
    the first time, and came once for each closing since.
    """
    found: dict[float, str] = {}
    for shape in _errors(facts, group).get(client, ()):
        after = [e for e in closings if (e.first.line or 0) > shape.first_line and e.source == shape.source]
        these = [e.first_at or 0.0 for e in after if (e.first_at or 0.0) <= (shape.last_at or 0.0) + _MINUTE]
        if len(these) == shape.lines and _next(facts, group, client, shape) is after[0]:
            found.update((at, found.get(at) or shape.sample or shape.shape) for at in these)
    return found


def _next(facts: Facts, group: str, client: str, shape: Shape) -> Episode | Batch | None:
    """What the client's log says next after the first line of *shape*; partitions are revoked as part of closing."""
    own: list[Episode | Batch] = [
        e for e in lines(facts, group).of(client) if e.kind != "partitions-revoked"
        and e.source == shape.source and (e.first.line or 0) > shape.first_line
    ]  # fmt: skip
    own += [b for b in polls_of(facts, group, client) if b.source == shape.source and b.line > shape.first_line]
    return min(own, key=lambda row: row.line if isinstance(row, Batch) else row.first.line or 0, default=None)


@per_facts
def _errors(facts: Facts, group: str) -> Mapping[str, Sequence[Shape]]:
    """Errors in the logs of each client of *group* that were not asked for."""
    owners = homes(facts, group)
    found: dict[str, list[Shape]] = defaultdict(list)
    for shape in facts.shapes:
        owner = owners.get(shape.source)
        if owner and shape.level in _LEVELS and shape.first_at is not None and not _ASKED.search(shape.shape):
            found[owner].append(shape)
    return found


def timeouts(facts: Facts, lines: Lines, every: Sequence[Span]) -> Mapping[int, Episode]:
    """``id`` of a span → the client's own line about the poll timeout that ended it; none for one that was closed."""
    by_client: dict[str, list[Span]] = defaultdict(list)
    for span in every:
        by_client[span.client_id].append(span)
    found: dict[int, Episode] = {}
    for client, own in sorted(by_client.items()):
        ended = sorted((s for s in own if s.until is not None), key=lambda s: s.until or 0.0)
        began = sorted(s.since for s in own if s.since is not None)
        for line in lines.of(client, "poll-timeout"):
            late = _timed_out(facts, lines, line, ended, began) if _LATE_TOLD in line.first.text else None
            owner = late or _nearest(lines, line, ended)
            if owner is not None:
                found.setdefault(id(owner), line)
    return found


def _fits(line: Episode, span: Span) -> bool:
    return line.member_id in (None, span.member_id) and not any(word in span.reason for word in CLOSED)


def _nearest(lines: Lines, line: Episode, ended: Sequence[Span]) -> Span | None:
    """The life of the member that ended at about the moment that *line* is about, and not by a stop after it."""
    at = timed_out(line)
    first = bisect_left(ended, at - ONCE, key=lambda s: s.until or 0.0)
    last = bisect_right(ended, at + ONCE, key=lambda s: s.until or 0.0)
    near = [s for s in ended[first:last] if (s.since or s.seen) <= at + CLOCKS and _fits(line, s)]
    near = [s for s in near if not _stopped_between(lines, s, at)]
    return min(near, key=lambda s: (abs((s.until or 0.0) - at), s.seen), default=None)


def _stopped_between(lines: Lines, span: Span, at: float) -> bool:
    """Its application said that it stops, after *at* and before the life of its member ended."""
    return any(e.kind == "app-stopping" for e in between(lines.of(span.client_id), at, span.until or at))


def _timed_out(facts: Facts, lines: Lines, line: Episode, ended: Sequence[Span], began: Sequence[float]) -> Span | None:
    """The last life that had ended, where no other poll of the application lies between that and *line*."""
    at = line.first_at or 0.0
    place = bisect_right(ended, at + CLOCKS, key=lambda s: s.until or 0.0)
    span = ended[place - 1] if place else None
    if span is None or not _fits(line, span):
        return None
    until = span.until or 0.0
    again = bisect_left(began, at - CLOCKS) - bisect_right(began, until)
    started = any(e.kind in STARTS for e in between(lines.of(span.client_id), until, at))
    own = polls_of(facts, lines.group, span.client_id)
    done = bisect_right(own, at, key=lambda b: b.at) - bisect_right(own, until, key=lambda b: b.at)
    return None if again > 0 or started or done > 1 else span
