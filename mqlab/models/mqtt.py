"""Rules of MQTT brokers: sessions, queues, filters, shares, limits.

When an MQTT connection whose pings are not answered, or whose packets are not read, is given up.

Sources: MQTT 3.1.1, 3.1.2.10 and MQTT 5, 3.1.2.10 (the server closes after one and a half keep-alive without a packet);
``ping.go`` of paho Go 1.4 (check every 5 s, or half a keep-alive of 10 s and less; PingTimeout 10 s);
``_check_keepalive`` of paho Python and ``ClientState.checkForActivity`` of paho Java (an answer is due within another
keep-alive); ``keepalive.c`` of mosquitto 2.0 (looks every 5 s); ``emqx_keepalive.erl`` of EMQX 4.x (looks every
0.75 keep-alive, closes at the second look without a byte).

Why fewer messages were received than published: the known losses one after the other, and what is left over.

How many bytes a second a configured limit lets through, in the notations of proxies and brokers.

Sources: nginx ``ngx_parse_size`` (k and m are powers of 1024); EMQX 4.x ``rate_limit.conn_bytes_in = 100KB,10s``
(capacity and interval; KB is 1024) and 5.x ``bytes_rate = "1MB/s"``, ``"300KB/5m"``; HiveMQ
``incoming-bandwidth-throttling`` (bytes per second).

The queue of one MQTT session: what it holds, which messages survive when it is full, how it fills memory.

An offline session holds its queue limit. A connected one holds the limit and, besides, what is in flight.
EMQX throws the oldest away (``emqx_mqueue:in/2``), mosquitto refuses the newest (``db__message_insert``).

Limits of session queues by broker and version: defaults, and the settings that change them.

How brokers deal the messages of a share group: how many go to members that are not connected.

mosquitto deals strictly in turn, members without connection included (``subs__shared_process``: the first leaf is
moved to the end). EMQX picks by its strategy among sessions, connected or not (``emqx_shared_sub:do_pick_subscriber``),
unless it waits for acknowledgements. HiveMQ keeps one queue for the group, from which connected members take.

Topic filters of MQTT: which topics a filter matches, and which filters have a topic in common (MQTT 5.0 §4.7, §4.8).

A filter of a share group is written ``$share/GROUP/FILTER``; brokers of the EMQX family also know ``$queue/FILTER``.

Arithmetic of messages that circulate: how long a round takes, and how much more a broker takes in than is published.

A message that went round once is a new one to the broker, so with one copy a round each message that comes in adds one
round after the other, until the line or a queue is full.

Arithmetic of what a broker sends again: retained messages at each subscribe, unacknowledged ones at each connect.

A subscribe makes the broker send every retained message that matches (MQTT 3.1.1 §3.3.1.3; MQTT 5 §3.3.1.3, unless
retain handling says no). A session that comes back gets what it had not acknowledged, with the DUP flag (§4.4), which
is the in-flight window at most.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf, sqrt

from mqlab.models.draining import Interval
from mqlab.models.kafka_defaults import Version

PING_TIMEOUT = 10.0
"""Seconds that paho Go waits for an answer to its ping, by default."""
ANSWERED = 2
"""Pings answered in one life at most that the lives of a limited connection are compared with: with more, any life
fits."""
_CHECK = 5.0
_PATIENCE = 1.5
_EMQX = 2.25
_LOOK = 5.0


@dataclass(frozen=True, slots=True)
class Span:
    """From so many seconds to so many."""

    low: float
    high: float

    def holds(self, seconds: float, tolerance: float = 0.0) -> bool:
        """*seconds* lies in it, or outside by *tolerance* at most."""
        return self.low - tolerance <= seconds <= self.high + tolerance


def broker_gives_up(keep_alive: float) -> Span:
    """Seconds from the last packet read until the broker closes: 1.5 keep-alive, up to 2.25 with EMQX 4.x."""
    return Span(_PATIENCE * keep_alive, max(_PATIENCE * keep_alive + _LOOK, _EMQX * keep_alive))


def go_gives_up(keep_alive: float, ping_timeout: float = PING_TIMEOUT, answered: int = 0) -> Span:
    """Seconds from connecting until paho Go gives up, when *answered* pings were answered before."""
    check = _check(keep_alive)
    pings = answered + 1
    return Span(pings * keep_alive + ping_timeout, pings * (keep_alive + check) + max(ping_timeout, check))


def double_gives_up(keep_alive: float, answered: int = 0) -> Span:
    """The same for paho Python and Java, which look once a second or when something is sent."""
    return Span((2 + answered) * keep_alive, (2 + answered) * (keep_alive + 1.0))


def fits(life: float, keep_alive: float, ping_timeout: float = PING_TIMEOUT) -> bool:
    """A life so long is what client or broker make of a connection that is not read, after a few answered pings."""
    spans = [broker_gives_up(keep_alive)]
    for answered in range(ANSWERED + 1):
        spans += [go_gives_up(keep_alive, ping_timeout, answered), double_gives_up(keep_alive, answered)]
    return any(span.holds(life, 1.0) for span in spans)


def pause(batch_bytes: float, burst_bytes: float, bytes_per_second: float) -> float:
    """Seconds for which a token bucket does not read after a batch, 0 where it fits into the burst."""
    return max(0.0, batch_bytes - burst_bytes) / bytes_per_second


def survives(paused: float, keep_alive: float, ping_timeout: float = PING_TIMEOUT) -> bool:
    """A pause so long ends no connection: both sides wait longer."""
    return paused < min(broker_gives_up(keep_alive).low, keep_alive + ping_timeout)


def _check(keep_alive: float) -> float:
    return _CHECK if keep_alive > 10 else keep_alive / 2


RESIDUAL = "unexplained"


@dataclass(frozen=True, slots=True)
class Step:
    """One stage of the funnel from published to received."""

    name: str
    messages: Interval
    """How many did not come through here; the residual may be negative."""
    left: float
    """How many are left after it."""


def funnel(published: int, received: int, losses: Sequence[tuple[str, Interval]]) -> tuple[Step, ...]:
    """The steps down from *published* to *received*; the last one is what no loss explains.

    The residual's interval is that of the losses turned round: it holds zero where they explain everything.
    """
    steps, left = [], float(published)
    for name, messages in losses:
        left -= messages.likely
        steps.append(Step(name, messages, left))
    low, high = (float(published - received) for _ in range(2))
    for _, messages in losses:
        low, high = low - messages.high, high - messages.low
    return (*steps, Step(RESIDUAL, Interval(low, left - received, high), float(received)))


def explained(steps: Sequence[Step]) -> bool:
    """The residual may be zero."""
    return steps[-1].messages.low <= 0 <= steps[-1].messages.high


def limited(published: int, rate: float, seconds: float) -> int:
    """How many of *published* a limit of *rate* a second lets through in so many *seconds*."""
    return min(published, int(rate * seconds))


def held(published: int, members: int, limit: int | None) -> int:
    """How many of *published* are left at a share group whose members are all offline: each queue holds its limit."""
    return published if limit is None else min(published, members * limit)


_LIMIT = re.compile(r"\s*\"?(\d+(?:\.\d+)?)\s*([kKmMgG]?)[bB]?\s*(?:[,/]\s*(\d*)\s*(ms|s|m|h|d))?\"?\s*")
_POWER = {"": 1.0, "k": 1024.0, "m": 1024.0**2, "g": 1024.0**3}
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def bytes_per_second(text: str) -> float | None:
    """The rate of ``10k``, ``100KB,10s`` or ``1MB/s``; None for what is no limit, such as ``infinity`` and ``0``."""
    found = _LIMIT.fullmatch(text)
    if found is None:
        return None
    amount, unit, often, interval = found.groups()
    seconds = float(often or 1) * _SECONDS[interval or "s"]
    rate = float(amount) * _POWER[unit.lower()] / seconds if seconds else 0.0
    return rate or None


OLDEST, NEWEST = "oldest", "newest"
"""Which messages a full queue keeps."""


@dataclass(frozen=True, slots=True)
class Queue:
    """Limits of one session's queue."""

    limit: int | None
    """Messages that wait; None is unlimited."""
    inflight: int
    """Messages sent to a connected client and not acknowledged."""
    keeps: str | None
    """Oldest or newest; None where it is not known."""

    def holds(self, *, connected: bool) -> float:
        """Messages that the session can have, infinity where there is no limit."""
        return inf if self.limit is None else self.limit + (self.inflight if connected else 0)


