"""Many MQTT clients that come back within seconds though no broker restarted.

A network, a NAT gateway or a proxy cuts off those behind it, whose old connections the broker may hold until their
keep-alive has passed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from mqlab.mqtt.connection import Connection
from mqlab.mqtt.storm import LEAST, MOST, ONE_RETURN, Storm, again, firsts

TOGETHER = 30.0
"""Seconds in which those who were cut off together come back: by then paho Go has tried five times (0, 1, 2, 4, 8 s
later), Python and Java about every second."""
ONE = 0.9
"""Share of them that must come from one address, for a cause in front of it."""
CUT_OFF = 600.0
"""Seconds that clients were away at most, to have been cut off by the same event."""


def bursts(
    broker: str | None, clients: Sequence[Sequence[Connection]], explained: Sequence[tuple[float, float]]
) -> Iterator[Storm]:
    """Without a restart: many that had been connected come back within seconds, cut off and not by themselves."""
    pairs = [pair for own in clients for pair in _returns(own)]
    pairs.sort(key=lambda pair: (_at(pair[0]), pair[0].source, pair[0].client_id))
    moments = [_at(after) for after, _ in pairs]
    begins = sorted(_at(c) for own in clients for c in own)
    ends = sorted(c.until for own in clients for c in own if c.until is not None)
    done = float("-inf")
    for number, at in enumerate(moments):
        if at <= done or any(a <= at <= b for a, b in explained):
            continue
        group = pairs[number : bisect_right(moments, at + TOGETHER)]
        there = bisect_left(begins, at) - bisect_left(ends, at - TOGETHER)
        storm = _burst(broker, clients, group) if _can_be(group, there) else None
        if storm is not None:
            done = storm.until
            yield storm


def _can_be(group: Sequence[tuple[Connection, Connection]], there: int) -> bool:
    """Enough clients, by a count of connections: a quick look, in which a client counts three times at most."""
    names = {after.client_id for after, _ in group}
    if len(names) < LEAST or len(group) > 1.5 * len(names):
        return False
    return 3 * len(names) >= MOST * there or _of_one_address(group)[1] >= ONE * len(names)


def _of_one_address(group: Sequence[tuple[Connection, Connection]]) -> tuple[str | None, int]:
    """The address of most, and how many come from it."""
    addresses = Counter(after.address for after, _ in group if after.address)
    return min(addresses.items(), key=lambda item: (-item[1], item[0]), default=(None, 0))


def _returns(own: Sequence[Connection]) -> Iterator[tuple[Connection, Connection]]:
    """Each connection of a client that had been cut off, and the one before; those of one return are one."""
    last: Connection | None = None
    for before, after in pairwise(own):
        if last is None or not _is_one_return(last, after):
            last = after
            if _cut_off(before, after):
                yield after, before


def _is_one_return(one: Connection, another: Connection) -> bool:
    return one.address == another.address and _at(another) - _at(one) <= ONE_RETURN


def _cut_off(before: Connection, after: Connection) -> bool:
    """It did not end on purpose, and the client was not away for long."""
    if after.since is None or before.until is None or before.ended in ("normal", "kicked", "not-authorized"):
        return False
    return -1.0 <= after.since - before.until <= CUT_OFF and before.ended is not None


def _burst(
    broker: str | None, clients: Sequence[Sequence[Connection]], group: Sequence[tuple[Connection, Connection]]
) -> Storm | None:
    names = {after.client_id for after, _ in group}
    begin, end = _at(group[0][0]), _at(group[-1][0])
    there = [own for own in clients if any(_there(c, begin) for c in own)]
    address, most = _of_one_address(group)
    behind = [own for own in there if own[0].address == address]
    if most >= ONE * len(names) and most >= MOST * len(behind) and len(behind) < len(there):
        cause, connected = "address", len(behind)
    elif len(names) >= MOST * len(there):
        cause, connected = "standstill" if broker and _stood_still(clients, group) else "network", len(there)
    else:
        return None
    after = [c for own in clients if own[0].client_id in names for c in own if (c.since or -1.0) >= begin]
    back = firsts(after, end)
    down = min((b.until for _, b in group if b.until is not None), default=begin)
    return Storm(broker, cause, min(down, begin), begin, connected, back, again(after, back), ())


def _stood_still(clients: Sequence[Sequence[Connection]], group: Sequence[tuple[Connection, Connection]]) -> bool:
    """The broker read at one moment what had waited for it: connects that were given up, or timeouts and returns.

    A network that breaks lets no connect through to the listener, and each timeout comes at a time of its own.
    """
    names = {after.client_id for after, _ in group}
    begin, end = _at(group[0][0]), _at(group[-1][0]) + ONE_RETURN
    twice = {
        one.client_id
        for own in clients
        for one, another in pairwise(own)
        if one.client_id in names and begin <= _at(one) <= end and _is_one_return(one, another)
    }
    late = {
        before.client_id
        for after, before in group
        if before.ended == "keep-alive"
        and _at(after) - begin <= ONE_RETURN
        and abs((before.until or 0.0) - begin) <= ONE_RETURN
    }
    return max(len(twice), len(late)) >= MOST * len(names)


def _at(connection: Connection) -> float:
    return connection.since or 0.0


def _there(connection: Connection, at: float) -> bool:
    """Connected then, or not longer ago than an event that cut it off."""
    since, until = connection.since or float("-inf"), connection.until
    return since < at and (until is None or until >= at - TOGETHER)
