"""MQTT clients whose connections end after the same time again and again, and limits that end them.

Limits on what MQTT clients may send, and how much went through single connections of a proxy.

MQTT clients whose connections end after the same time again and again, and what makes them.

A client whose packets are read more slowly than it sends them gets no answer to its pings in time: client or broker
gives up by its keep-alive, and the client is back at once, since its link is sound.

MQTT connections that a proxy ends because nothing was sent for too long: its idle limit is below the keep-alive.

A client need not send anything until its keep-alive has passed (MQTT 3.1.1, 3.1.2.10), so a proxy that waits for less
ends the connection of every quiet client, always after the same time, and no side notices silence before.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from mqlab.facts import Episode, Facts, Setting
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models import mqtt
from mqlab.models.mqtt import bytes_per_second
from mqlab.mqtt.connections import SILENT, Connection, by_client, client_of, told_by_clients
from mqlab.mqtt.takeovers import fought

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


LEAST = 3
"""Lives of a client at least that are compared."""
ON_PURPOSE = frozenset({"normal", "broker-stopped", "broker-restarted", "kicked", "not-authorized", "protocol-error",
                        "frame-too-large", "queue-killed"})  # fmt: skip
"""Ends that are no loss of a connection by silence."""
AT_ONCE = 5.0
"""Seconds in which a client with a sound link is back: after the first waits of any library."""
_NEAR = 2.0
_ALIKE, _SAME_LENGTH, _MOST = 0.1, 1.5, 0.6
"""Lives are alike that differ by a tenth, since clients look every 5 s, or by 1.5 s; so must most be: the first one
fills buffers first."""


@dataclass(frozen=True, slots=True)
class Flapping:
    """A client whose connections end after the same time."""

    broker: str | None
    client_id: str
    lives: tuple[Connection, ...]
    """Those that ended by themselves, by begin, as the client tells or else the broker."""
    life: float
    """Seconds that most of them lasted."""
    gap: float
    """Seconds until it was back, mostly."""
    keep_alive: float | None
    unanswered: tuple[Episode, ...]
    """Lines that say that silence ended a connection: a ping without an answer, or the broker's timeout."""
    carried: tuple[Carried, ...]
    """What a proxy carried of the lives."""
    paused: float
    """Seconds that the broker paused reading from the client, at most; 0 where it tells of none."""

    @property
    def fits(self) -> bool:
        """It is a time that a keep-alive makes."""
        return self.keep_alive is None or mqtt.fits(self.life, self.keep_alive)

    @property
    def kept_alive(self) -> bool:
        """It is known to be one: an idle timeout is none, since a client sends once in a keep-alive at least."""
        return self.keep_alive is not None and self.fits

    @property
    def closed(self) -> bool:
        """Neither silence nor a connect of its own ended most of them: somebody closed them."""
        quiet = len(self.unanswered) + sum(life.ended == "taken-over" for life in self.lives)
        return 2 * quiet < len(self.lives)

    @property
    def silent(self) -> bool:
        """As often as not it was silence that ended a connection, after a time that a keep-alive makes."""
        return 2 * len(self.unanswered) >= len(self.lives) and self.fits


@per_facts
def flapping(facts: Facts) -> tuple[Flapping, ...]:
    """Every client with lives that are alike, by broker and id; not those whose id others take."""
    return tuple(_of_every(facts))


def _of_every(facts: Facts) -> Iterator[Flapping]:
    own: dict[str, list[Connection]] = {}
    for connection in told_by_clients(facts):
        own.setdefault(connection.client_id, []).append(connection)
    for (broker, client), told in by_client(facts).items():
        if (broker, client) in fought(facts):
            continue
        seen = own.get(client, [])
        lost = [c for c in seen if c.end is not None]
        every = seen if len(lost) >= LEAST else list(told)
        lives = [c for c in every if c.seconds is not None and c.ended is not None and c.ended not in ON_PURPOSE]
        life = _common(lives)
        if life is not None:
            yield _flapping(facts, (broker, client), every, lives, life)


def _common(lives: Sequence[Connection]) -> float | None:
    """The time that most of the lives lasted, where there is one."""
    lasted = [c.seconds for c in lives if c.seconds is not None]
    if len(lasted) < LEAST:
        return None
    middle = median(lasted)
    alike = [s for s in lasted if abs(s - middle) <= max(_SAME_LENGTH, _ALIKE * middle)]
    return middle if len(alike) >= max(LEAST, _MOST * len(lasted)) and middle > _SAME_LENGTH else None


def _flapping(
    facts: Facts, key: tuple[str | None, str], every: Sequence[Connection], lives: Sequence[Connection], life: float
) -> Flapping:
    broker, client = key
    again = [(b.since or 0.0) - a.until for a, b in pairwise(every) if a.until is not None and a in lives]
    patience = next((c.keep_alive for c in lives if c.keep_alive), None) or _configured(facts, client)
    paused = [e.value_max or 0.0 for e in facts.of_kind("rate-limited") if e.client_id == client]
    return Flapping(
        broker, client, tuple(lives), life, median(again) if again else 0.0, patience,
        _silences(facts).get(client, ()), carried(facts, lives), max(paused, default=0.0) / 1000,
    )  # fmt: skip


def _configured(facts: Facts, client: str) -> float | None:
    told = [c.keep_alive for own in by_client(facts).values() for c in own if c.client_id == client and c.keep_alive]
    return told[0] if told else None


@per_facts
def _silences(facts: Facts) -> Mapping[str, tuple[Episode, ...]]:
    """Lines that say that silence ended a connection, by client: one for each time."""
    found: dict[str, list[Episode]] = {}
    for line in facts.of_kind("ping-unanswered", "client-disconnected", "connection-lost"):
        silence = line.kind == "ping-unanswered" or line.reason in ("keep-alive", SILENT)
        client = client_of(facts, line) if silence and line.system == "mqtt" else None
        if client is None or line.first_at is None:
            continue
        mine = found.setdefault(client, [])
        if not mine or line.first_at - (mine[-1].first_at or 0.0) > _NEAR:
            mine.append(line)
    return {client: tuple(lines) for client, lines in found.items()}


_IDLE_KEYS = re.compile(r"^(proxy_timeout|timeout[ .](client|server|tunnel)|(.*[._])?idle[._]?timeout)$")
"""nginx (stream): time between two reads or writes; HAProxy; load balancers. Not the times for a connect."""
_UNITS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}
"""nginx: "Configuration file measurement units"; a bare number is seconds."""
_TIME = re.compile(r"^(\d{1,9})(ms|s|m|h|)$")
_SAME_IDLE = 1.5
"""Seconds by which a life and a limit may differ: brokers may print whole seconds for begin and end."""


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
    return abs(one.life - seconds) <= _SAME_IDLE and (one.keep_alive is None or seconds < one.keep_alive)


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
    told = _TIME.match(setting.value.strip()) if setting.scope == "proxy" and _IDLE_KEYS.match(setting.key) else None
    return float(told.group(1)) * _UNITS[told.group(2)] if told else None
