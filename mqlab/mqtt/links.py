"""MQTT clients whose link fails again and again: how often, how that shows, and which of them share a place.

A link that fails is silent: the broker's keep-alive passes, or the client gets no answer to its ping, and it comes back
when the link does. A client that is back sooner than the broker notices replaces its own half-open connection, which
makes the line of a takeover.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.mqtt.connections import Connection, by_client, by_own_log, silent_ends
from mqlab.mqtt.flapping import flapping
from mqlab.mqtt.reconnects import storms
from mqlab.mqtt.takeovers import AWAY, UNDECIDED, came_back_alone, wars

LEAST = 3
"""Losses of one client at least: one or two happen to any."""
CONFIRMED = 2
"""Losses that suffice where the client's own log tells that it alone came back each time."""
_NEAR = 2.0
"""Seconds by which two lines about one loss may differ; brokers may print whole seconds."""


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
    known = Counter((broker, own[-1].address) for (broker, _), own in by_client(facts).items())
    places: dict[tuple[str | None, str | None], list[Link]] = defaultdict(list)
    for link in _links(facts):
        places[link.broker, link.address].append(link)
    found: list[tuple[Link, ...]] = []
    for place, own in places.items():
        site = place[1] is not None and len(own) > 1 and 2 * len(own) > known[place]
        found += [tuple(own)] if site else [(link,) for link in own]
    return tuple(sorted(found, key=lambda group: (group[0].broker or "", group[0].client_id)))


def _links(facts: Facts) -> Iterator[Link]:
    fought_for = {(w.broker, w.client_id) for w in wars(facts) if w.judged.why_not in (None, *UNDECIDED)}
    timed = {(one.broker, one.client_id) for one in flapping(facts)}
    for (broker, client), seen in by_client(facts).items():
        own = by_own_log(facts).get(client, ())
        if (broker, client) in fought_for:
            continue
        spans = [(storm.down, storm.until) for storm in storms(facts) if storm.broker == broker]
        free = [p for p in pairwise(seen) if not any(a <= (p[1].since or 0.0) <= b for a, b in spans)]
        by_broker = tuple(_by_broker(free)) if seen[0].told_by == "broker" else ()
        losses = _losses(by_broker, tuple(_by_client(facts, client, own)), regular=(broker, client) in timed)
        if len(losses) >= LEAST:
            yield Link(broker, client, losses)
        elif [loss.how for loss in by_broker] == ["replaced"] * CONFIRMED and came_back_alone(seen, own):
            yield Link(broker, client, by_broker)


def _losses(by_broker: tuple[Loss, ...], by_client: tuple[Loss, ...], *, regular: bool) -> tuple[Loss, ...]:
    """Those of a link that was away; none where the client was back at once: its link was sound.

    Who is cut off by a limit leaves no half-open connections: with enough of those it does not matter how soon the
    client was back after the broker's timeouts, which its own may have come before.
    """
    if len(by_client) >= LEAST and median(loss.away for loss in by_client) < AWAY:
        return ()
    if len(by_broker) < LEAST:
        return by_client
    timeouts = [loss.away for loss in by_broker if loss.how == "timeout"]
    if timeouts and median(timeouts) >= AWAY:
        return by_broker
    return () if regular or (timeouts and len(by_broker) - len(timeouts) < LEAST) else by_broker


def _by_broker(pairs: Sequence[tuple[Connection, Connection]]) -> Iterator[Loss]:
    for before, after in pairs:
        if before.ended == "keep-alive":
            yield Loss(before, after, "timeout")
        elif before.ended == "taken-over" and after.since is not None:
            yield Loss(before, after, "replaced")


def _by_client(facts: Facts, client: str, own: Sequence[Connection]) -> Iterator[Loss]:
    silent = [line.first_at or 0.0 for line in silent_ends(facts).get(client, ())]
    for before, after in pairwise(own):
        lost = before.until if before.source == after.source and before.end is not None else None
        if lost is not None and any(abs(at - lost) <= _NEAR for at in silent):
            yield Loss(before, after, "unanswered")
