"""MQTT: everybody reconnects at once: a broker restarted or stood still, or a network, gateway or proxy failed.

Fires: at least five clients, and half of those that a broker's stop and start cut off, are back within two minutes; or
as many of the clients of a broker, or of those behind one address, come back within half a minute without a restart. A
notice, since it ends by itself; a warning where the same clients connect again and again in the minutes that follow.
Quiet: few clients that come again and again, ids that clients fight for, clients that left in order, connections that
each end after the same time, a handful of clients after a restart.
"""

from __future__ import annotations

from dataclasses import replace

from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.mqtt.accounting import lost_by, reached_nobody
from mqlab.mqtt.connections import connections
from mqlab.mqtt.reconnects import Storm, cut_off, storms
from mqlab.shared.wording import clock
from mqlab.units import counted, duration

INCIDENT = "reconnect-storm"
SYSTEMS: tuple[str, ...] = ("mqtt",)

_SHOWN = 2


def detect(facts: Facts) -> Result:
    """One finding for each time that everybody came back."""
    found = storms(facts)
    if found:
        return Result(tuple(_finding(facts, storm) for storm in found))
    cut = cut_off(facts)
    if cut:
        return Result(rejected=f"a restart of the broker cut off only {counted(len(cut), 'client')}")
    return CLEAR if connections(facts) else Result(missing=("a broker's log, or logs of the clients",))


def _finding(facts: Facts, storm: Storm) -> Finding:
    place = storm.broker or "the broker"
    after = max(0.0, storm.until - storm.up)
    measures = {
        "clients": storm.count,
        "clients_before": storm.connected,
        "down_seconds": max(0.0, storm.up - storm.down),
        "back_seconds": after,
    }
    lost = lost_by(facts, None, storm.down, storm.until)
    if lost is not None:
        measures["lost_records"] = lost
    mitigate, remedy = "None needed.", "None needed; clients should wait a random time before they reconnect."
    if storm.goes_on:
        measures["connects_again"] = float(storm.again)
        mitigate = (
            "Admit clients in groups (a limit on new connections at the listener); side effect: some wait longer."
        )
        remedy = "Random back-off in the clients, and capacity for all connects within one back-off."
    return finding(
        INCIDENT,
        place,
        Certainty.PROVEN if storm.broker and not storm.goes_on else Certainty.LIKELY,
        (storm.down, storm.until),
        severity=Severity.WARNING if storm.goes_on else Severity.NOTICE,
        name=f"{place}@{clock(storm.up)}",
        statement=(
            f"{_cause(storm, place)} {storm.count} of {counted(storm.connected, 'client')} were back by "
            f"{clock(storm.until)} UTC, {duration(after)} after the first could reconnect. {_after(storm)}"
            f"{reached_nobody(lost)}"
        ),
        measures=measures,
        evidence=_evidence(storm),
        explains=("reconnect-flaky-link", "redelivery-storm", "retained-replay-storm"),
        mitigate=mitigate,
        remedy=remedy,
        verify="Connects a minute are as before, and as many clients are connected as before.",
    )


def _cause(storm: Storm, place: str) -> str:
    if storm.cause == "restart" and len(storm.lines) > 1:
        return f"{place} was stopped at {clock(storm.down)} and started again at {clock(storm.up)} UTC."
    if storm.cause == "restart":
        return f"{place} started at {clock(storm.up)} UTC without an orderly stop."
    if storm.broker is None:
        return f"The clients lost the broker together at {clock(storm.down)} UTC; only its log can tell why."
    if storm.cause == "address":
        address = storm.back[0].address
        return f"Clients behind {address} lost {place} together, which did not restart: their gateway or proxy did."
    if storm.cause == "standstill":
        quiet = f", after logging nothing since {clock(storm.quiet_since)} UTC" if storm.quiet_since else ""
        return (
            f"{place} logged at {clock(storm.up)} UTC that all clients were lost and back at once{quiet}: it did not "
            "restart but stalled, or what is in front of it did."
        )
    return f"The clients lost {place} together at {clock(storm.down)} UTC, which did not restart: the network did."


def _after(storm: Storm) -> str:
    again = f"they connected {counted(storm.again, 'time')} again in the five minutes that followed"
    return f"It does not end: {again}." if storm.goes_on else "They have stayed connected since."


def _evidence(storm: Storm) -> tuple[Evidence, ...]:
    told = [replace(e.first, why="the broker" + (" stops" if "stopping" in e.kind else " starts")) for e in storm.lines]
    firsts = [c.begin for c in storm.back[:_SHOWN] if c.begin]
    last = [c.begin for c in storm.back[_SHOWN:][-1:] if c.begin]
    return (*told, *(replace(p, why="is back") for p in firsts), *(replace(p, why="the last is back") for p in last))
