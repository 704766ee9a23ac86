"""Ends of connections that no good-bye announced: again and again, or as soon as they were made.

A connection that another one with its client id throws out ends within the seconds that the other needs to come back;
one over a bad link lives for a while, and one that was refused was never made.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from mqlab.facts import Episode

_MADE = ("client-connected", "connection-made")
_LOST = ("client-disconnected", "connection-lost")
KINDS = (*_MADE, *_LOST)
"""Events that tell of connections: a broker's and a client's own."""
_OWN = ("connection-made", "connection-lost")
_LINK = "Wi-Fi"
"""Reason of a client that lost its radio, and its broker with it."""
_ABRUPT = (None, "closed")
"""Reasons of a broker for an end without a good-bye, of which nothing else is known."""
_AGAIN = 3
"""Ends from which a client has more than a bad minute. Judgement: one, and the next after a retry."""
_TWICE = 2
"""Ends at once from which they are none of a client that was just stopped."""
_AT_ONCE = 5.0
"""Seconds that a connection lives which another with its client id throws out: that one comes back at once."""
_SOON = 15.0
"""Seconds between two losses where the client waits in between (5 or 10 s by default) and is thrown out at once."""


def broken(episodes: Sequence[Episode], *, few: bool = False) -> list[Episode]:
    """Ends of those clients whose connections ended ``_AGAIN`` times, twice where the records are *few*.

    A log that tells again and again of a connection made, and of none that ended, tells of its ends by that.
    """
    every = _by_client(episodes)
    least = _TWICE if few else _AGAIN
    found = [e for ends in _ended(every).values() if _count(ends) >= least for e in ends]
    return found or [e for told in every.values() if _renewed(told) for e in told]


def brief(episodes: Sequence[Episode]) -> list[Episode]:
    """Ends of those clients whose connections ended at once, again and again."""
    every = _by_client(episodes)
    found = []
    for client, every_end in _ended(every).items():
        ends = [end for end in every_end if end.reason != _LINK]
        made = [e for e in every[client] if e.kind in _MADE and e.first_at is not None]
        short = [end for end in ends if _was_just_made(made, end)]
        if _count(short) >= _TWICE:
            found += short
        elif not made and _are_own(ends) and all(_within(a, b, _SOON) for a, b in pairwise(ends)):
            found += ends
    return found


def _by_client(episodes: Sequence[Episode]) -> Mapping[str, list[Episode]]:
    """Episodes in their order by client, else by the peer's host, else, of a client's own log, by log."""
    found: dict[str, list[Episode]] = defaultdict(list)
    for e in sorted(episodes, key=lambda e: (e.first_at or 0.0, e.first.line or 0)):
        if client := e.client_id or (e.peer or "").rpartition(":")[0] or (e.source if e.kind in _OWN else ""):
            found[client].append(e)
    return found


def _ended(by_client: Mapping[str, list[Episode]]) -> Mapping[str, list[Episode]]:
    return {
        client: [e for e in told if e.kind in _LOST and (e.kind in _OWN or e.reason in _ABRUPT)]
        for client, told in by_client.items()
    }


def _renewed(told: Sequence[Episode]) -> bool:
    """A client made its connection anew more than ``_AGAIN`` times, each after a while, and told of no end."""
    apart = all(not _within(a, b, _AT_ONCE) for a, b in pairwise(told))
    return apart and _count(told) > _AGAIN and all(e.kind == "connection-made" for e in told)


def _are_own(ends: Sequence[Episode]) -> bool:
    return _count(ends) >= _AGAIN and all(end.kind in _OWN for end in ends)


def _count(episodes: Sequence[Episode]) -> int:
    return sum(e.count for e in episodes)


def _was_just_made(made: Sequence[Episode], end: Episode) -> bool:
    """One of *made*, which are in order, lies in the seconds before *end*.

    Many logs write whole seconds: a line below the end is the next connection, of whatever second.
    """
    if end.first_at is None:
        return False
    since = bisect_left(made, end.first_at - _AT_ONCE, key=_moment)
    until = bisect_right(made, end.first_at, key=_moment)
    return any(_precedes(one, end) for one in made[since:until])


def _moment(episode: Episode) -> float:
    return episode.first_at or 0.0


def _precedes(first: Episode, second: Episode) -> bool:
    if first.source == second.source:
        return (first.first.line or 0) < (second.first.line or 0)
    return _moment(first) < _moment(second)


def _within(first: Episode, second: Episode, longest: float) -> bool:
    if first.first_at is None or second.first_at is None:
        return False
    return 0 <= second.first_at - first.first_at <= longest
