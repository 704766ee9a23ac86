"""Connections of MQTT clients lost and made anew: by many at once (storms), or by one again and again (links).

A broker that stops cuts everybody off; a network, a NAT gateway or a proxy those behind it, whose old connections the
broker may hold until their keep-alive has passed. Wars for an id are none of it, nor are clients that are cut off after
the same time again and again, each by itself.

A link that fails is silent: the broker's keep-alive passes, or the client gets no answer to its ping, and it comes back
when the link does. A client that is back sooner than the broker notices replaces its own half-open connection, which
makes the line of a takeover.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from mqlab.facts import Episode, Facts, span
from mqlab.memo import per_facts
from mqlab.models.mqtt import GO_LONGEST, broker_gives_up
from mqlab.mqtt.brokers import EDGE, WHOLE_SECONDS, brokers
from mqlab.mqtt.connections import Connection, by_client, by_own_log, silent_ends, told_by_clients
from mqlab.mqtt.flapping import flapping
from mqlab.mqtt.takeovers import AWAY, fought, wars

LEAST = 5
"""Clients that come back together at least: fewer are a handful. Judgement, no default behind it."""
MOST = 0.5
"""Share of the clients that were connected, or of those behind one address, that must come back together: most of them,
so that one cause for all is likelier than one for each."""
AGAIN = 2
"""Connects of each client that follow, on average, from which on it does not end. Judgement, no default behind it: one
more may be the first try that failed."""
RATE = 300.0
"""Seconds after a burst in which connects should be few again: twice the longest wait of paho Python and Java (120 and
128 s)."""


@dataclass(frozen=True, slots=True)
class Storm:
    """Clients that came back together."""

    broker: str | None
    cause: str
    """``restart``, ``address``, ``standstill`` (of the broker, or of what is before it) or ``network``."""
    down: float
    """When they were cut off: the broker's stop, else the last moment before one of them came back."""
    up: float
    """The broker's start, else the first that came back."""
    connected: int
    """Clients that were connected before."""
    back: tuple[Connection, ...]
    """First connection of each that came back, by time."""
    again: int
    """Connects of the same clients in the five minutes that followed."""
    lines: tuple[Episode, ...]
    """The broker's stop and start."""
    quiet_since: float | None = None
    """Since when the log of a broker that stood still had told nothing."""

    @property
    def count(self) -> int:
        """Clients that came back."""
        return sum(c.count for c in self.back)

    @property
    def until(self) -> float:
        """When the last of them was back."""
        return self.back[-1].since or self.up

    @property
    def goes_on(self) -> bool:
        """They connected again and again within the next minutes: once more is another event of the same kind."""
        return self.again >= AGAIN * len(self.back)


def _back(after: Sequence[Connection], until: float) -> tuple[tuple[Connection, ...], int]:
    """The first connection of each client up to *until*, by time, and how often they connected in the minutes after."""
    first: dict[str, Connection] = {}
    for connection in sorted(after, key=lambda c: (_at(c), c.source, c.client_id)):
        if _at(connection) <= until:
            first.setdefault(connection.client_id, connection)
    last = max((_at(c) for c in first.values()), default=0.0)
    later = [c for c in after if c.client_id in first and _at(c) > _at(first[c.client_id]) + EDGE]
    return tuple(first.values()), sum(c.count for c in later if _at(c) <= last + RATE)


TOGETHER = 30.0
"""Seconds in which those who were cut off together come back: by then paho Go has tried five times (0, 1, 2, 4, 8 s
later), Python and Java about every second."""
ONE = 0.9
"""Share of them that must come from one address, for a cause in front of it: one in ten may come back by chance.
Judgement, no default behind it."""
CUT_OFF = GO_LONGEST
"""Seconds that clients were away at most, to have been cut off by the same event: no client waits longer."""


_Pair = tuple[Connection, Connection]
"""A connection that was cut off, and the one with which its client came back."""
_Span = tuple[float, float]


