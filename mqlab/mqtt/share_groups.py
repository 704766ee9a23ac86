"""Share groups of MQTT: whose subscriptions share the messages of one filter, and which of them were away, by time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models.topic_filters import matches, shared
from mqlab.mqtt.ledgers import receiving_ledgers
from mqlab.mqtt.sessions import BEGIN, END, sessions
from mqlab.mqtt.subscriptions import Subscription, subscriptions


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
    names = [inner for _, _, inner in found]
    for key in sorted(found):
        if names.count(key[2]) == 1:
            found[key] += _presumed(facts, key[1], key[2], found[key])
    return tuple(ShareGroup(key[0] or None, key[1], key[2], tuple(found[key])) for key in sorted(found))


def _presumed(facts: Facts, name: str, inner: str, told: Sequence[Subscription]) -> list[Subscription]:
    """Clients whose subscriptions nobody tells, that got topics of the filter and no message that a member got, too.

    Only where no member's ledger shares a message with another one's: then they share what is published.
    """
    every = receiving_ledgers(facts)
    known = {s.client_id for s in subscriptions(facts)}
    members = [m.client_id for m in told]
    found = []
    for client in sorted(set(every) - known):
        own = [s for s in sessions(facts) if s.client_id == client]
        begin = (own[0].last.begin if own else None) or _first_row(facts, every[client])
        if begin is not None and _deals(
            facts, inner, [every[c] for c in (*members, client) if c in every], every[client]
        ):
            place = Evidence(begin.source, begin.line, begin.text, "gets messages that no member gets")
            shared_name = f"$share/{name}/{inner}"
            found += [Subscription(client, shared_name, None, s.since, s.until, s, place) for s in own]
            found += [] if own else [Subscription(client, shared_name, None, BEGIN, END, None, place)]
            members.append(client)
    return found


def _first_row(facts: Facts, ledgers: Sequence[str]) -> Evidence | None:
    """Where a client of whose connections no line tells notes its first message."""
    return next((r.first("") for r in facts.receipts if r.source in ledgers), None)


def _deals(facts: Facts, inner: str, ledgers: Sequence[tuple[str, ...]], own: tuple[str, ...]) -> bool:
    """All that *own* notes is of the filter, and no message is noted by two of *ledgers*."""
    mine = [f for f in facts.topic_flows if set(own) & dict(f.received).keys()]
    apart = all(sum(bool(set(these) & dict(f.received).keys()) for these in ledgers) < 2 for f in mine)
    return len(ledgers) > 1 and apart and all(f.topic is not None and matches(inner, f.topic) for f in mine)


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
