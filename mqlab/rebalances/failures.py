"""Whether the process of a member failed though it left the group in good order: ``close()`` runs after an error too.

Two things tell of it: the status with which the process exits, maybe long after it left, or an error that is the last
word of the application each time before it closes its consumer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.ordinary import WANTED
from mqlab.polling.lines import polls_of
from mqlab.rebalances.index import Lines, between, following, homes, lines
from mqlab.rebalances.kinds import STARTS
from mqlab.rebalances.marks import CLOCKS, ONCE, Span
from mqlab.rebalances.rows import End
from mqlab.rows.groups import Batch
from mqlab.rows.lines import Shape

_MINUTE = 60.0
"""Shapes tell their last line by its minute."""
_CLOSING = 60.0
"""Seconds that an application may take from saying that it stops to its LeaveGroup: twice the 30 of ``close()``."""
_LEVELS = frozenset({"ERROR", "FATAL", "CRITICAL", "SEVERE"})
_ASKED = re.compile(r"interrupt|wakeup|shut|stop|close|closing|signal|sigterm|cancel", re.IGNORECASE)
"""What an application may call an error that was told to stop."""
_JOINS = frozenset({"join-started", "join-completed", "partitions-assigned"})
_CLOSES = frozenset({"app-stopping", "leave-sent", "consumer-closed"})


def failures(facts: Facts, known: Lines, every: Sequence[Span]) -> Mapping[int, str]:
    """``id`` of a span → how it is known that its process failed, for those that left the group or just expired."""
    by_client: dict[str, list[tuple[Span, Episode | None]]] = defaultdict(list)
    for span in every:
        if span.end in (End.LEFT, End.EXPIRED):
            by_client[span.client_id].append((span, _closing(known, span)))
    return {
        id(span): words
        for client, own in sorted(by_client.items())
        for span, words in _failed(facts, known, client, own)
    }


def _closing(known: Lines, span: Span) -> Episode | None:
    """The line with which the process began to close, in this life."""
    until = span.until or 0.0
    since = max(until - _CLOSING, span.since or span.seen) if span.end is End.LEFT else span.since or span.seen
    own = between(known.clients.get(span.client_id, ()), since, until + ONCE)
    closes = [e for e in own if e.kind in _CLOSES and (e.kind != "leave-sent" or e.member_id in (None, span.member_id))]
    return closes[0] if closes else None


def _failed(
    facts: Facts, known: Lines, client: str, own: Sequence[tuple[Span, Episode | None]]
) -> Iterator[tuple[Span, str]]:
    closings = sorted((c for _, c in own if c is not None), key=lambda e: (e.first_at or 0.0, e.first.line or 0))
    last_words = _last_words(facts, known.group, client, closings)
    for span, closing in own:
        asked = closing is not None and closing.kind == "app-stopping"
        error = last_words.get(closing.first_at or 0.0, "") if closing is not None else ""
        done = _exit(known, client, closing.first_at if closing is not None else span.until)
        status = None if done is None else done.value_max
        if status not in (None, *WANTED) and (not asked or error):
            yield span, f"its process left in good order, and exited with status {status:.0f}"
        elif done is None and error and not asked:
            yield span, f"its process left in good order, right after an error that nobody caught: {error}"


def _exit(known: Lines, client: str, at: float | None) -> Episode | None:
    """The exit of the process that ran at *at* and did not join again."""
    for line in following(known.clients.get(client, ()), (at or 0.0) - CLOCKS):
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
        e for e in lines(facts, group).clients.get(client, ()) if e.kind != "partitions-revoked"
        and e.source == shape.source and (e.first.line or 0) > shape.first_line
    ]  # fmt: skip
    own += [b for b in polls_of(facts, group, client) if b.source == shape.source and b.line > shape.first_line]
    return min(own, key=_line_of, default=None)


def _line_of(row: Episode | Batch) -> int:
    return row.line if isinstance(row, Batch) else row.first.line or 0


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