def _bursts(
    broker: str | None,
    clients: Sequence[Sequence[Connection]],
    explained: Sequence[_Span],
    restarts: Sequence[_Span],
) -> Iterator[Storm]:
    """Without a restart: many that had been connected come back within seconds, cut off and not by themselves.

    Who was cut off by one of the *restarts*, or came back while an *explained* storm lasted, has nothing to do with
    another who came back seconds earlier.
    """
    pairs = [
        (before, after)
        for own in clients
        for before, after in _returns(own)
        if not any(_ended_by_restart(before, down, up) for down, up in restarts)
        and not any(begin <= _at(after) <= end for begin, end in explained)
    ]
    pairs.sort(key=lambda pair: (_at(pair[1]), pair[1].source, pair[1].client_id))
    moments = [_at(after) for _, after in pairs]
    begins = sorted(_at(c) for own in clients for c in own)
    ends = sorted(c.until for own in clients for c in own if c.until is not None)
    done = float("-inf")
    for number, at in enumerate(moments):
        if at > done:
            group = pairs[number : bisect_right(moments, at + TOGETHER)]
            connected = bisect_left(begins, at) - bisect_left(ends, at - TOGETHER)
            storm = _burst(broker, clients, group) if _can_be(group, connected) else None
            if storm is not None:
                done = storm.until
                yield storm


def _can_be(group: Sequence[_Pair], connected: int) -> bool:
    """Enough clients, by a count of connections: a quick look, in which a client counts three times at most."""
    names = {after.client_id for _, after in group}
    if len(names) < LEAST or len(group) > 1.5 * len(names):
        return False
    return 3 * len(names) >= MOST * connected or _of_one_address(group)[1] >= ONE * len(names)


def _of_one_address(group: Sequence[_Pair]) -> tuple[str | None, int]:
    """The address of most, and how many come from it."""
    addresses = Counter(after.address for _, after in group if after.address)
    return min(addresses.items(), key=lambda item: (-item[1], item[0]), default=(None, 0))


def _returns(own: Sequence[Connection]) -> Iterator[_Pair]:
    """Each connection of a client that was cut off, and the one after; those of one return are one.

    It did not end on purpose, and the client was not away for long.
    """
    last: Connection | None = None
    for before, after in pairwise(own):
        if last is None or not _is_one_return(last, after):
            last = after
            cut_off = before.ended not in (None, "normal", "kicked", "not-authorized")
            if cut_off and before.until is not None and -1.0 <= _at(after) - before.until <= CUT_OFF:
                yield before, after


def _is_one_return(first: Connection, second: Connection) -> bool:
    return first.address == second.address and _at(second) - _at(first) <= EDGE


def _burst(broker: str | None, clients: Sequence[Sequence[Connection]], group: Sequence[_Pair]) -> Storm | None:
    names = {after.client_id for _, after in group}
    begin, end = _at(group[0][1]), _at(group[-1][1])
    lost = min(begin - TOGETHER, median(before.until or begin for before, _ in group))
    there = [own for own in clients if own[0].client_id in names or any(_there(c, lost, begin) for c in own)]
    address, most = _of_one_address(group)
    behind = [own for own in there if any(c.address == address for c in own)]
    if most >= ONE * len(names) and most >= MOST * len(behind) and len(behind) < len(there):
        cause, connected = "address", len(behind)
    elif len(names) >= MOST * len(there):
        cause, connected = "standstill" if broker and _stood_still(clients, group) else "network", len(there)
    else:
        return None
    after = [c for own in clients if own[0].client_id in names for c in own if c.since is not None and c.since >= begin]
    down = min((before.until for before, _ in group if before.until is not None), default=begin)
    return Storm(broker, cause, min(down, begin), begin, connected, *_back(after, end), ())


def _stood_still(clients: Sequence[Sequence[Connection]], group: Sequence[_Pair]) -> bool:
    """The broker read at one moment what had waited for it: connects that were given up, or timeouts and returns.

    A network that breaks lets no connect through to the listener, and each timeout comes at a time of its own.
    """
    names = {after.client_id for _, after in group}
    begin, end = _at(group[0][1]), _at(group[-1][1]) + EDGE
    pairs = [p for own in clients if own[0].client_id in names for p in pairwise(own) if begin <= _at(p[0]) <= end]
    twice = {first.client_id for first, second in pairs if _is_one_return(first, second)}
    late = {
        after.client_id
        for before, after in group
        if before.ended == "keep-alive" and _at(after) - begin <= EDGE and abs((before.until or 0.0) - begin) <= EDGE
    }
    return max(len(twice), len(late)) >= MOST * len(names)


