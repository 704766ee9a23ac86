"""Changes of who uses an MQTT broker: brokers that start and stop, clients that come later, and such as stay away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mqlab.facts import Facts
from mqlab.findings import Change, Evidence
from mqlab.mqtt.connection import Connection
from mqlab.mqtt.lives import by_client
from mqlab.mqtt.offline import offline_sessions
from mqlab.mqtt.share_groups import share_groups

_BEGIN = 10.0
"""Seconds after the first connection in which clients belong to the start of what is watched."""
_MOST = 12
"""Clients that come later; more of them are a crowd, not a change of who is there."""


def mqtt_changes(facts: Facts) -> Iterator[Change]:
    """One change for each start of a broker, each client that is new, and each session that is left behind."""
    for episode in facts.of_kind("broker-starting"):
        yield Change(
            episode.first_at, f"MQTT broker {episode.reason or ''}".strip(), None, "starting", (episode.first,)
        )
    yield from _came(facts)
    for session in offline_sessions(facts):
        after = "away, its session is kept"
        yield Change(session.since, f"client {session.client_id}", "connected", after, session.evidence[-1:])


def _came(facts: Facts) -> Iterator[Change]:
    """Clients whose first connection came after the others were there."""
    lives = {client: own for (_, client), own in by_client(facts).items() if own[0].told_by == "broker"}
    first = min((own[0].since for own in lives.values() if own[0].since is not None), default=None)
    if first is None:
        return
    later = [(client, own) for client, own in lives.items() if (own[0].since or first) > first + _BEGIN]
    if len(later) > _MOST:
        return
    groups = {member.client_id: group.name for group in share_groups(facts) for member in group.members}
    for client, own in later:
        shared = f", member of the share group {groups[client]}" if client in groups else ""
        yield Change(own[0].since, f"client {client}", None, f"connected{shared}", _place(own))


def _place(own: Sequence[Connection]) -> tuple[Evidence, ...]:
    return () if own[0].begin is None else (own[0].begin,)