@dataclass(frozen=True, slots=True)
class Filling:
    """What becomes of a session that gets messages faster than it hands them over; in messages and seconds."""

    full_after: float
    """Seconds until the queue is full; infinity where it never is."""
    received: float
    """Handed over within the time, and afterwards from the queue."""
    dropped: float
    delay: float
    """How long a message waits at the end of the time."""


def survivors(messages: int, queue: Queue) -> tuple[int, int]:
    """First and last (1-based) of *messages* to an idle session that are left; (1, 0) is none."""
    kept = messages if queue.limit is None else min(messages, queue.limit)
    return (messages - kept + 1, messages) if queue.keeps == NEWEST else (1, kept)


def filling(queue: Queue, arriving: float, handled: float, seconds: float) -> Filling:
    """A session to which *arriving* messages a second come and that hands *handled* a second over; 0 is offline."""
    room = queue.holds(connected=handled > 0)
    surplus = max(0.0, arriving - handled)
    full_after = room / surplus if surplus > 0 else inf
    waiting = min(room, surplus * seconds)
    dropped = surplus * max(0.0, seconds - full_after)
    delay = waiting / handled if handled > 0 else inf
    return Filling(full_after, arriving * seconds - dropped, dropped, delay)


@dataclass(frozen=True, slots=True)
class Overhead:
    """Bytes of memory that a broker needs for a queued message besides its payload."""

    once: float
    """For the message, however many sessions it waits for."""
    each: float
    """For each session."""