def _at(connection: Connection) -> float:
    return connection.since or 0.0


def _there(connection: Connection, lost: float, at: float) -> bool:
    """Connected at some moment from when most were cut off until the first came back."""
    since, until = connection.since or float("-inf"), connection.until
    return since < at and (until is None or until >= lost)


BACK = 120.0
"""Seconds after a broker's start in which its clients come back: paho Python waits no longer (reconnect_delay_set)."""


@per_facts
def storms(facts: Facts) -> tuple[Storm, ...]:
    """Every moment at which many clients of a broker came back together, by broker and time."""
    timed = {(client.broker, client.client_id) for client in flapping(facts) if client.life < CUT_OFF and client.closed}
    clients: dict[str | None, list[Sequence[Connection]]] = defaultdict(list)
    others: dict[str | None, list[Sequence[Connection]]] = defaultdict(list)
    for key, own in by_client(facts).items():
        if key not in fought(facts):
            clients[key[0]].append(own)
            others[key[0]] += [] if key in timed else [own]
    found: list[Storm] = []
    for broker in sorted(clients, key=lambda name: name or ""):
        restarts = [_since_when(facts, storm) for storm in _restarts(facts, broker, clients[broker])]
        found += restarts
        explained = [(storm.down, storm.up + BACK) for storm in restarts]
        starts = [(down, up) for down, up, _ in _starts(facts, broker)]
        found += (_since_when(facts, storm) for storm in _bursts(broker, others[broker], explained, starts))
    return tuple(found)


def _since_when(facts: Facts, storm: Storm) -> Storm:
    """*storm*, where a broker stood still or started without a stop, since when its silence and its clients tell."""
    killed = storm.cause == "restart" and storm.down == storm.up
    if storm.cause != "standstill" and not killed:
        return storm
    names = {c.client_id for c in storm.back}
    lines = [e.last_at or e.first_at for e in facts.episodes if e.source in _sources(facts, storm.broker)]
    quiet = max((at for at in lines if at is not None and at < storm.down), default=None)
    lost = [c.until for c in told_by_clients(facts) if c.client_id in names and c.end is not None and c.until]
    seen = [at for at in lost if (quiet if quiet is not None else storm.down - CUT_OFF) < at < storm.down]
    return replace(storm, down=min(seen, default=storm.down), quiet_since=None if killed else quiet)


def _sources(facts: Facts, broker: str | None) -> frozenset[str]:
    """The logs of a broker."""
    return frozenset(source for b in brokers(facts) if b.name == broker for source in b.sources)


@per_facts
def cut_off(facts: Facts) -> frozenset[str]:
    """Clients whose connections ended by a restart of their broker; its first start and its last stop are none."""
    return frozenset(
        client
        for b in brokers(facts)
        for down, up, lines in _starts(facts, b.name)
        for (broker, client), own in by_client(facts).items()
        if broker == b.name
        and any(c.ended != "normal" and _ended_by_restart(c, down, up) and (len(lines) > 1 or _at(c) < up) for c in own)
    )


def _starts(facts: Facts, broker: str | None) -> Iterator[tuple[float, float, tuple[Episode, ...]]]:
    """When a broker was down and up again, and the lines that say so; its first start in the material, too."""
    sources = _sources(facts, broker)
    lines = [e for e in facts.of_kind("broker-stopping", "broker-starting") if e.source in sources and e.first_at]
    lines.sort(key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0))
    for number, start in enumerate(lines):
        if start.kind == "broker-starting":
            stop = lines[number - 1] if number and lines[number - 1].kind == "broker-stopping" else None
            yield (stop or start).first_at or 0.0, start.first_at or 0.0, (stop, start) if stop else (start,)


def _restarts(facts: Facts, broker: str | None, clients: Sequence[Sequence[Connection]]) -> Iterator[Storm]:
    for down, up, lines in _starts(facts, broker):
        cut = [own for own in clients if any(_ended_by_restart(c, down, up) for c in own)]
        after = [c for own in cut for c in own if c.since is not None and up <= c.since and not _was_open(c, down, up)]
        back, again = _back(after, up + BACK)
        if len(back) >= LEAST and len(back) >= MOST * len(cut):
            yield Storm(broker, "restart", down, up, len(cut), back, again, lines)


