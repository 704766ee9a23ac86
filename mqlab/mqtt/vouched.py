"""Whether a client's own log tells that it alone came back, each time that it replaced a connection of its own.

Such a log tells of every connection that the broker does, all of them from one address; the client did not lose one and
have another at once, as with a sound link behind a limit or a proxy. Where a device lost its power, its log tells of
starts without an end between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mqlab.mqtt.connection import Connection

AWAY = 2.0
"""Seconds until a client is back, from which on its link was away: with a sound link every library tries sooner."""
_NEAR = 2.0
"""Seconds by which broker and client may differ about one moment; brokers may print whole seconds."""


def came_back_alone(told: Sequence[Connection], own: Sequence[Connection]) -> bool:
    """All that brokers tell of an id (*told*) are connections of one client, in whose log (*own*) no link was sound."""
    one_place = len({c.address for c in told}) == 1 and len({c.source for c in own}) == 1
    return one_place and _tells_of_each(told, own) and not any(_at_once(*pair) for pair in pairwise(own))


def _tells_of_each(told: Sequence[Connection], own: Sequence[Connection]) -> bool:
    left = [c.since for c in own if c.since is not None]
    for connection in told:
        since = connection.since
        same = [at for at in left if since is not None and abs(at - since) <= _NEAR]
        if not same:
            return False
        left.remove(same[0])
    return True


def _at_once(before: Connection, after: Connection) -> bool:
    """The client noticed a loss, and was back at once."""
    if before.end is None or before.until is None or after.since is None or before.ended == "normal":
        return False
    return after.since - before.until < AWAY
