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
from mqlab.mqtt import accounting, redeliveries
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
    found = [replay for replay in every if replay.storm]
    if found:
        return Result(tuple(_finding(facts, replay) for replay in found))
    small = [replay for replay in every if replay.retained]
    if small:
        return Result(rejected="; ".join(_small(replay) for replay in small[:_SHOWN]))
    unknown = redeliveries.never_seen_to_subscribe(facts)
    if unknown:
        return Result(missing=(f"when {unknown[0]} subscribed: the log of its broker or its own",))
    often = redeliveries.replays_not_told(facts)
    if often:
        wanted = f"what came to {often[0]}, which subscribed again and again: a ledger, or $SYS"
        if not any(e.client_id == often[0] for e in facts.of_kind("client-subscribed")):
            return Result(missing=(wanted,))
        lines = redeliveries.evidence(facts, often[0], _SHOWN)
        return Result(missing=(wanted,), seen=f"{often[0]} connects and subscribes again and again", evidence=lines)
    connected = bool(facts.of_kind("client-connected", "connection-made"))
    counted = receivers(facts) or accounting.went_out(facts, None) or facts.named("mqtt.publish_sent")
    if (connected and counted) or all_told(facts):
        return CLEAR
    return Result(missing=("connects over time, and messages received with the RETAIN flag or $SYS",))


def _small(replay: Replayed) -> str:
    retained = units.counted(replay.retained, "retained message")
    subscribed = units.counted(replay.subscribes, "further subscribe")
    return f"{replay.client} got {retained} after {subscribed}, and {replay.live} others"


def _finding(facts: Facts, replay: Replayed) -> Finding:
    proven = replay.fits and replay.counted != "counter"
    end = redeliveries.usual_end(facts, replay.client)
    why = f"; {redeliveries.ENDS[end]}" if end in redeliveries.ENDS else ""
    period = (replay.until - replay.since) / replay.subscribes
    each = (
        f"all {units.number(replay.topics)} retained messages" if replay.topics is not None and replay.fits
        else f"about {units.digits(replay.retained / replay.subscribes)} retained messages"
    )  # fmt: skip
    return finding(
        INCIDENT,
        replay.client,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (replay.since, None if replay.ongoing else replay.until),
        severity=Severity.WARNING if end == "taken-over" else None,
        ongoing=replay.ongoing,
        statement=(
            f"{replay.client} resubscribed {units.number(replay.subscribes)} times, every {units.duration(period)}, "
            "and "
            f"got {each} each time: {units.number(replay.retained)} replayed messages beside "
            f"{units.number(replay.live)} live ones{why}."
        ),
        measures={
            "subscribes": replay.subscribes,
            "replayed_messages": replay.retained,
            "live_messages": replay.live,
            "replay_factor": (replay.retained + replay.live) / replay.live if replay.live else float(replay.retained),
            **({"retained_topics": replay.topics} if replay.topics is not None else {}),
        },
        evidence=_evidence(facts, replay),
        mitigate=f"Stop {replay.client}; side effect: its work is not done meanwhile.",
        remedy=(
            "Find why it resubscribes; keep its session (clean session off, then no new subscribe is needed), "
            "narrower filters, MQTT 5 retain handling 1 or 2, and clear retained messages that nobody needs."
        ),
        verify="It subscribes only at planned restarts, and messages sent fall to the live rate.",
    )


def _evidence(facts: Facts, replay: Replayed) -> Iterator[Evidence]:
    yield from redeliveries.evidence(facts, replay.client, _SHOWN + 1)
    if replay.receiver is not None:
        flagged = next(r for r in replay.receiver.receipts if r.retained and r.at + GRID > replay.since)
        yield flagged.first(f"{flagged.retained} retained within ten seconds")
    for name, why in (("mqtt.retained_messages", "what the broker keeps"), ("mqtt.publish_sent", "what it sent")):
        for series in facts.named(name):
            if series.points:
                yield sample(facts, series, series.points[-1][0], why)
