"""MQTT: a client subscribes again and again, and gets all retained messages of its filter each time.

Fires: retained messages are most of what a client gets, after its fourth subscribe or later. Proven where they are as
many as retained topics × subscribes, within one replay.
Quiet: the replay of a first subscribe, or of one reconnect, redelivery (DUP flag), a burst of live messages, messages
that go round, retained messages of a broker's own statistics.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.mqtt import accounting, queue_drops, redeliveries
from mqlab.mqtt.brokers import WHOLE_SECONDS
from mqlab.mqtt.copies import receivers
from mqlab.mqtt.redeliveries import Replayed
from mqlab.mqtt.subscriptions import all_told
from mqlab.rows import GRID
from mqlab.shared.wording import sample
from mqlab.units import Interval
from mqlab.words import Text, listed

INCIDENT = "retained-replay-storm"
SYSTEMS: tuple[str, ...] = ("mqtt",)
say = words.room(INCIDENT)

_SHOWN = 4


def detect(facts: Facts) -> Result:
    """One finding for each client."""
    every = redeliveries.replayed(facts)
    found = [replay for replay in every if replay.storm]
    if found:
        return Result(tuple(_finding(facts, replay) for replay in found))
    small = [replay for replay in every if replay.retained]
    if small:
        return Result(rejected=listed(_small(replay) for replay in small[:_SHOWN]))
    unknown = redeliveries.never_seen_to_subscribe(facts)
    if unknown:
        return Result(missing=(say("no-subscribes", client=unknown[0]),))
    often = redeliveries.replays_not_told(facts)
    if often:
        wanted = say("no-count", client=often[0])
        if not any(e.client_id == often[0] for e in facts.of_kind("client-subscribed")):
            return Result(missing=(wanted,))
        lines = redeliveries.evidence(facts, often[0], _SHOWN)
        return Result(missing=(wanted,), seen=say("often", client=often[0]), evidence=lines)
    connected = bool(facts.of_kind("client-connected", "connection-made"))
    counted = receivers(facts) or accounting.went_out(facts, None) or facts.named("mqtt.publish_sent")
    if (connected and counted) or all_told(facts):
        return CLEAR
    return Result(missing=(say("no-material"),))


def _small(replay: Replayed) -> Text:
    retained, subscribes, live = replay.retained, replay.subscribes, replay.live
    return say("small", client=replay.client, retained=retained, subscribes=subscribes, live=live)


def _finding(facts: Facts, replay: Replayed) -> Finding:
    proven = replay.fits and replay.counted != "counter"
    end = redeliveries.usual_end(facts, replay.client)
    full = [e for e in facts.of_kind("session-queue-dropping") if e.client_id == replay.client]
    full = [e for e in full if e.last_at is not None and e.last_at >= replay.since - WHOLE_SECONDS]
    whole = replay.topics is not None and replay.retained == replay.topics * replay.subscribes and not full
    return finding(
        INCIDENT,
        replay.client,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (replay.since, None if replay.ongoing else replay.until),
        severity=Severity.WARNING if end == "taken-over" else None,
        ongoing=replay.ongoing,
        slots={
            "period": (replay.until - replay.since) / (replay.subscribes - 1),
            "all": replay.topics if whole else None,
            "full": sum(e.count for e in full) or None,
            "about": replay.retained / replay.subscribes,
            "end": redeliveries.cause(facts, replay.client),
        },
        measures={
            "subscribes": replay.subscribes,
            "replayed_messages": replay.retained,
            "dropped_messages": queue_drops.counted_for(facts, replay.client) if full else None,
            **replay.live.measures("live_messages"),
            **_factor(replay).measures("replay_factor"),
            **({"retained_topics": replay.topics} if replay.topics is not None else {}),
        },
        evidence=_evidence(facts, replay),
    )


def _factor(replay: Replayed) -> Interval:
    """How many times what it gets it gets."""
    every = [max(1.0, n) for n in (replay.live.high, replay.live.likely, replay.live.low)]
    return Interval(*((replay.retained + live) / live for live in every))


def _evidence(facts: Facts, replay: Replayed) -> Iterator[Evidence]:
    yield from redeliveries.evidence(facts, replay.client, _SHOWN + 1)
    if replay.receiver is not None:
        own = [r for r in replay.receiver.receipts if r.retained and r.at + GRID > replay.since]
        flagged = next((r for r in own if r.at >= replay.since), own[0])
        yield flagged.first_retained(say("retained-line", retained=flagged.retained))
    for name, why in (("mqtt.retained_messages", "kept-line"), ("mqtt.publish_sent", "sent-line")):
        for series in facts.named(name):
            if series.points:
                yield sample(facts, series, series.points[-1][0], say(why))