OVERHEADS = {"mosquitto": Overhead(300.0, 90.0), "emqx": Overhead(0.0, 1000.0)}
"""Measured at mosquitto 2.0.11; EMQX: message record and queue node, an estimate."""


def bytes_per_message(overhead: Overhead, payload: float, sessions: int = 1) -> float:
    """Memory of one message that waits for *sessions*: the payload is stored once."""
    return payload + overhead.once + overhead.each * sessions


@dataclass(frozen=True, slots=True)
class Forecast:
    """Where a queue that grows will end; seconds from now."""

    full_in: float | None
    """Memory is used up; None where its size is not known or the session expires first."""
    expires_in: float | None
    """The session expires and its queue is thrown away; None where it never does."""
    peak_bytes: float | None
    """Memory when the first of them happens; None where neither is known to."""


def forecast(used: float, growth: float, memory: float | None, expires_in: float | None) -> Forecast:
    """Bytes *used* that grow by *growth* a second, in a *memory* of so many bytes, until the session expires."""
    full = (memory - used) / growth if memory is not None and growth > 0 else inf
    expires = inf if expires_in is None else expires_in
    first = min(full, expires)
    return Forecast(
        full if full <= expires and full < inf else None, expires_in, None if first == inf else used + growth * first
    )


_DEFAULTS = {
    "mosquitto": Queue(1000, 20, OLDEST),
    "emqx": Queue(1000, 32, NEWEST),
    "hivemq": Queue(1000, 10, None),
}
"""mosquitto.conf(5): max_queued_messages, max_inflight_messages; EMQX: max_mqueue_len, max_inflight; HiveMQ:
queued-messages max-queue-size, and the receive maximum of its clients, which is what it keeps in flight."""
_OLD_MOSQUITTO = 100
"""max_queued_messages up to 1.6."""
_LIMITS = (
    "max_queued_messages", "mqtt.max_mqueue_len", "max_mqueue_len", "zone.external.max_mqueue_len", "max-queue-size",
)  # fmt: skip
_INFLIGHT = ("max_inflight_messages", "mqtt.max_inflight", "max_inflight", "zone.external.max_inflight")
_STRATEGY = "strategy"
_KEEPS = {"discard": OLDEST, "discard-oldest": NEWEST}
"""HiveMQ's queued-messages strategy: discard refuses the new message (its default), discard-oldest the oldest."""
_ENDLESS = ("0", "infinity")


def queue(broker: str, version: Version | None, settings: Mapping[str, str]) -> Queue | None:
    """The queue of a session at *broker* with these *settings*; None where its defaults are not known.

    Settings by the broker's own keys; 0 and infinity are no limit. mosquitto 1.x holds 100 messages, 2.x 1000.
    """
    usual = _DEFAULTS.get(broker)
    if usual is None:
        return None
    limit = usual.limit
    if broker == "mosquitto" and version is not None and version < Version(2, 0):
        limit = _OLD_MOSQUITTO
    told = _first(_LIMITS, settings)
    keeps = usual.keeps or _KEEPS.get(settings.get(_STRATEGY, "discard"))
    return Queue(limit if told is None else _number(told, limit), _inflight(settings, usual.inflight), keeps)


def _inflight(settings: Mapping[str, str], usual: int) -> int:
    told = _first(_INFLIGHT, settings)
    return _number(told, usual) or usual if told is not None else usual


def _first(keys: tuple[str, ...], settings: Mapping[str, str]) -> str | None:
    return next((settings[key].strip() for key in keys if key in settings), None)


def _number(told: str, usual: int | None) -> int | None:
    if told in _ENDLESS:
        return None
    return int(told) if told.isdigit() else usual


SIGMAS = 4
"""Standard deviations by which a random pick may miss its mean."""


class Strategy(StrEnum):
    """Who gets the next message; the names are those of ``shared_subscription_strategy``, and two of other brokers."""

    TURNS = "turns"
    """mosquitto: one after the other, one turn for the group and filter."""
    QUEUE = "queue"
    """HiveMQ: one queue for the group."""
    RANDOM = "random"
    ROUND_ROBIN = "round_robin"
    """One turn for each publisher's connection, from a random start."""
    PER_GROUP = "round_robin_per_group"
    STICKY = "sticky"
    """Each publisher's first pick, for as long as that session lives."""
    HASH_CLIENTID = "hash_clientid"
    HASH_TOPIC = "hash_topic"
    LOCAL = "local"
    """Members at the publisher's node first, else random."""


