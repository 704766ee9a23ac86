"""MQTT clients whose connections end after the same time again and again, and limits that end them.

A client whose packets are read more slowly than it sends them gets no answer to its pings in time: client or broker
gives up by its keep-alive, and the client is back at once, since its link is sound.

Nobody need limit what it sends: an uplink that is thinner than that delays its pings all the same.

A client need not send anything until its keep-alive has passed (MQTT 3.1.1, 3.1.2.10), so a proxy whose idle limit is
less ends the connection of every quiet client, always after the same time, and no side notices silence before.
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
from mqlab.mqtt.brokers import EDGE
from mqlab.mqtt.connections import Connection, by_client, by_own_log, client_of, silent_ends
from mqlab.mqtt.takeovers import fought

_KEYS = re.compile(
    r"(^|[._])(proxy_upload_rate|conn_bytes_in|bytes_rate|rate_limit|incoming-bandwidth-throttling|incoming_limit"
    r"|limiter\.(?:client\.)?bytes(?:_in)?\.rate)$"
)
"""nginx; EMQX 4.x and 5.x; HiveMQ."""
_RECEIVED = re.compile(r"received (\d+)")


@dataclass(frozen=True, slots=True)
class Limit:
    """A configured limit on the bytes of one connection."""

    rate: float
    """Bytes a second."""
    setting: Setting


@dataclass(frozen=True, slots=True)
class Carried:
    """What a proxy carried of one connection from the client to the broker."""

    seconds: float
    bytes: int
    line: Evidence


def limits(facts: Facts) -> tuple[Limit, ...]:
    """Configured limits on the bytes that a connection may bring, the lowest first."""
    own = [s for s in facts.settings if s.scope in ("proxy", "broker") and _KEYS.search(s.key)]
    found = [Limit(rate, s) for s in own if (rate := bytes_per_second(s.value))]
    return tuple(sorted(found, key=lambda limit: (limit.rate, limit.setting.source, limit.setting.line or 0)))


def _carried(facts: Facts, lives: Sequence[Connection]) -> Iterator[Carried]:
    """What a proxy carried of *lives*: connections that began and ended with one of them, each used once."""
    free = [e for e in facts.of_kind("proxied-connection") if e.system == "mqtt" and e.value_min and e.first_at]
    for life in lives:
        until, seconds = life.until or 0.0, life.seconds or 0.0
        apart = [(abs((e.first_at or 0.0) - until), abs((e.value_min or 0.0) - seconds), e) for e in free]
        same = [(ends, e) for ends, lasted, e in apart if ends <= EDGE and lasted <= EDGE]
        if same:
            _, nearest = min(same, key=lambda pair: pair[0])
            free.remove(nearest)
            received = _RECEIVED.search(nearest.reason or "")
            yield Carried(nearest.value_min or 0.0, int(received.group(1)) if received else 0, nearest.first)


LEAST = 3
"""Lives of a client at least that are compared. Judgement, no default behind it: two may be alike by chance."""
ON_PURPOSE = frozenset({"normal", "broker-stopped", "broker-restarted", "kicked", "not-authorized", "protocol-error",
                        "frame-too-large", "queue-killed"})  # fmt: skip
"""Ends that are no loss of a connection by silence."""
_KEEP_ALIVE = 60.0
"""Seconds that most libraries set (paho, mqtt.js), where none is told."""
AT_ONCE = 5.0
"""Seconds in which a client with a sound link is back: after the first waits of any library (bridges of mosquitto have
the longest, restart_timeout 5 s)."""
_ALIKE, _SAME_LENGTH, _MOST = 0.1, 1.5, 0.6
"""Lives are alike that differ by a tenth, since clients look every 5 s, or by 1.5 s: one log tells of begin and end, in
whole seconds it may be, and who ends it looks now and then. So must most be, 0.6 of them: the first one fills buffers
first. The shares are judgement, no default behind them."""


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
    held: bool = False
    """The broker had just paused reading from it before silence ended most of the lives."""
    sent: float = 0.0
    """Messages a second that the client's own ledger notes as published meanwhile; 0 without one."""

    @property
    def busy(self) -> bool:
        """It had something to send all the time: no idle limit and no lost mapping of a NAT ends that."""
        return self.keep_alive is not None and self.sent * self.keep_alive >= LEAST

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
    found = []
    for (broker, client), seen in by_client(facts).items():
        own = by_own_log(facts).get(client, ())
        every = own if sum(c.end is not None for c in own) >= LEAST else seen
        lives = [c for c in every if c.seconds is not None and c.ended is not None and c.ended not in ON_PURPOSE]
        if (broker, client) in fought(facts):
            continue
        silences, lasted = tuple(_silences(facts, client)), [c.seconds for c in lives if c.seconds is not None]
        times = _held(facts, client, silences, next((c.keep_alive for c in lives if c.keep_alive), None))
        held = times >= LEAST and 2 * times > len(lives)
        life = _common(lasted) or (median(lasted) if held else None)
        if life is not None:
            kept = {id(c) for c in lives}
            gaps = [(b.since or 0.0) - a.until for a, b in pairwise(every) if a.until is not None and id(a) in kept]
            by_brokers = (c for (_, name), seen in by_client(facts).items() if name == client for c in seen)
            keep_alive = next((c.keep_alive for c in (*lives, *by_brokers) if c.keep_alive), None)
            paused = [e.value_max or 0.0 for e in facts.of_kind("rate-limited") if e.client_id == client]
            carried, longest = tuple(_carried(facts, lives)), max(paused, default=0.0) / 1000
            found.append(Flapping(
                broker, client, tuple(lives), life, median(gaps) if gaps else 0.0, keep_alive, silences, carried,
                longest, held, _sent(facts, client, lives),
            ))  # fmt: skip
    return tuple(found)