def _ended_by_restart(connection: Connection, down: float, up: float) -> bool:
    return connection.until is not None and down <= connection.until <= up


def _was_open(connection: Connection, down: float, up: float) -> bool:
    """It ended with the broker: where whole seconds are printed, it may have begun in that one, too."""
    return _ended_by_restart(connection, down, up) and (connection.ended or "").startswith("broker-")


LOSSES = 3
"""Losses of one client at least: one or two happen to any."""
CONFIRMED = 2
"""Losses that suffice where the client's own log tells that it alone came back each time."""

SOON = 5.0
"""Seconds within which two connections of one id may be two calls of one program, a restart, or two clients behind one
address. Judgement, no default behind it: programs that connect twice do so within a second or two, and a link that
fails takes longer to come back."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A connection that was lost by silence, and the one that followed."""

    connection: Connection
    following: Connection
    how: str
    """``timeout`` (the broker's), ``unanswered`` (the client's ping) or ``replaced`` (half-open)."""
    own: tuple[Connection, Connection] | None = None
    """The same two as the client's own log tells of them, where it does."""

    @property
    def away(self) -> float:
        """Seconds between the two."""
        return _between(self.connection, self.following)

    @property
    def noticed(self) -> float | None:
        """Seconds from what the client itself noticed to its return; None where its log does not tell."""
        if self.how == "unanswered":
            return self.away
        return _between(*self.own) if self.own is not None else None

    @property
    def too_soon(self) -> bool:
        """Another connection came so soon after it that a program which connects twice is as likely as a link."""
        lasted = self.connection.seconds
        return self.how == "replaced" and self.own is None and lasted is not None and lasted < SOON

    @property
    def heard(self) -> float | None:
        """When the last packet of the client came, at the latest: the broker gives up so long after it."""
        keep_alive, until = self.connection.keep_alive, self.connection.until
        if self.how != "timeout" or not keep_alive or until is None:
            return None
        return max(until - broker_gives_up(keep_alive).low, self.connection.since or until)

    @property
    def quiet(self) -> float | None:
        """Seconds that the broker had heard nothing, at least, when it was back; lines may print whole seconds."""
        until, since = self.connection.until, self.following.since
        if self.heard is None or until is None or since is None:
            return None
        return since - self.heard - (WHOLE_SECONDS if until.is_integer() and since.is_integer() else 0.0)

    @property
    def begins(self) -> float | None:
        """The first moment that tells of it: the last packet, what the client noticed, or what the broker did."""
        own = self.own[0].until if self.own is not None else None
        return span((self.heard, own, self.connection.until))[0]


def _between(before: Connection, after: Connection) -> float:
    return max(0.0, (after.since or 0.0) - (before.until or 0.0))


@dataclass(frozen=True, slots=True)
class Link:
    """A client that lost its connection again and again."""

    broker: str | None
    client_id: str
    losses: tuple[Loss, ...]

    @property
    def address(self) -> str | None:
        """Where it connected from last."""
        return self.losses[-1].following.address

    @property
    def away(self) -> float:
        """Seconds that it was away, mostly."""
        return median(loss.away for loss in self.losses)

    @property
    def sure(self) -> bool:
        """Silence is told, and not only that an old connection was replaced."""
        return sum(loss.how != "replaced" for loss in self.losses) >= LOSSES


def _came_back_alone(by_brokers: Sequence[Connection], own: Sequence[Connection]) -> bool:
    """Connections that brokers tell of (*by_brokers*) are all of one client, in whose log (*own*) no link was sound.

    Where a device lost its power, its log tells of starts without an end between them.
    """
    own_moments = [c.since for c in own if c.since is not None]
    for connection in by_brokers:
        same = [at for at in own_moments if connection.since is not None and abs(at - connection.since) <= EDGE]
        if not same:
            return False
        own_moments.remove(same[0])
    one_place = len({c.address for c in by_brokers}) == 1 and len({c.source for c in own}) == 1
    noticed = [(a.until, b.since) for a, b in pairwise(own) if a.end is not None and a.ended != "normal"]
    back_at_once = any(a is not None and b is not None and b - a < AWAY for a, b in noticed)
    return one_place and not back_at_once


