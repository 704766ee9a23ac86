"""When somebody works again: the client's own log says that it is connected, or a broker that it let the client in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mqlab.facts import Episode, Facts, span
from mqlab.memo import per_facts
from mqlab.sources import Role

CONNECTED = ("connection-made", "client-connected")
"""Events that say that a client has its connection."""
TRIES, NO_BRIDGE = "bridge-connecting", "error:mqtt-bridge-failed"
"""Lines with which mosquitto tries to connect a bridge, and with which it could not."""
_AT_ONCE = 2.0
"""Seconds in which bridges try at once: mosquitto looks at them every second."""
_AGAIN = 60.0
"""Seconds within which a bridge tries again: twice the longest wait by default (restart_timeout 5 30)."""


def owner(facts: Facts, episode: Episode) -> str | None:
    """The client that an event is about: by its line, else the only one that a client's log names anywhere."""
    if episode.client_id is not None or episode.source in _logs_of_brokers(facts):
        return episode.client_id
    named = {client for _, client in facts.named_clients(episode.source)}
    return next(iter(named)) if len(named) == 1 else None


def connections(facts: Facts, episode: Episode) -> Iterator[Episode]:
    """When the client that an event is about got its connection, before or after it.

    In a client's log that names nobody, that is what the log itself tells.
    """
    brokers = _logs_of_brokers(facts)
    who, nameless = owner(facts, episode), not facts.named_clients(episode.source) and episode.source not in brokers
    for one in facts.of_kind(*CONNECTED):
        own_log = one.source == episode.source and not one.client_id
        if (own_log and (who is not None or nameless)) or (who is not None and one.client_id == who):
            yield one
    if episode.kind == NO_BRIDGE:  # names no bridge: what the log itself tells
        yield from (line for line in bridged(facts) if line.source == episode.source)


@per_facts
def bridged(facts: Facts) -> tuple[Episode, ...]:
    """Tries of mosquitto's bridges that no error follows in their log before the next try.

    The error names no bridge: of several that tried at once it is about those that try again soon.
    """
    tries = [e for e in facts.of_kind(TRIES) if e.first_at is not None]
    lines = [(e.first_at or 0.0, e.first.line or 0, e) for e in tries]
    for error in facts.of_kind(NO_BRIDGE):
        moments = ((error.first_at, error.first), (error.last_at, error.last))
        lines += [(at, place.line or 0, error) for at, place in moments if at is not None]
    last: dict[str, list[Episode]] = {}
    failed: set[Episode] = set()
    for at, _, line in sorted(lines, key=lambda one: one[:2]):
        near = last.get(line.source, [])
        if line.kind == TRIES:
            last[line.source] = [*(e for e in near if at - (e.first_at or at) <= _AT_ONCE), line]
        else:
            again = [e for e in near if len(near) > 1 and any(_repeats(e, one) for one in tries)]
            failed.update(again or near)
    return tuple(e for e in tries if e not in failed)


def _repeats(first: Episode, second: Episode) -> bool:
    same = (first.source, first.client_id) == (second.source, second.client_id)
    return same and 0 < (second.first_at or 0.0) - (first.first_at or 0.0) <= _AGAIN


def _logs_of_brokers(facts: Facts) -> frozenset[str]:
    return frozenset(one.source for one in facts.coverage if one.role is Role.BROKER_LOG)


def back(facts: Facts, said: Iterable[Episode]) -> list[Episode]:
    """The first connection of each who said something, behind its last line; none where one of them has none."""
    lasts: dict[tuple[str, str | None], Episode] = {}
    for one in said:
        who = (one.source, one.client_id)
        lasts[who] = max(lasts.get(who, one), one, key=lambda e: e.last_at or 0.0)
    found = []
    for last in lasts.values():
        since = span((last.first_at, last.last_at))[1]
        later = [e for e in connections(facts, last) if since is not None and e.first_at and e.first_at >= since]
        if not later:
            return []
        found.append(min(later, key=lambda e: e.first_at or 0.0))
    return found
