"""Who came just before messages began to go round on no way that is known: likely the one who publishes them again."""

from __future__ import annotations

from mqlab.facts import Facts
from mqlab.mqtt.circles import EPISODE, Circling
from mqlab.mqtt.connection import Connection
from mqlab.mqtt.lives import by_client


def suspect(facts: Facts, one: Circling) -> Connection | None:
    """The first connection of the only client that came just before; None where nobody came then, or several.

    Who publishes what it reads does so from its first message on, so the circle begins with its subscription.
    """
    begin = one.receiver.copied()[0].at
    firsts = [own[0] for own in by_client(facts).values() if own[0].since is not None and own[0].begin is not None]
    near = [c for c in firsts if begin - EPISODE <= (c.since or 0.0) < begin + EPISODE]
    return near[0] if len(near) == 1 else None