def _common(lasted: Sequence[float]) -> float | None:
    """The time that most of the lives lasted, where there is one."""
    if len(lasted) < LEAST:
        return None
    middle = median(lasted)
    alike = [s for s in lasted if abs(s - middle) <= max(_SAME_LENGTH, _ALIKE * middle)]
    return middle if len(alike) >= max(LEAST, _MOST * len(lasted)) and middle > _SAME_LENGTH else None


def _silences(facts: Facts, client: str) -> Iterator[Episode]:
    """Lines that say that silence ended a connection: one for each time."""
    ended = (*_unheard(facts).get(client, ()), *silent_ends(facts).get(client, ()))
    last = float("-inf")
    for line in sorted(ended, key=lambda e: e.first_at or 0.0):
        if line.first_at is not None and line.first_at - last > EDGE:
            last = line.first_at
            yield line


@per_facts
def _unheard(facts: Facts) -> Mapping[str | None, Sequence[Episode]]:
    """Lines that name the keep-alive as what ended a connection, by client."""
    found: dict[str | None, list[Episode]] = defaultdict(list)
    for line in facts.of_kind("client-disconnected", "connection-lost"):
        if line.reason == "keep-alive" and line.system == "mqtt":
            found[client_of(facts, line)].append(line)
    return found


def _held(facts: Facts, client: str, silences: Sequence[Episode], keep_alive: float | None) -> int:
    """Of *silences* those before which the broker paused reading, no longer ago than both sides wait."""
    patience = mqtt.broker_gives_up(keep_alive or _KEEP_ALIVE).high
    pauses = [e for e in facts.of_kind("rate-limited") if e.client_id == client and e.first_at is not None]
    ends = [e.first_at for e in silences if e.first_at is not None]
    return sum(any((p.first_at or 0.0) <= at <= (p.last_at or 0.0) + patience for p in pauses) for at in ends)


def _sent(facts: Facts, client: str, lives: Sequence[Connection]) -> float:
    since, until = lives[0].since or 0.0, lives[-1].until or 0.0
    own = [f for f in facts.flows if f.party == client and f.first_at <= until and f.last_at >= since]
    return sum(f.messages for f in own) / (until - since) if until > since else 0.0


_IDLE_KEYS = re.compile(r"^(proxy_timeout|timeout[ .](client|server|tunnel)|(.*[._])?idle[._]?timeout)$")
"""nginx (stream): time between two reads or writes; HAProxy; load balancers. Not the times for a connect."""
_UNITS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}
"""nginx: "Configuration file measurement units"; a bare number is seconds."""
_TIME = re.compile(r"^(\d{1,9})(ms|s|m|h|)$")


@dataclass(frozen=True, slots=True)
class Idle:
    """Clients whose connections end by one idle limit."""

    limit: Setting
    clients: tuple[Flapping, ...]

    @property
    def since(self) -> float | None:
        """When it first ended a connection."""
        ends = [life.until for client in self.clients for life in client.lives if life.until is not None]
        return min(ends, default=None)


@per_facts
def idle(facts: Facts) -> tuple[Idle, ...]:
    """Each idle limit that ends connections, with the clients that it concerns, in the order of the settings."""
    limits = [setting for setting in facts.settings if _seconds(setting) is not None]
    found: dict[int, list[Flapping]] = defaultdict(list)
    for client in flapping(facts):
        place = next((n for n, limit in enumerate(limits) if limit_of(client, limit)), None)
        if place is not None:
            found[place].append(client)
    return tuple(Idle(limits[place], tuple(own)) for place, own in sorted(found.items()))


def limit_of(client: Flapping, setting: Setting) -> bool:
    """*setting* is an idle limit that ends the connections of *client*, which nobody else does."""
    seconds = _seconds(setting)
    if seconds is None or client.silent or not client.closed:
        return False
    return abs(client.life - seconds) <= _SAME_LENGTH and (client.keep_alive is None or seconds < client.keep_alive)


def is_by_limit(facts: Facts, loss: Episode) -> bool:
    """A client lost a connection at a moment at which an idle limit ended one; one of its own, where it is named."""
    ends = _ends(facts).get(loss.client_id, ())
    at = loss.first_at or 0.0
    return bisect_left(ends, at - EDGE) < bisect_right(ends, at + EDGE)


@per_facts
def _ends(facts: Facts) -> Mapping[str | None, Sequence[float]]:
    """When idle limits ended connections of each client, and of any (None), sorted."""
    found: dict[str | None, list[float]] = defaultdict(list)
    for client in (client for limit in idle(facts) for client in limit.clients):
        moments = [life.until for life in client.lives if life.until is not None]
        found[client.client_id] += moments
        found[None] += moments
    return {client: sorted(moments) for client, moments in found.items()}


def _seconds(setting: Setting) -> float | None:
    """An idle limit's seconds; None for any other setting."""
    match = _TIME.match(setting.value.strip()) if setting.scope == "proxy" and _IDLE_KEYS.match(setting.key) else None
    return float(match.group(1)) * _UNITS[match.group(2)] if match else None
