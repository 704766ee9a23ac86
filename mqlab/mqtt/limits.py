"""Limits on what MQTT clients may send, and how much went through single connections of a proxy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mqlab.facts import Episode, Facts, Setting
from mqlab.findings import Evidence
from mqlab.models.rate_limits import bytes_per_second
from mqlab.mqtt.connection import Connection

_KEYS = re.compile(
    r"(^|[._])(proxy_upload_rate|conn_bytes_in|bytes_rate|rate_limit|incoming-bandwidth-throttling|incoming_limit)$"
)
"""nginx; EMQX 4.x and 5.x; HiveMQ."""
_RECEIVED = re.compile(r"received (\d+)")
_SAME = 2.0
"""Seconds by which a proxy and a client may differ about one connection's begin and end."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A configured limit on the bytes of one connection."""

    rate: float
    """Bytes a second."""
    setting: Setting

    @property
    def evidence(self) -> Evidence:
        """Where it is configured."""
        return Evidence(self.setting.source, self.setting.line, self.setting.text, "the limit")


@dataclass(frozen=True, slots=True)
class Carried:
    """What a proxy carried of one connection from the client to the broker."""

    seconds: float
    bytes: int
    line: Evidence

    @property
    def rate(self) -> float:
        """Bytes a second."""
        return self.bytes / self.seconds


def limits(facts: Facts) -> tuple[Limit, ...]:
    """Configured limits on the bytes that a connection may bring, the lowest first."""
    found = []
    for setting in facts.settings:
        if setting.scope in ("proxy", "broker") and _KEYS.search(setting.key):
            rate = bytes_per_second(setting.value)
            if rate:
                found.append(Limit(rate, setting))
    return tuple(sorted(found, key=lambda one: (one.rate, one.setting.source, one.setting.line or 0)))


def carried(facts: Facts, lives: Sequence[Connection]) -> tuple[Carried, ...]:
    """What a proxy carried of *lives*: connections that began and ended with one of them, each used once."""
    free = [e for e in facts.of_kind("proxied-connection") if e.system == "mqtt" and e.value_min]
    found = []
    for life in lives:
        same = [e for e in free if _is_of(e, life)]
        if same:
            nearest = min(same, key=lambda e: abs((e.first_at or 0.0) - (life.until or 0.0)))
            free.remove(nearest)
            received = _RECEIVED.search(nearest.reason or "")
            found.append(Carried(nearest.value_min or 0.0, int(received.group(1)) if received else 0, nearest.first))
    return tuple(found)


def _is_of(line: Episode, life: Connection) -> bool:
    if line.first_at is None or life.until is None or life.seconds is None:
        return False
    return abs(line.first_at - life.until) <= _SAME and abs((line.value_min or 0.0) - life.seconds) <= _SAME
