"""Members of a Kafka group that are replaced by members of other names: a rollout gives each pod a new one."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.rebalances.rows import Life

MEETS = 60.0
"""Seconds around the end of a member in which another name takes its place."""


def renamed(lives: Sequence[Life]) -> list[tuple[Life, Life]]:
    """Names that ended for good, each with a name that began then: pods of a rollout have new names."""
    first, last = _firsts(lives), _lasts(lives)
    begin = min((life.since for life in lives if life.since is not None), default=0.0)
    begun = [o for o in first.values() if (o.since or 0.0) > begin + MEETS]
    found = []
    for old in sorted((o for o in last.values() if o.until is not None), key=lambda o: (o.until or 0.0, o.client_id)):
        near = [o for o in begun if o.client_id != old.client_id and _takes_over(old, o)]
        new = min(near, key=lambda o: (abs((o.since or 0.0) - (old.until or 0.0)), o.client_id), default=None)
        if new is not None:
            begun.remove(new)
            found.append((old, new))
    return found


def _takes_over(old: Life, new: Life) -> bool:
    """*new* came when *old* went, and stayed: a group that is stopped as a whole ends both."""
    at = old.until or 0.0
    return abs((new.since or 0.0) - at) <= MEETS and (new.until is None or new.until > at + MEETS)


def _firsts(lives: Sequence[Life]) -> dict[str, Life]:
    return {o.client_id: o for o in sorted(lives, key=lambda o: o.since or 0.0, reverse=True)}


def _lasts(lives: Sequence[Life]) -> dict[str, Life]:
    return {o.client_id: o for o in sorted(lives, key=lambda o: o.since or 0.0)}
