"""Who may publish messages again that go round on no way that is known.

One who came just before it began, or two clients that read different topics and get the ids of each other's: a service
that publishes what it makes of a message may keep its id.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from mqlab.facts import Facts
from mqlab.models.topic_filters import overlap
from mqlab.mqtt.circles import EPISODE, Circling
from mqlab.mqtt.connection import Connection
from mqlab.mqtt.lives import by_client
from mqlab.mqtt.subscriptions import Subscription, subscriptions


def suspect(facts: Facts, one: Circling) -> Connection | None:
    """The first connection of the only client that came just before; None where nobody came then, or several.

    Who publishes what it reads does so from its first message on, so the circle begins with its subscription.
    """
    begin = one.receiver.copied()[0].at
    firsts = [own[0] for own in by_client(facts).values() if own[0].since is not None and own[0].begin is not None]
    near = [c for c in firsts if begin - EPISODE <= (c.since or 0.0) < begin + EPISODE]
    return near[0] if len(near) == 1 else None


def ring(facts: Facts, every: Sequence[Circling]) -> tuple[Subscription, Subscription] | None:
    """One subscription each of the only two clients to which the same ids come round under topics of their own.

    None where no two of them, or more than two, read topics that the others do not: each reader gets what comes round.
    """
    clients = {one.receiver.client for one in every}
    own = {client: [s for s in subscriptions(facts) if s.client_id == client] for client in sorted(clients)}
    apart = [(a, b) for a, b in combinations(own, 2) if own[a] and own[b] and not _meet(own[a], own[b])]
    return (own[apart[0][0]][0], own[apart[0][1]][0]) if len(apart) == 1 else None


def _meet(some: Sequence[Subscription], others: Sequence[Subscription]) -> bool:
    return any(overlap(a.filter, b.filter) for a in some for b in others)
