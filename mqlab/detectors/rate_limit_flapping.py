"""MQTT: a limit delays a client's packets until its pings come too late, the connection ends, and it is back at once.

Fires: most lives of a client's connections last equally long, silence ended them (a ping without an answer, or the
broker's own timeout) after a time that a keep-alive makes, and the client is back within seconds. Proven where what a
proxy carried of each life is the limit times the life, or where the broker paused reading for longer than both sides
wait; likely where a limit is configured, where each life was carried at one and the same rate, where the broker paused
reading before most of the ends, or where the client has something to send all the time (a thin uplink).
Quiet: an idle timeout of a load balancer (lives of one length whatever the keep-alive, hardly any bytes, no silence at
client or broker), a bad link that fails in a regular rhythm (the client comes back late), an id that two clients fight
for, a limit that is never reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import median

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, finding
from mqlab.models import mqtt
from mqlab.mqtt.accounting import lost_by, reached_nobody
from mqlab.mqtt.connections import connections
from mqlab.mqtt.flapping import AT_ONCE, LEAST, Flapping, Limit, flapping, limit_of, limits
from mqlab.shared.wording import clock

INCIDENT = "rate-limit-flapping"
SYSTEMS: tuple[str, ...] = ("mqtt",)

EXACT = 0.03
"""Share by which bytes and limit times life may differ: a life of half a minute, told by a clock of whole seconds."""
_LUMP = 0.1
"""Share up to which one second's worth more or less is none: a limit lets bytes through in lumps."""
_SHOWN = 3
_UNKNOWN = "the configuration and the log of connections of the proxy or load balancer, and the broker's rate limits"


def detect(facts: Facts) -> Result:
    """One finding for each client that a limit cuts off."""
    every = flapping(facts)
    configured = limits(facts)
    reasons = {client.client_id: _why_not(facts, client, configured) for client in every}
    found = [client for client in every if reasons[client.client_id] is None]
    if found:
        return Result(tuple(_finding(facts, client, configured) for client in found))
    if any(why == _UNKNOWN for why in reasons.values()):
        alike = [client for client in every if reasons[client.client_id] == _UNKNOWN]
        seen = "; ".join(f"connections of {c.client_id} end after {units.duration(c.life)}" for c in alike)
        lines = tuple(life.end.because("ends") for c in alike for life in c.lives if life.end is not None)
        return Result(missing=(_UNKNOWN,), seen=seen, evidence=lines)
    if reasons:
        told = [f"{client}: {why}" for client, why in reasons.items() if why]
        more = f"; and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
        return Result(rejected="; ".join(told[:_SHOWN]) + more)
    if any(e.system == "mqtt" for e in facts.of_kind("rate-limited")):
        return Result(rejected="the broker paused reading, but no client's connections end after one time")
    return CLEAR if connections(facts) else Result(missing=("a broker's log, or logs of the clients",))


def _why_not(facts: Facts, client: Flapping, configured: tuple[Limit, ...]) -> str | None:
    """Why its lives are not those of a limit; None where they are."""
    if _reached(client, configured):
        return None
    lasted = f"connections end after {units.duration(client.life)}"
    if not (client.silent or client.held or _paused(client)):
        if client.kept_alive and (client.carried or any(life.ended == "taken-over" for life in client.lives)):
            return _UNKNOWN
        patience = f", whatever its keep-alive of {client.keep_alive:g} s" if client.keep_alive else ""
        return f"{lasted}{patience}, and no silence before: an idle timeout{_timeout(facts, client)}"
    if client.gap > AT_ONCE:
        return f"{lasted}, but it takes {units.duration(client.gap)} to come back: its link was down"
    if client.carried and configured:
        return f"{lasted}, and what was carried of them is not {units.size(configured[0].rate)}/s"
    if not (configured or _paused(client) or client.held or client.busy or _one_rate(client)):
        return _UNKNOWN
    return None


