"""Rules of MQTT, its brokers and clients: filters, keep-alive, reconnects, queues, share groups, limits, the funnel.

- Filters: MQTT 5.0 §4.7 and §4.8; brokers of the EMQX family also know ``$queue/FILTER``.
- Keep-alive: the server closes after one and a half keep-alive without a packet (MQTT 3.1.1, 3.1.2.10); ``ping.go`` of
  paho Go 1.4 (check every 5 s, or half a keep-alive of 10 s and less; PingTimeout 10 s); ``_check_keepalive`` of paho
  Python and ``ClientState.checkForActivity`` of paho Java (an answer is due within another keep-alive); ``keepalive.c``
  of mosquitto 2.0 (looks every 5 s); ``emqx_keepalive.erl`` of EMQX 4.x (looks every 0.75 keep-alive, closes at the
  second look without a byte).
- Queues: an offline session holds its queue limit, a connected one also what is in flight. EMQX throws the oldest
  message away (``emqx_mqueue:in/2``), mosquitto refuses the newest (``db__message_insert``).
- Share groups: mosquitto deals strictly in turn, members without connection included (``subs__shared_process``: the
  first leaf is moved to the end). EMQX picks by its strategy among sessions, connected or not
  (``emqx_shared_sub:do_pick_subscriber``). HiveMQ keeps one queue, from which connected members take.
- Reconnects: ``backoff.go`` of paho Go 1.4 (at once after the first loss; 1, 2, 4 … s up to MaxReconnectInterval,
  10 min, while a connection lasts no longer than 6 s); ``MqttAsyncClient`` of paho Java (1 s, doubled only while
  connecting fails); ``reconnect_delay_set`` of paho Python (1 s after any connection that was accepted); bridges of
  mosquitto wait 5 to 30 s.
- Limits: nginx ``ngx_parse_size`` (k and m are powers of 1024); EMQX 4.x ``rate_limit.conn_bytes_in = 100KB,10s``
  (capacity and interval) and 5.x ``bytes_rate = "1MB/s"``; HiveMQ ``incoming-bandwidth-throttling`` (bytes a second).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import inf, sqrt

from mqlab.models.kafka_defaults import Version
from mqlab.units import Interval

OWN_CLIENT = re.compile(r"mqlab-[0-9a-f]{32}")
"""Client ids with which mqlab itself connects (``mqlab.gather.mqtt``)."""
PING_TIMEOUT = 10.0
"""Seconds that paho Go waits for an answer to its ping, by default."""
ANSWERED = 2
"""Pings answered in one life at most that the lives of a limited connection are compared with: with more, any life
fits."""


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
    return Span(1.5 * keep_alive, max(1.5 * keep_alive + 5.0, 2.25 * keep_alive))


def go_gives_up(keep_alive: float, answered: int = 0) -> Span:
    """Seconds from connecting until paho Go gives up, when *answered* pings were answered before."""
    check, pings = 5.0 if keep_alive > 10 else keep_alive / 2, answered + 1
    return Span(pings * keep_alive + PING_TIMEOUT, pings * (keep_alive + check) + max(PING_TIMEOUT, check))


def double_gives_up(keep_alive: float, answered: int = 0) -> Span:
    """The same for paho Python and Java, which look once a second or when something is sent."""
    return Span((2 + answered) * keep_alive, (2 + answered) * (keep_alive + 1.0))


def fits(life: float, keep_alive: float) -> bool:
    """A life so long is what client or broker make of a connection that is not read, after a few answered pings."""
    spans = [broker_gives_up(keep_alive)]
    spans += [gives_up(keep_alive, n) for n in range(ANSWERED + 1) for gives_up in (go_gives_up, double_gives_up)]
    return any(span.holds(life, 1.0) for span in spans)


def survives(paused: float, keep_alive: float) -> bool:
    """A pause so long ends no connection: both sides wait longer."""
    return paused < min(broker_gives_up(keep_alive).low, keep_alive + PING_TIMEOUT)


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
    low = published - received - sum(messages.high for _, messages in losses)
    high = published - received - sum(messages.low for _, messages in losses)
    return (*steps, Step(RESIDUAL, Interval(float(low), left - received, float(high)), float(received)))


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


OVERHEADS = {"mosquitto": 390.0, "emqx": 1000.0}
"""Bytes of memory beside the payload for a message that waits for one session: measured at mosquitto 2.0.11 (300 for
the message, 90 for the session); EMQX: message record and queue node, an estimate."""


def memory_lasts(used: float, growth: float, memory: float | None, expires_in: float | None) -> float | None:
    """Seconds until a *memory* of so many bytes, *used* and growing, is full; None if never or the session ends first.

    *growth* is bytes a second, *expires_in* the seconds after which the broker throws the session and its queue away.
    """
    if memory is None or growth <= 0:
        return None
    full = (memory - used) / growth
    return full if expires_in is None or full <= expires_in else None


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
_KEEPS = {"discard": OLDEST, "discard-oldest": NEWEST}
"""HiveMQ's queued-messages strategy: discard refuses the new message (its default), discard-oldest the oldest."""


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
    keeps = usual.keeps or _KEEPS.get(settings.get("strategy", "discard"))
    inflight = _configured(settings, _INFLIGHT, usual.inflight) or usual.inflight
    return Queue(_configured(settings, _LIMITS, limit), inflight, keeps)


