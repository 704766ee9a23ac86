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

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, finding
from mqlab.models import mqtt
from mqlab.mqtt.accounting import lost_by
from mqlab.mqtt.connections import connections
from mqlab.mqtt.copies import client_of
from mqlab.mqtt.flapping import AT_ONCE, LEAST, Flapping, Limit, flapping, limit_of, limits
from mqlab.words import Text, listed

INCIDENT = "rate-limit-flapping"
SYSTEMS: tuple[str, ...] = ("mqtt",)
say = words.room(INCIDENT)

EXACT = 0.03
"""Share by which bytes and limit times life may differ: a life of half a minute, told by a clock of whole seconds."""
_LUMP = 0.1
"""Share up to which one second's worth more or less is none: a limit lets bytes through in lumps."""
_SHOWN = 3


def detect(facts: Facts) -> Result:
    """One finding for each client that a limit cuts off."""
    every = flapping(facts)
    configured = limits(facts)
    reasons = {client.client_id: _why_not(facts, client, configured) for client in every}
    found = [client for client in every if reasons[client.client_id] is None]
    if found:
        return Result(tuple(_finding(facts, client, configured) for client in found))
    unknown = say("no-limit")
    if alike := [client for client in every if reasons[client.client_id] == unknown]:
        seen = listed(say("alike", client=c.client_id, life=c.life) for c in alike)
        lines = tuple(life.end.because(say("ends")) for c in alike for life in c.lives if life.end is not None)
        return Result(missing=(unknown,), seen=seen, evidence=lines)
    if reasons:
        told = [say("reason", client=client, why=why) for client, why in reasons.items() if why]
        more = [say("more", more=len(told) - _SHOWN)] if told[_SHOWN:] else []
        return Result(rejected=listed([*told[:_SHOWN], *more]))
    if any(e.system == "mqtt" for e in facts.of_kind("rate-limited")):
        return Result(rejected=say("paused"))
    return CLEAR if connections(facts) else Result(missing=(say("no-material"),))


def _why_not(facts: Facts, client: Flapping, configured: tuple[Limit, ...]) -> Text | None:
    """Why its lives are not those of a limit; None where they are."""
    if _reached(client, configured):
        return None
    if not (client.silent or client.held or _paused(client)):
        if client.kept_alive and (client.carried or any(life.ended == "taken-over" for life in client.lives)):
            return say("no-limit")
        return say("idle", life=client.life, keep_alive=_keep_alive(client), **_timeout(facts, client))
    if client.gap > AT_ONCE:
        return say("away", life=client.life, gap=client.gap)
    if client.carried and configured:
        return say("other-rate", life=client.life, rate=configured[0].rate)
    if not (configured or _paused(client) or client.held or client.busy or _one_rate(client)):
        return say("no-limit")
    return None


def _keep_alive(client: Flapping) -> str | None:
    """Seconds, without those decimals that nobody set."""
    return f"{client.keep_alive:g}" if client.keep_alive else None


def _given_up(client: Flapping) -> dict[str, bool]:
    """Who ended most of its connections: itself, whose pings nobody answered, or the broker, which heard nothing."""
    own = sum(line.kind == "ping-unanswered" for line in client.unanswered)
    others = len(client.unanswered) - own
    return {"pings": 2 * own >= len(client.lives), "timeouts": 2 * others >= len(client.lives)}


def _timeout(facts: Facts, client: Flapping) -> dict[str, str]:
    """The setting of a proxy that says so."""
    return next(({"key": s.key, "value": s.value} for s in facts.settings if limit_of(client, s)), {})


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


def _hangs(facts: Facts, client: Flapping, since: float) -> bool:
    """Nothing was answered of what it sent within a second of that and since: it is connected, nothing gets through."""
    sent = (f for f in facts.flows if f.last_at >= since - 1.0)
    own = [f for f in sent if f.sender and client_of(facts, f.sender) == client.client_id]
    return bool(own) and all(flow.unanswered for flow in own)


def _finding(facts: Facts, client: Flapping, configured: tuple[Limit, ...]) -> Finding:
    reached = _reached(client, configured)
    limit = reached or (configured[0] if configured else None)
    proven = (client.kept_alive and reached is not None) or (client.silent and (reached is not None or _paused(client)))
    since, until = client.lives[0].since, client.lives[-1].until
    lost = lost_by(facts, {client.client_id})
    rate = limit.rate if limit else _usual_rate(client)
    # It goes on unless the log lasted for longer than another life after the last end, and what it sent since came.
    last = facts.covered_until({client.lives[-1].source}) or 0.0
    goes_on = last - (until or 0.0) < 1.5 * client.life or (until is not None and _hangs(facts, client, until))
    return finding(
        INCIDENT,
        client.client_id,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (since, None if goes_on else until),
        ongoing=goes_on,
        slots={
            "first_end": client.lives[0].until,
            "last_end": until,
            "rate": rate or None,
            "keep_alive": _keep_alive(client),
            **_given_up(client),
            "lost": None if lost is None else round(lost),
        },
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
        facts={"keep-alive": say("keep-alive", keep_alive=_keep_alive(client)) if client.keep_alive else None},
    )


def _evidence(client: Flapping, limit: Limit | None) -> Iterator[Evidence]:
    if limit is not None:
        yield limit.setting.evidence.because(say("limit"))
    yield from (replace(c.line, why=say("carried")) for c in client.carried[:_SHOWN])
    yield from (replace(e.first, why=say("silence")) for e in client.unanswered[:_SHOWN])
    for life in client.lives[:_SHOWN]:
        if life.end is not None:
            yield replace(life.end, why=say("after", life=life.seconds or 0.0))