@per_facts
def links(facts: Facts) -> tuple[tuple[Link, ...], ...]:
    """Clients with a bad link, those behind one address together, by broker and id."""
    clients = Counter((broker, own[-1].address) for (broker, _), own in by_client(facts).items())
    places: dict[tuple[str | None, str | None], list[Link]] = defaultdict(list)
    for link in _links(facts):
        places[link.broker, link.address].append(link)
    found: list[tuple[Link, ...]] = []
    for place, own in places.items():
        site = place[1] is not None and len(own) > 1 and 2 * len(own) > clients[place]
        found += [tuple(own)] if site else [(link,) for link in own]
    return tuple(sorted(found, key=lambda group: (group[0].broker or "", group[0].client_id)))


def _links(facts: Facts) -> Iterator[Link]:
    fought_for = {(w.broker, w.client_id) for w in wars(facts) if w.judged.why_not is None or w.judged.undecided}
    timed = {(client.broker, client.client_id) for client in flapping(facts)}
    for (broker, client), every in by_client(facts).items():
        own = by_own_log(facts).get(client, ())
        if (broker, client) in fought_for:
            continue
        spans = [(storm.down, storm.until) for storm in storms(facts) if storm.broker == broker]
        free = [p for p in pairwise(every) if not any(a <= (p[1].since or 0.0) <= b for a, b in spans)]
        by_broker = tuple(_by_broker(free, own)) if broker is not None else ()
        told = _of_link(by_broker, tuple(_by_client(facts, client, own)), regular=(broker, client) in timed)
        losses = tuple(loss for loss in told if not loss.too_soon)
        if len(losses) >= LOSSES:
            yield Link(broker, client, losses)
        elif [loss.how for loss in by_broker] == ["replaced"] * CONFIRMED and _came_back_alone(every, own):
            yield Link(broker, client, by_broker)


def _of_link(by_broker: tuple[Loss, ...], by_client: tuple[Loss, ...], *, regular: bool) -> tuple[Loss, ...]:
    """Those of a link that was away; none where the client was back at once: its link was sound.

    Who is cut off by a limit leaves no half-open connections: with enough of those it does not matter how soon the
    client was back after the broker's timeouts, which its own may have come before.
    """
    if len(by_client) >= LOSSES and median(loss.away for loss in by_client) < AWAY:
        return ()
    if len(by_broker) < LOSSES:
        return by_client
    timeouts = [loss.away for loss in by_broker if loss.how == "timeout"]
    if timeouts and median(timeouts) >= AWAY:
        return by_broker
    return () if regular or (timeouts and len(by_broker) - len(timeouts) < LOSSES) else by_broker


def _by_broker(pairs: Sequence[_Pair], own: Sequence[Connection]) -> Iterator[Loss]:
    for before, after in pairs:
        if before.ended == "keep-alive":
            yield Loss(before, after, "timeout", _noticed(own, before, after))
        elif before.ended == "taken-over" and after.since is not None:
            yield Loss(before, after, "replaced", _noticed(own, before, after))


def _noticed(own: Sequence[Connection], before: Connection, after: Connection) -> _Pair | None:
    """The end and the return that the client's own log tells of, of which the broker tells as *before* and *after*."""
    return next(
        (
            (lost, back)
            for lost, back in pairwise(own)
            if lost.end is not None and lost.until is not None and lost.ended != "normal" and _is_same(back, after)
            and (before.since is None or lost.until > before.since)
        ),
        None,
    )  # fmt: skip


def _is_same(own: Connection, seen: Connection) -> bool:
    return own.since is not None and seen.since is not None and abs(own.since - seen.since) <= EDGE


def _by_client(facts: Facts, client: str, own: Sequence[Connection]) -> Iterator[Loss]:
    """Losses of connections that had been made: a try that got no answer, either, is a part of the time away."""
    silent = [line.first_at or 0.0 for line in silent_ends(facts).get(client, ())]
    made = [c for n, c in enumerate(own) if n == 0 or c.since is not None]
    for before, after in pairwise(made):
        lost = before.until if before.source == after.source and before.end is not None else None
        if lost is not None and any(abs(at - lost) <= EDGE for at in silent):
            yield Loss(before, after, "unanswered")
