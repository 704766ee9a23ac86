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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, finding
from mqlab.mqtt.accounting import lost_by
from mqlab.mqtt.brokers import EDGE, rise
from mqlab.mqtt.connections import Connection, by_client, by_own_log, connections
from mqlab.mqtt.takeovers import War, cut_short, replaced, wars
from mqlab.rows import GRID
from mqlab.shared.actors import base_name
from mqlab.words import listed
from mqlab.words.filling import Value

INCIDENT = "client-id-takeover"
SYSTEMS: tuple[str, ...] = ("mqtt",)
say = words.room(INCIDENT)

AGREE = 0.9
"""Share of the connects that lines or counters must call takeovers: a connection may have ended just before."""
_SHOWN = 3


def detect(facts: Facts) -> Result:
    """One finding for each client id that live clients fight for."""
    every = wars(facts)
    if longest := _longest(every):
        return Result(tuple(_finding(facts, war, alone=alone) for war, alone in longest))
    undecided = {war.client_id: war.judged.why_not for war in every if war.judged.undecided}
    if undecided:
        ids = sorted(undecided)
        return Result(missing=(say("no-logs", ids=ids, why=undecided[ids[0]]),), seen=say("ends", ids=ids))
    if every:
        return Result(rejected=listed(_reasons({war.client_id: war.judged.why_not or "" for war in every})))
    once = replaced(facts)
    if once:
        return Result(rejected=say("replaced", ids=len(once), shown=sorted(once)[:_SHOWN]))
    if short := cut_short(facts):
        seen = listed(say("cut-short", connections=len(own), client=client) for client, own in short.items())
        lines = tuple(c.end for own in short.values() for c in own if c.end is not None)
        return Result(missing=(say("no-broker", clients=list(short)),), seen=seen, evidence=lines)
    return CLEAR if connections(facts) else Result(missing=(say("no-material"),))


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
    return [say("reason", clients=who, why=why) for why, who in clients.items()]


def _finding(facts: Facts, war: War, *, alone: bool) -> Finding:
    proven = war.judged.known_by in ("logs", "addresses") and _agrees(facts, war)
    since, until = war.moments[0], war.moments[-1]
    hours = (until - since) / 3600
    lost = lost_by(facts, {war.client_id, None}, since, until)
    return finding(
        INCIDENT,
        f"{war.client_id if alone else f'{war.broker}/{war.client_id}'}",
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (since, None if _goes_on(facts, war) else until),
        ongoing=_goes_on(facts, war),
        slots=_slots(facts, war) | _stopped(facts, war) | {"lost": lost},
        measures={
            "takeovers": war.takeovers,
            "period_seconds": war.period,
            "parties": war.judged.count,
            "takeovers_per_hour": (war.takeovers - 1) / hours if hours else None,
            "lost_records": lost,
        },
        evidence=_evidence(facts, war),
        explains=("reconnect-storm", "redelivery-storm", "retained-replay-storm"),
        facts={
            "known by": say("known-by", by=war.judged.known_by),
            "broker": war.broker,
            "clients": None if _unnumbered(war) else say("clients", clients=len(war.judged.parties)),
        },
    )


def _unnumbered(war: War) -> bool:
    """Several clients, and nothing tells how many."""
    return war.judged.known_by == "pace" or len(war.judged.parties) < 2


def _slots(facts: Facts, war: War) -> dict[str, Value]:
    """Who fights for which id, when and where."""
    several = not _unnumbered(war)
    return {
        "client": war.client_id,
        "broker": war.broker,
        "began": war.moments[0],
        "last": war.moments[-1],
        "names": _names(facts, war) if several else None,
        "parties": len(war.judged.parties),
        "address": war.connections[-1].address,
    }


def _names(facts: Facts, war: War) -> list[str]:
    """Its parties: addresses, or whose logs tell of them, with the address that first connected when that log did."""
    seen = by_client(facts).get((war.broker, war.client_id), ())
    addresses = _firsts((c.address, c.since) for c in seen if c.told_by == "broker")
    logs = _firsts((c.source, c.since) for c in by_own_log(facts).get(war.client_id, ()))
    return sorted({_name(party[0], logs, addresses) for party in war.judged.parties})


def _firsts(connects: Iterable[tuple[str | None, float | None]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, since in connects:
        if name is not None and since is not None:
            found[name] = min(since, found.get(name, since))
    return found


def _name(party: str, logs: Mapping[str, float], addresses: Mapping[str, float]) -> str:
    """What a party is called; a log by its file alone, where no other one's has that name."""
    if party not in logs:
        return party
    alone = sum(base_name(log) == base_name(party) for log in logs) == 1
    own = base_name(party) if alone else party
    together = [log for log in logs if abs(logs[log] - logs[party]) <= EDGE]
    places = [address for address, first in addresses.items() if abs(first - logs[party]) <= EDGE]
    sure = len(together) == len(places) == 1 < len(addresses)
    return say("at-address", log=own, address=places[0]) if sure else own


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


def _stopped(facts: Facts, war: War) -> dict[str, Value]:
    """Which of two programs ended its last connection itself, by its own log, and when; the other one's lasts."""
    if war.judged.known_by != "logs" or _goes_on(facts, war):
        return {}
    own = by_own_log(facts).get(war.client_id, ())
    lasts = [c for party in war.judged.parties for c in [c for c in own if c.source in party][-1:]]
    ended = [c for c in lasts if c.ended == "normal" and c.until is not None and c.until >= war.moments[-1] - EDGE]
    others = [c for c in lasts if c not in ended]
    if len(ended) != 1 or len(others) != 1 or others[0].until is not None:
        return {}
    return {"stopped": base_name(ended[0].source), "parted": ended[0].until}


def _evidence(facts: Facts, war: War) -> tuple[Evidence, ...]:
    own = by_own_log(facts).get(war.client_id, ())
    firsts: dict[str, Connection] = {}
    for connection in (*war.connections, *own):
        key = connection.address or "" if connection.told_by == "broker" else connection.source
        firsts.setdefault(key, connection)
    parties = [replace(c.begin, why=say("party")) for c in firsts.values() if c.begin]
    taken = [replace(c.end, why=say("taken")) for c in war.connections if c.ended == "taken-over" and c.end]
    back = [replace(c.begin, why=say("back")) for c in war.connections[1 : 1 + _SHOWN] if c.begin]
    return tuple(dict.fromkeys((*parties, *taken[:_SHOWN], *back)))
