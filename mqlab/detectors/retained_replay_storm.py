"""MQTT: a client subscribes again and again, and gets all retained messages of its filter each time.

Fires: retained messages are most of what a client gets, after its fourth subscribe or later. Proven where they are as
many as retained topics × subscribes, within one replay.
Quiet: the replay of a first subscribe, or of one reconnect, redelivery (DUP flag), a burst of live messages, messages
that go round, retained messages of a broker's own statistics.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.mqtt import accounting, redeliveries, sessions
from mqlab.mqtt.copies import receivers
from mqlab.mqtt.redeliveries import Replayed
from mqlab.mqtt.subscriptions import all_told
from mqlab.rows import GRID
from mqlab.shared.wording import sample

INCIDENT = "retained-replay-storm"
SYSTEMS: tuple[str, ...] = ("mqtt",)

_SHOWN = 4


def detect(facts: Facts) -> Result:
    """One finding for each client."""
    every = redeliveries.replayed(facts)
    found = [one for one in every if one.storm]
    if found:
        return Result(tuple(_finding(facts, one) for one in found))
    small = [one for one in every if one.retained]
    if small:
        return Result(rejected="; ".join(_small(one) for one in small[:_SHOWN]))
    unknown = redeliveries.untold(facts)
    if unknown:
        return Result(missing=(f"when {unknown[0]} subscribed: the log of its broker or its own",))
    often = redeliveries.uncounted(facts)
    if often:
        return Result(missing=(f"what came to {often[0]}, which subscribed again and again: a ledger, or $SYS",))
    connected = bool(facts.of_kind("client-connected", "connection-made"))
    counted = receivers(facts) or accounting.went_out(facts, None) or facts.named("mqtt.publish_sent")
    if (connected and counted) or all_told(facts):
        return CLEAR
    return Result(missing=("connects over time, and messages received with the RETAIN flag or $SYS",))


def _small(one: Replayed) -> str:
    told = units.counted(one.retained, "retained message")
    return f"{one.client} got {told} after {units.counted(one.subscribes, 'further subscribe')}, and {one.live} others"


def _finding(facts: Facts, one: Replayed) -> Finding:
    proven = one.fits and one.counted != "counter"
    own = sessions.connections(facts, one.client)
    end = sessions.usual_end(own)
    why = f"; {sessions.ENDS[end]}" if end in sessions.ENDS else ""
    period = (one.until - one.since) / one.subscribes
    each = (
        f"all {units.number(one.topics)} retained messages" if one.topics is not None and one.fits
        else f"about {units.digits(one.retained / one.subscribes)} retained messages"
    )  # fmt: skip
    return finding(
        INCIDENT,
        one.client,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (one.since, None if one.ongoing else one.until),
        severity=Severity.WARNING if end == "taken-over" else None,
        ongoing=one.ongoing,
        statement=(
            f"{one.client} resubscribed {units.number(one.subscribes)} times, every {units.duration(period)}, and "
            f"got {each} each time: {units.number(one.retained)} replayed messages beside "
            f"{units.number(one.live)} live ones{why}."
        ),
        measures={
            "subscribes": float(one.subscribes),
            "replayed_messages": float(one.retained),
            "live_messages": float(one.live),
            "replay_factor": (one.retained + one.live) / one.live if one.live else float(one.retained),
            **({"retained_topics": float(one.topics)} if one.topics is not None else {}),
        },
        evidence=_evidence(facts, one),
        mitigate=f"Stop {one.client}; side effect: its work is not done meanwhile.",
        remedy=(
            "Find why it resubscribes; keep its session (clean session off, then no new subscribe is needed), "
            "narrower filters, MQTT 5 retain handling 1 or 2, and clear retained messages that nobody needs."
        ),
        verify="It subscribes only at planned restarts, and messages sent fall to the live rate.",
    )


def _evidence(facts: Facts, one: Replayed) -> Iterator[Evidence]:
    yield from sessions.evidence(sessions.connections(facts, one.client)[: _SHOWN + 1])
    if one.receiver is not None:
        flagged = next(r for r in one.receiver.receipts if r.retained and r.at + GRID > one.since)
        yield flagged.first(f"{flagged.retained} retained within ten seconds")
    for name, why in (("mqtt.retained_messages", "what the broker keeps"), ("mqtt.publish_sent", "what it sent")):
        for series in facts.named(name):
            if series.points:
                yield sample(facts, series, series.points[-1][0], why)