_TURNS = frozenset({Strategy.TURNS, Strategy.ROUND_ROBIN, Strategy.PER_GROUP})
_WHOLE = frozenset({Strategy.STICKY, Strategy.HASH_CLIENTID, Strategy.HASH_TOPIC, Strategy.LOCAL})
_OLD_NAMES = {"hash": Strategy.HASH_CLIENTID}


def strategy(name: str) -> Strategy | None:
    """The strategy that a configuration calls *name*; None where it is none of them."""
    if name in _OLD_NAMES:
        return _OLD_NAMES[name]
    return Strategy(name) if name in Strategy._value2member_map_ else None


def fraction(members: int, dead: int) -> float:
    """Share of the messages that *dead* of *members* get in the mean: d / K."""
    return min(dead, members) / members if members > 0 else 0.0


def diverted(how: Strategy, members: int, dead: int, messages: int, publishers: int = 1) -> Interval:
    """How many of *messages* go to members without connection; acknowledged dispatch is another matter.

    In turn each turn is whole but for its last round, so no publisher is off by more than *dead* messages. Sticky,
    hashed and local picks affect a publisher or topic wholly or not at all: only the mean is d / K.
    """
    share = fraction(members, dead)
    mean = messages * share
    if how is Strategy.QUEUE or share == 0:
        return Interval(0.0, 0.0, 0.0)
    if share == 1:
        return Interval(float(messages), float(messages), float(messages))
    if how in _WHOLE:
        return Interval(0.0, mean, float(messages))
    turns = publishers if how is Strategy.ROUND_ROBIN else 1
    spread = float(dead * turns) if how in _TURNS else SIGMAS * sqrt(messages * share * (1 - share))
    return Interval(max(0.0, mean - spread), mean, min(float(messages), mean + spread))


def acknowledged(members: int, dead: int, messages: int) -> int:
    """The same where the broker waits for the member's answer: the next member gets it while there is a living one."""
    return messages if members and dead >= members else 0


QUEUE = "$queue"
"""Name of the group that ``$queue/FILTER`` stands for."""
_WILD = ("+", "#")


def shared(name: str) -> tuple[str | None, str]:
    """(share group, the filter itself) of the filter *name*; the group is None where it is not shared."""
    first, _, rest = name.partition("/")
    if first == QUEUE and rest:
        return QUEUE, rest
    group, _, inner = rest.partition("/")
    return (group, inner) if first == "$share" and group and inner else (None, name)


def valid(name: str) -> bool:
    """``#`` stands alone at the end, ``+`` alone in its level, and the filter is not empty (§4.7.1)."""
    levels = shared(name)[1].split("/")
    lone = all(level in _WILD or not set(level) & set(_WILD) for level in levels)
    return bool(name) and lone and "#" not in levels[:-1]


def matches(name: str, topic: str) -> bool:
    """The filter *name*, shared or not, matches *topic*; a leading wildcard never a ``$`` topic (§4.7.2)."""
    levels, parts = shared(name)[1].split("/"), topic.split("/")
    if topic.startswith("$") and levels[0] in _WILD:
        return False
    for place, level in enumerate(levels):
        if level == "#":
            return True
        if place >= len(parts) or level not in ("+", parts[place]):
            return False
    return len(levels) == len(parts)


def overlap(one: str, other: str) -> bool:
    """Some topic is matched by both filters, shared or not."""
    mine, yours = shared(one)[1].split("/"), shared(other)[1].split("/")
    if mine[0] != yours[0] and any(a.startswith("$") and b in _WILD for a, b in _both(mine[0], yours[0])):
        return False
    for place in range(max(len(mine), len(yours))):
        here, there = mine[place : place + 1], yours[place : place + 1]
        if ["#"] in (here, there):
            return True
        if not here or not there:
            return False
        if here != there and ["+"] not in (here, there):
            return False
    return True


def _both(one: str, other: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return (one, other), (other, one)


def round_trip(copies: int, seconds: float) -> float | None:
    """Seconds that one round took on average, of a message that was noted *copies* times within *seconds*."""
    return seconds / (copies - 1) if copies > 1 else None


def amplification(received: float, published: float) -> float | None:
    """Messages that a broker took in for each that somebody published; None where nobody published."""
    return received / published if published > 0 else None


MOSQUITTO = 20
"""``max_inflight_messages`` of mosquitto where nothing is set (mosquitto.conf(5))."""


def replays_fit(retained: int, topics: int, subscribes: int) -> bool:
    """*subscribes* replays of *topics* make so many rows; one may be cut off at either end of the material."""
    return topics > 0 and abs(retained - topics * subscribes) <= topics


def most_again(connects: int, window: int) -> int | None:
    """Messages that can come again after so many connects; None where the window (0) has no limit."""
    return connects * window if window > 0 else None
