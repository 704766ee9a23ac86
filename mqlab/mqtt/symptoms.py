"""What is out of the ordinary in MQTT's material, and who came and went."""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.facts import Episode, Facts
from mqlab.findings import Change
from mqlab.mqtt import connections, denials, flapping
from mqlab.mqtt import copies as mqtt_copies
from mqlab.mqtt.connections import by_client
from mqlab.mqtt.sessions import offline_sessions
from mqlab.mqtt.subscriptions import share_groups
from mqlab.shared.wording import clock, few
from mqlab.units import duration, number

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
    firsts = {client: own[0] for (_, client), own in by_client(facts).items() if own[0].told_by == "broker"}
    begin = min((c.since for c in firsts.values() if c.since is not None), default=0.0)
    later = [(client, c) for client, c in firsts.items() if c.since is not None and c.since > begin + _BEGIN]
    groups = {member.client_id: group.name for group in share_groups(facts) for member in group.members}
    for client, first in later if len(later) <= _MOST else ():
        shared = f", member of the share group {groups[client]}" if client in groups else ""
        place = () if first.begin is None else (first.begin,)
        yield Change(first.since, f"client {client}", None, f"connected{shared}", place)


SINGLE = dict.fromkeys(("connection-lost", "ping-unanswered", "session-takeover", "client-disconnected"), 3)
"""Events that any disturbance leaves, up to so many."""
NOTICED = frozenset({"connection-lost", "ping-unanswered", "client-disconnected"})
"""Events that clients print when a broker is restarted in good order."""
_BROKEN = frozenset({"keep-alive", "queue-killed", "frame-too-large", "protocol-error", "not-authorized", "kicked"})
"""Ends of connections that are no good-bye, no restart, and no other connection's doing."""
_ENDS = frozenset({"client-disconnected", "connection-lost"})
_SHOWN = 3
"""Clients that are named."""
_FEW = 10
"""Messages that came more than once up to which a reconnect may have brought them again."""
_SHARE = 0.02
"""Share of what a client got from which copies are more than a reconnect's."""


def abnormal(facts: Facts, episode: Episode) -> bool:
    """False for a connection that ended in one of the ordinary ways, and for a kept session that is used again.

    A connection that the broker closed for a refusal is no trouble beside the refusal, which is; nor is one that an
    idle limit ended (``cut_off_when_idle``).
    """
    if episode.kind in _ENDS and denials.closes(facts, episode.client_id, episode.first_at):
        return False
    if episode.kind == "session-takeover":
        return episode not in connections.resumed(facts)
    if episode.kind == "connection-lost":
        return not flapping.is_by_limit(facts, episode)
    return episode.kind != "client-disconnected" or episode.reason in _BROKEN


def copies(facts: Facts) -> Iterator[tuple[float, str]]:
    """Messages that came to a client more than once, without a flag that says why: since when, and words."""
    for one in mqtt_copies.subscribers(facts):
        if one.unflagged >= max(_FEW, _SHARE * one.rows):
            at = one.copied()[0].at
            if denials.sent_again(facts, at):
                continue
            told = f"{number(one.again)} of {number(one.rows)} messages came to {one.client} more than once"
            yield at, f"{clock(at)} UTC: {told}"


def cut_off_when_idle(facts: Facts) -> Iterator[tuple[float | None, str]]:
    """Idle limits that end connections: since when, and words; no class is about them."""
    for one in flapping.idle(facts):
        names = few([client.client_id for client in one.clients], _SHOWN)
        patience = min((client.keep_alive for client in one.clients if client.keep_alive), default=None)
        below = f", below their keep-alive of {patience:g} s" if patience else ""
        limit = f"{one.limit.key} {one.limit.value} ({one.limit.source}:{one.limit.line})"
        lasted = duration(one.clients[0].life)
        yield (
            one.since,
            f"{clock(one.since)} UTC: connections of {names} end after {lasted} each, likely by the idle limit "
            f"{limit}{below}",
        )
