"""Which line about a poll timeout, in a client's own log, tells of the end of which of its lives.

The Java client writes it when it leaves. What librdkafka has to say waits for the application's next poll where the
application takes its log (``log_cb``; ``logger`` of confluent-kafka): ``MAXPOLL`` is written when the batch that took
too long is done, and before the member joins again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence

from mqlab.facts import Episode, Facts
from mqlab.polling.lines import polls_of
from mqlab.rebalances.index import Lines, between
from mqlab.rebalances.kinds import STARTS
from mqlab.rebalances.lines import CLOSED, timed_out
from mqlab.rebalances.marks import CLOCKS, ONCE, Span


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
            late = _late(facts, lines, line, ended, began) if "MAXPOLL" in line.first.text else None
            owner = late or _nearest(line, ended)
            if owner is not None:
                found.setdefault(id(owner), line)
    return found


def _fits(line: Episode, span: Span) -> bool:
    return line.member_id in (None, span.member_id) and not any(word in span.reason for word in CLOSED)


def _nearest(line: Episode, ended: Sequence[Span]) -> Span | None:
    """The life of the member that ended at about the moment that *line* is about."""
    at = timed_out(line)
    first = bisect_left(ended, at - ONCE, key=lambda s: s.until or 0.0)
    last = bisect_right(ended, at + ONCE, key=lambda s: s.until or 0.0)
    near = [s for s in ended[first:last] if (s.since or s.seen) <= at + CLOCKS and _fits(line, s)]
    return min(near, key=lambda s: (abs((s.until or 0.0) - at), s.seen), default=None)


def _late(facts: Facts, lines: Lines, line: Episode, ended: Sequence[Span], began: Sequence[float]) -> Span | None:
    """The last life that had ended, where no other poll of the application lies between that and *line*."""
    at = line.first_at or 0.0
    place = bisect_right(ended, at + CLOCKS, key=lambda s: s.until or 0.0)
    span = ended[place - 1] if place else None
    if span is None or not _fits(line, span):
        return None
    until = span.until or 0.0
    again = bisect_left(began, at - CLOCKS) - bisect_right(began, until)
    started = any(e.kind in STARTS for e in between(lines.clients.get(span.client_id, ()), until, at))
    own = polls_of(facts, lines.group, span.client_id)
    done = bisect_right(own, at, key=lambda b: b.at) - bisect_right(own, until, key=lambda b: b.at)
    return None if again > 0 or started or done > 1 else span
