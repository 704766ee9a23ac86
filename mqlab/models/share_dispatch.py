"""How brokers deal the messages of a share group: how many go to members that are not connected.

mosquitto deals strictly in turn, members without connection included (``subs__shared_process``: the first leaf is
moved to the end). EMQX picks by its strategy among sessions, connected or not (``emqx_shared_sub:do_pick_subscriber``),
unless it waits for acknowledgements. HiveMQ keeps one queue for the group, from which connected members take.
"""

from __future__ import annotations

from enum import StrEnum
from math import sqrt

from mqlab.models.courses import Interval

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
