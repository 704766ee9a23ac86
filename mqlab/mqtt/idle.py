"""MQTT connections that a proxy ends because nothing was sent for too long: its idle limit is below the keep-alive.

A client need not send anything until its keep-alive has passed (MQTT 3.1.1, 3.1.2.10), so a proxy that waits for less
ends the connection of every quiet client, always after the same time, and no side notices silence before.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mqlab.facts import Episode, Facts, Setting
from mqlab.memo import per_facts
from mqlab.mqtt.flapping import Flapping, flapping

_KEYS = re.compile(r"^(proxy_timeout|timeout[ .](client|server|tunnel)|(.*[._])?idle[._]?timeout)$")
"""nginx (stream): time between two reads or writes; HAProxy; load balancers. Not the times for a connect."""
_UNITS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}
"""nginx: "Configuration file measurement units"; a bare number is seconds."""
_TIME = re.compile(r"^(\d{1,9})(ms|s|m|h|)$")
_SAME = 1.5
"""Seconds by which a life and a limit may differ: brokers may print whole seconds for begin and end."""
_NEAR = 2.0


@dataclass(frozen=True, slots=True)
class Idle:
    """Clients whose connections end by one idle limit."""

    limit: Setting
    clients: tuple[Flapping, ...]

    @property
    def since(self) -> float | None:
        """When it first ended a connection."""
        ends = [life.until for one in self.clients for life in one.lives if life.until is not None]
        return min(ends, default=None)


@per_facts
def idle(facts: Facts) -> tuple[Idle, ...]:
    """Each idle limit that ends connections, with the clients that it concerns, in the order of the settings."""
    limits = [setting for setting in facts.settings if _seconds(setting) is not None]
    found: dict[int, list[Flapping]] = defaultdict(list)
    for one in flapping(facts):
        place = next((n for n, limit in enumerate(limits) if limit_of(one, limit)), None)
        if place is not None:
            found[place].append(one)
    return tuple(Idle(limits[place], tuple(found[place])) for place in sorted(found))


def limit_of(one: Flapping, setting: Setting) -> bool:
    """*setting* is an idle limit that ends the connections of *one*, which nobody else does."""
    seconds = _seconds(setting)
    if seconds is None or one.silent or not one.closed:
        return False
    return abs(one.life - seconds) <= _SAME and (one.keep_alive is None or seconds < one.keep_alive)


def is_by_limit(facts: Facts, loss: Episode) -> bool:
    """A client lost a connection at a moment at which an idle limit ended one; one of its own, where it is named."""
    ends = _ends(facts).get(loss.client_id, ())
    at = loss.first_at or 0.0
    return bisect_left(ends, at - _NEAR) < bisect_right(ends, at + _NEAR)


@per_facts
def _ends(facts: Facts) -> Mapping[str | None, Sequence[float]]:
    """When idle limits ended connections of each client, and of any (None), sorted."""
    found: dict[str | None, list[float]] = defaultdict(list)
    for one in (one for limit in idle(facts) for one in limit.clients):
        moments = [life.until for life in one.lives if life.until is not None]
        found[one.client_id] += moments
        found[None] += moments
    return {client: sorted(moments) for client, moments in found.items()}


def _seconds(setting: Setting) -> float | None:
    """An idle limit's seconds; None for any other setting."""
    told = _TIME.match(setting.value.strip()) if setting.scope == "proxy" and _KEYS.match(setting.key) else None
    return float(told.group(1)) * _UNITS[told.group(2)] if told else None
