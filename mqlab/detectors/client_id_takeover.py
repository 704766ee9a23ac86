"""MQTT: two or more live clients with one client id throw each other out, in turn.

Fires: an id is taken over again and again, and at least two parties take it back: logs of two clients that connect in
turn, two addresses (or users, or kinds of connect) that come back at the pace of a client's back-off, or behind one
address a pace that one client alone cannot have. Proven where the parties are told apart and the broker's lines about
takeovers are as many as the connects, or its counter of takeovers grows as they do.
Quiet: one client with a bad link whose old connection is not noticed yet, a changed port or address of many devices at
once, a client with two networks, a release that replaces one host by another, a broker's restart, a client that a
limit cuts off and that comes back alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, finding
from mqlab.mqtt.accounting import lost_by, reached_nobody
from mqlab.mqtt.brokers import rise
from mqlab.mqtt.connections import Connection, by_own_log, connections
from mqlab.mqtt.takeovers import UNDECIDED, War, cut_short, replaced, wars
from mqlab.rows import GRID
from mqlab.shared.wording import clock, few

INCIDENT = "client-id-takeover"
SYSTEMS: tuple[str, ...] = ("mqtt",)

AGREE = 0.9
"""Share of the connects that lines or counters must call takeovers: a connection may have ended just before."""
_SHOWN = 3


def detect(facts: Facts) -> Result:
    """One finding for each client id that live clients fight for."""
    every = wars(facts)
    if longest := _longest(every):
        return Result(tuple(_finding(facts, war, alone=alone) for war, alone in longest))
    undecided = {war.client_id: war.judged.why_not for war in every if war.judged.why_not in UNDECIDED}
    if undecided:
        ids = ", ".join(sorted(undecided))
        wanted = f"the logs of the clients that connect as {ids}: {undecided[min(undecided)]}"
        return Result(missing=(wanted,), seen=f"connections of {ids} end as the next one begins")
    if every:
        reasons = {war.client_id: war.judged.why_not or "" for war in every}
        return Result(rejected="; ".join(_reasons(reasons)))
    once = replaced(facts)
    if once:
        who = f"{units.counted(len(once), 'id')} ({', '.join(sorted(once)[:_SHOWN])})"
        return Result(rejected=f"{who} came back before the old connection was noticed, and nobody took the id back")
    if short := cut_short(facts):
        seen = "; ".join(f"the broker ended {units.counted(len(own), 'connection')} of {c}" for c, own in short.items())
        lines = tuple(c.end for own in short.values() for c in own if c.end is not None)
        return Result(
            missing=(f"the broker's log, or who else connects as {', '.join(short)}",), seen=seen, evidence=lines
        )
    return CLEAR if connections(facts) else Result(missing=("a broker's log, or logs of the clients",))


def _longest(every: Sequence[War]) -> list[tuple[War, bool]]:
    """The longest war for each id at each broker, and whether it is the only one for that id."""
    found: dict[tuple[str | None, str], War] = {}
    for war in (war for war in every if war.judged.why_not is None):
        known = found.setdefault((war.broker, war.client_id), war)
        if war.takeovers > known.takeovers:
            found[war.broker, war.client_id] = war
    places = Counter(client for _, client in found)
    return [(war, places[war.client_id] == 1) for war in found.values()]


def _reasons(by_client: Mapping[str, str]) -> list[str]:
    clients: dict[str, list[str]] = {}
    for client, why in by_client.items():
        clients.setdefault(why, []).append(client)
    return [f"{few(who, _SHOWN)}: {why}" for why, who in clients.items()]


def _finding(facts: Facts, war: War, *, alone: bool) -> Finding:
    proven = war.judged.known_by in ("logs", "addresses") and _agrees(facts, war)
    place = f" at {war.broker}" if war.broker else ""
    since, until = war.moments[0], war.moments[-1]
    hours = (until - since) / 3600
    lost = lost_by(facts, {war.client_id, None}, since, until)
    return finding(
        INCIDENT,
        f"{war.client_id if alone else f'{war.broker}/{war.client_id}'}",
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (since, None if _goes_on(facts, war) else until),
        ongoing=_goes_on(facts, war),
        statement=(
            f"{_who(war)} share client id {war.client_id}{place} and keep disconnecting each other: "
            f"{units.counted(war.takeovers, 'takeover')} from {clock(since)} to {clock(until)} UTC, one every "
            f"{units.duration(war.period)}. Whoever is thrown out reconnects and throws the other out."
            f"{reached_nobody(lost)}"
        ),
        measures={
            "takeovers": war.takeovers,
            "period_seconds": war.period,
            "parties": war.judged.count,
            "takeovers_per_hour": (war.takeovers - 1) / hours if hours else None,
            "lost_records": lost,
        },
        evidence=_evidence(facts, war),
        explains=("reconnect-storm", "redelivery-storm", "retained-replay-storm"),
        mitigate="Stop one of the clients; side effect: it is out of service until it has an id of its own.",
        remedy=(
            "Give each device an id of its own (serial number, host or pod name) and let authentication refuse ids "
            "that do not belong to the credentials."
        ),
        verify=f"No takeover of {war.client_id} for ten minutes, and one connection with the id that lasts.",
        facts={
            "known by": _KNOWN_BY[war.judged.known_by],
            "broker": war.broker,
            "clients": None if _unnumbered(war) else units.counted(len(war.judged.parties), "client"),
        },
    )


_KNOWN_BY = {
    "logs": "logs of the clients",
    "addresses": "what the broker sees of each",
    "turns": "a few turns of addresses that are back at once",
    "pace": "the pace alone, behind one address",
}


def _unnumbered(war: War) -> bool:
    """Several clients, and nothing tells how many."""
    return war.judged.known_by == "pace" or len(war.judged.parties) < 2


def _who(war: War) -> str:
    if _unnumbered(war):
        address = war.connections[-1].address
        return f"At least two clients behind {address}" if address else "At least two clients"
    names = sorted({party[0] for party in war.judged.parties})
    return f"{len(war.judged.parties)} clients ({', '.join(names)})"


def _agrees(facts: Facts, war: War) -> bool:
    """Lines about takeovers, or a counter of them, tell of as many as there were connects."""
    since, until = war.moments[0], war.moments[-1]
    rises = [rise(series, since, until) for series in facts.named("mqtt.takeovers")]
    counted = [r.per_second * (until - since) for r in rises if r is not None]
    lines = war.told >= AGREE * (len(war.connections) - 1)
    return lines or any(many >= AGREE * war.takeovers for many in counted)


def _goes_on(facts: Facts, war: War) -> bool:
    sources = {c.source for c in war.connections}
    last = facts.covered_until(sources) or 0.0
    lives = [b - a for a, b in pairwise(war.moments)]
    return last - war.moments[-1] < max(GRID, 2 * max(lives, default=0.0))


def _evidence(facts: Facts, war: War) -> tuple[Evidence, ...]:
    own = by_own_log(facts).get(war.client_id, ())
    firsts: dict[str, Connection] = {}
    for connection in (*war.connections, *own):
        key = connection.address or "" if connection.told_by == "broker" else connection.source
        firsts.setdefault(key, connection)
    parties = [replace(c.begin, why="a client with this id") for c in firsts.values() if c.begin]
    taken = [replace(c.end, why="the id is taken over") for c in war.connections if c.ended == "taken-over" and c.end]
    back = [replace(c.begin, why="and taken back") for c in war.connections[1 : 1 + _SHOWN] if c.begin]
    return tuple(dict.fromkeys((*parties, *taken[:_SHOWN], *back)))