def _configured(settings: Mapping[str, str], keys: tuple[str, ...], usual: int | None) -> int | None:
    value = next((settings[key].strip() for key in keys if key in settings), "")
    if value in ("0", "infinity"):
        return None
    return int(value) if value.isdigit() else usual


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


def common(one: str, other: str) -> str | None:
    """The filter of the topics that both filters match (MQTT 5.0 §4.7.1); None where there is none."""
    mine, yours, found = one.split("/"), other.split("/"), list[str]()
    for place in range(max(len(mine), len(yours))):
        here, there = mine[place : place + 1], yours[place : place + 1]
        if here == ["#"]:
            return "/".join([*found, *yours[place:]])
        if there == ["#"]:
            return "/".join([*found, *mine[place:]])
        if not here or not there or (here != there and "+" not in (here[0], there[0])):
            return None
        found.append(there[0] if here == ["+"] else here[0])
    return "/".join(found)


def overlap(one: str, other: str) -> bool:
    """Some topic is matched by both filters, shared or not; a leading wildcard matches no ``$`` topic (§4.7.2)."""
    mine, yours = shared(one)[1], shared(other)[1]
    hidden = any(a.startswith("$") and b.split("/")[0] in _WILD for a, b in ((mine, yours), (yours, mine)))
    return not hidden and common(mine, yours) is not None


def covers(wide: str, narrow: str) -> bool:
    """Every topic that *narrow* matches is matched by *wide* too, shared or not (MQTT 5, §4.7.1)."""
    mine, yours = shared(wide)[1].split("/"), shared(narrow)[1].split("/")
    if mine[0] in _WILD and yours[0].startswith("$"):
        return False
    for place, level in enumerate(mine):
        if level == "#":
            return True
        if place >= len(yours) or yours[place] == "#" or level not in ("+", yours[place]):
            return False
    return len(mine) == len(yours)


GO_LONGEST = 600.0
"""Seconds between two attempts of paho Go at most (MaxReconnectInterval)."""
SLOWEST = 30.0
"""Seconds that the slowest of these clients waits after a connection that was accepted, if it waits steadily."""
_ALIKE = 0.25
"""Share by which waits that are the same may differ: machines are busy."""


def steady(waits: Sequence[float], grain: float = 0.0) -> bool:
    """At least three of four waits are the same, as far as a clock that shows every *grain* seconds tells."""
    if not waits:
        return False
    middle = sorted(waits)[len(waits) // 2]
    alike = [w for w in waits if abs(w - middle) <= max(grain, _ALIKE * middle)]
    return len(alike) >= 0.75 * len(waits)


def doubling(waits: Sequence[float], grain: float = 0.0) -> bool:
    """Waits that grow to the double each time until they stay at the longest, as far as a clock shows: at least three.

    Those that it cannot tell from none are left out.
    """
    shown = [w for w in waits if w > grain]
    longest = max(shown, default=0.0)
    twice = [abs(b - min(2 * a, longest)) <= max(2 * grain, _ALIKE * b) for a, b in pairwise(shown)]
    return len(shown) >= 3 and longest >= 3 * shown[0] and all(twice)