def _timeout(facts: Facts, client: Flapping) -> str:
    """The setting of a proxy that says so."""
    same = [s for s in facts.settings if limit_of(client, s)]
    return f" ({same[0].key} {same[0].value})" if same else " of a load balancer or firewall"


def _paused(client: Flapping) -> bool:
    """The broker paused for longer than client and broker wait."""
    return client.paused > 0 and client.keep_alive is not None and not mqtt.survives(client.paused, client.keep_alive)


def _reached(client: Flapping, configured: tuple[Limit, ...]) -> Limit | None:
    """The limit that its lives reached, as a proxy tells of each."""
    return next((limit for limit in configured if _exact(client, limit.rate) >= LEAST), None)


def _exact(client: Flapping, rate: float) -> int:
    """How many lives carried this rate times their length."""
    slack = [max(EXACT * c.seconds, min(1.0, _LUMP * c.seconds)) for c in client.carried]
    return sum(abs(c.bytes - rate * c.seconds) <= rate * some for c, some in zip(client.carried, slack, strict=True))


def _usual_rate(client: Flapping) -> float:
    return median([c.bytes / c.seconds for c in client.carried] or [0.0])


def _one_rate(client: Flapping) -> bool:
    return len(client.carried) >= LEAST and _exact(client, _usual_rate(client)) == len(client.carried)


def _finding(facts: Facts, client: Flapping, configured: tuple[Limit, ...]) -> Finding:
    reached = _reached(client, configured)
    limit = reached or (configured[0] if configured else None)
    proven = (client.kept_alive and reached is not None) or (client.silent and (reached is not None or _paused(client)))
    since, until = client.lives[0].since, client.lives[-1].until
    lost = lost_by(facts, {client.client_id})
    rate = limit.rate if limit else _usual_rate(client)
    patience = f" of {client.keep_alive:g} s" if client.keep_alive else ""
    # It goes on unless the log lasted for longer than another life after the last end.
    last = facts.covered_until({client.lives[-1].source}) or 0.0
    return finding(
        INCIDENT,
        client.client_id,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (since, None if last - (until or 0.0) < 1.5 * client.life else until),
        ongoing=last - (until or 0.0) < 1.5 * client.life,
        statement=(
            f"{client.client_id} lost its connection {units.counted(len(client.lives), 'time')} from "
            f"{clock(client.lives[0].until)} to {clock(until)} UTC, mostly after {units.duration(client.life)}, and "
            f"was back at once: it sends faster than "
            f"{f'the {units.size(rate)}/s that are read' if rate else 'a limit or its uplink allows'}, so its pings "
            f"wait behind data until the keep-alive{patience} has passed.{reached_nobody(lost)}"
        ),
        measures={
            "lives": len(client.lives),
            "life_seconds": client.life,
            "limit_bytes": rate or None,
            "life_bytes": median(c.bytes for c in client.carried) if client.carried else None,
            "pause_seconds": client.paused or None,
            "lost_records": lost or None,
        },
        evidence=_evidence(client, limit),
        explains=("redelivery-storm", "reconnect-storm", "log-explosion"),
        mitigate="Raise the limit for this client or listener; side effect: it may crowd out others.",
        remedy="Keep the sender below 80 % of the limit, with small messages at QoS 1; no files over MQTT.",
        verify=f"Connections of {client.client_id} last for hours, and bytes a second stay below the limit.",
        facts={"keep-alive": f"{client.keep_alive:g} s" if client.keep_alive else None},
    )


def _evidence(client: Flapping, limit: Limit | None) -> Iterator[Evidence]:
    if limit is not None:
        yield limit.setting.evidence.because("the limit")
    yield from (replace(c.line, why="limit times life") for c in client.carried[:_SHOWN])
    yield from (replace(e.first, why="silence ends a connection") for e in client.unanswered[:_SHOWN])
    for life in client.lives[:_SHOWN]:
        if life.end is not None:
            yield replace(life.end, why=f"after {units.duration(life.seconds or 0.0)}")
