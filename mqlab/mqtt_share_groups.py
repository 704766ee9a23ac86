"""Share groups of MQTT: whose subscriptions share the messages of one filter, and which of them were away, by time."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.models.topic_filters import shared
from mqlab.mqtt_subscriptions import Subscription, subscriptions


@dataclass(frozen=True, slots=True)
class ShareGroup:
    """The members that share the messages of one filter."""

    broker: str | None
    name: str
    filter: str
    """Without what makes it shared."""
    members: tuple[Subscription, ...]
    """By client id and begin; a client that came again with a clean session is there twice."""

    @property
    def clients(self) -> tuple[str, ...]:
        """Client ids, sorted."""
        return tuple(sorted({m.client_id for m in self.members}))


@dataclass(frozen=True, slots=True)
class Phase:
    """A time in which the members of a share group and their connections stayed the same."""

    since: float
    until: float
    members: tuple[str, ...]
    dead: tuple[str, ...]
    """Those without connection."""


@per_facts
def share_groups(facts: Facts) -> tuple[ShareGroup, ...]:
    """Every share group, by broker, name and filter."""
    found: dict[tuple[str, str, str], list[Subscription]] = defaultdict(list)
    for one in subscriptions(facts):
        name, inner = shared(one.filter)
        if name is not None:
            broker = (one.session.broker if one.session and one.session.last.told_by == "broker" else None) or ""
            found[broker, name, inner].append(one)
    return tuple(ShareGroup(key[0] or None, key[1], key[2], tuple(found[key])) for key in sorted(found))


def phases(group: ShareGroup, since: float, until: float) -> tuple[Phase, ...]:
    """The times of *group* between two moments, by what stayed the same; those without members are left out."""
    edges = {since, until}
    for member in group.members:
        edges |= {at for span in (*member.away, (member.since, member.until)) for at in span if since < at < until}
    moments = sorted(edges)
    every = (_phase(group, a, b) for a, b in pairwise(moments))
    return tuple(phase for phase in every if phase.members)


def _phase(group: ShareGroup, since: float, until: float) -> Phase:
    own = [m for m in group.members if m.since <= since and until <= m.until]
    dead = {m.client_id for m in own if any(a <= since and until <= b for a, b in m.away)}
    return Phase(since, until, tuple(sorted({m.client_id for m in own})), tuple(sorted(dead)))
