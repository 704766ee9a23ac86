"""MQTT clients whose link fails again and again.

MQTT clients whose link fails again and again: how often, how that shows, and which of them share a place.

A link that fails is silent: the broker's keep-alive passes, or the client gets no answer to its ping, and it comes back
when the link does. A client that is back sooner than the broker notices replaces its own half-open connection, which
makes the line of a takeover.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.mqtt.connections import SILENT, Connection, by_client, client_of, told_by_clients
from mqlab.mqtt.flapping import flapping
from mqlab.mqtt.reconnects import storms
from mqlab.mqtt.takeovers import AWAY, UNDECIDED, came_back_alone, wars

LEAST = 3
"""Losses of one client at least: one or two happen to any."""
VOUCHED = 2
"""Losses that suffice where the client's own log tells that it alone came back each time."""
_NEAR = 2.0


@dataclass(frozen=True, slots=True)
class Loss:
    """A connection that was lost by silence, and the one that followed."""

    connection: Connection
    following: Connection
    how: str
    """``timeout`` (the broker's), ``unanswered`` (the client's ping) or ``replaced`` (half-open)."""

    @property
    def away(self) -> float:
        """Seconds between the two."""
        return max(0.0, (self.following.since or 0.0) - (self.connection.until or 0.0))


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
        return sum(loss.how != "replaced" for loss in self.losses) >= LEAST


@per_facts
def links(facts: Facts) -> tuple[tuple[Link, ...], ...]:
    """Clients with a bad link, those behind one address together, by broker and id."""
    every = list(_of_every(facts))
    known = Counter((broker, own[-1].address) for (broker, _), own in by_client(facts).items())
    places: dict[tuple[str | None, str | None], list[Link]] = defaultdict(list)
    for link in every:
        places[link.broker, link.address].append(link)
    found: list[tuple[Link, ...]] = []
    for (broker, address), own in places.items():
        site = address is not None and len(own) > 1 and 2 * len(own) > known[broker, address]
        found += [tuple(own)] if site else [(link,) for link in own]
    return tuple(sorted(found, key=lambda group: (group[0].broker or "", group[0].client_id)))


def _of_every(facts: Facts) -> Iterator[Link]:
    fought_for = {(w.broker, w.client_id) for w in wars(facts) if w.judged.why_not in (None, *UNDECIDED)}
    timed = {(one.broker, one.client_id) for one in flapping(facts)}
    spans = [(storm.broker, storm.down, storm.until) for storm in storms(facts)]
    own: dict[str, list[Connection]] = defaultdict(list)
    for connection in told_by_clients(facts):
        own[connection.client_id].append(connection)
    for (broker, client), told in by_client(facts).items():
        if (broker, client) in fought_for:
            continue
        free = [pair for pair in pairwise(told) if not any(_within(pair[1], broker, span) for span in spans)]
        seen = tuple(_by_broker(free)) if told[0].told_by == "broker" else ()
        said = tuple(_by_client(facts, client, own[client]))
        losses = _losses(seen, said, regular=(broker, client) in timed)
        if len(losses) >= LEAST:
            yield Link(broker, client, losses)
        elif [loss.how for loss in seen] == ["replaced"] * VOUCHED and came_back_alone(told, own[client]):
            yield Link(broker, client, seen)


def _losses(seen: tuple[Loss, ...], said: tuple[Loss, ...], *, regular: bool) -> tuple[Loss, ...]:
    """Those of a link that was away; none where the client was back at once: its link was sound.

    Who is cut off by a limit leaves no half-open connections: with enough of those it does not matter how soon the
    client was back after the broker's timeouts, which its own may have come before.
    """
    if len(said) >= LEAST and median(loss.away for loss in said) < AWAY:
        return ()
    timeouts = [loss.away for loss in seen if loss.how == "timeout"]
    if len(seen) < LEAST:
        return said
    if timeouts and median(timeouts) >= AWAY:
        return seen
    if timeouts and len(seen) - len(timeouts) < LEAST:
        return ()
    return () if regular else seen


def _within(connection: Connection, broker: str | None, span: tuple[str | None, float, float]) -> bool:
    return span[0] == broker and span[1] <= (connection.since or 0.0) <= span[2]


def _by_broker(pairs: Sequence[tuple[Connection, Connection]]) -> Iterator[Loss]:
    for before, after in pairs:
        if before.ended == "keep-alive":
            yield Loss(before, after, "timeout")
        elif before.ended == "taken-over" and after.since is not None:
            yield Loss(before, after, "replaced")


def _by_client(facts: Facts, client: str, own: Sequence[Connection]) -> Iterator[Loss]:
    silent = _unanswered(facts).get(client, ())
    for before, after in pairwise(own):
        lost = before.until if before.source == after.source and before.end is not None else None
        if lost is not None and any(abs(at - lost) <= _NEAR for at in silent):
            yield Loss(before, after, "unanswered")


@per_facts
def _unanswered(facts: Facts) -> Mapping[str, tuple[float, ...]]:
    found: dict[str, list[float]] = defaultdict(list)
    for line in facts.of_kind("ping-unanswered", "connection-lost"):
        client = client_of(facts, line) if line.kind == "ping-unanswered" or line.reason == SILENT else None
        if client is not None and line.first_at is not None:
            found[client].append(line.first_at)
    return {client: tuple(moments) for client, moments in found.items()}
