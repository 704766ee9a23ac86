"""MQTT: everybody reconnects at once: a broker restarted or stood still, or a network, gateway or proxy failed.

Fires: at least five clients, and half of those that a broker's stop and start cut off, are back within two minutes; or
as many of the clients of a broker, or of those behind one address, come back within half a minute without a restart. A
notice, since it ends by itself; a warning where the same clients connect again and again in the minutes that follow.
Quiet: few clients that come again and again, ids that clients fight for, clients that left in order, connections that
each end after the same time, a handful of clients after a restart.
"""

from __future__ import annotations

from dataclasses import replace

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.mqtt.accounting import lost_by
from mqlab.mqtt.brokers import WHOLE_SECONDS
from mqlab.mqtt.connections import connections
from mqlab.mqtt.reconnects import Storm, cut_off, storms
from mqlab.shared.wording import clock
from mqlab.words.filling import Value

INCIDENT = "reconnect-storm"
SYSTEMS: tuple[str, ...] = ("mqtt",)
say = words.room(INCIDENT)

_SHOWN = 2


def detect(facts: Facts) -> Result:
    """One finding for each time that everybody came back."""
    found = storms(facts)
    if found:
        return Result(tuple(_finding(facts, storm) for storm in found))
    cut = cut_off(facts)
    if cut:
        return Result(rejected=say("few", clients=len(cut)))
    return CLEAR if connections(facts) else Result(missing=(say("no-material"),))


def _finding(facts: Facts, storm: Storm) -> Finding:
    place = storm.broker or say("broker")
    after = max(0.0, storm.until - storm.up)
    measures = {
        "clients": storm.count,
        "clients_before": storm.connected,
        "down_seconds": max(0.0, storm.up - storm.down),
        "back_seconds": after,
    }
    if storm.up.is_integer() and storm.until.is_integer():
        measures |= {
            "back_seconds_low": max(0.0, after - WHOLE_SECONDS),
            "back_seconds_high": after + WHOLE_SECONDS,
        }
    lost = lost_by(facts, None, storm.down, storm.until)
    if lost is not None:
        measures["lost_records"] = lost
    if storm.goes_on:
        measures["connects_again"] = float(storm.again)
    return finding(
        INCIDENT,
        place,
        Certainty.PROVEN if storm.broker and not storm.goes_on else Certainty.LIKELY,
        (storm.down, storm.until),
        severity=Severity.WARNING if storm.goes_on else Severity.NOTICE,
        name=f"{place}@{clock(storm.up)}",
        slots=_slots(storm) | {"lost": None if lost is None else round(lost)},
        measures=measures,
        evidence=_evidence(storm),
        explains=("reconnect-flaky-link", "redelivery-storm", "retained-replay-storm"),
    )


def _slots(storm: Storm) -> dict[str, Value]:
    """What made them come back, and when."""
    apart = storm.cause == "restart" or storm.broker is not None
    known = storm.cause if storm.cause in ("restart", "address", "standstill") else "network"
    return {
        "cause": known if apart else "no-log",
        "stopped": len(storm.lines) > 1,
        "lost_before": storm.down < storm.up,
        "down": storm.down,
        "up": storm.up,
        "address": storm.back[0].address,
        "quiet_since": storm.quiet_since or None,
    }


def _evidence(storm: Storm) -> tuple[Evidence, ...]:
    told = [replace(e.first, why=say("stops" if "stopping" in e.kind else "starts")) for e in storm.lines]
    firsts = [c.begin for c in storm.back[:_SHOWN] if c.begin]
    last = [c.begin for c in storm.back[_SHOWN:][-1:] if c.begin]
    return (*told, *(replace(p, why=say("back")) for p in firsts), *(replace(p, why=say("last-back")) for p in last))
