"""MQTT: a client gets the same unacknowledged messages again with the DUP flag, each time it connects.

Fires: messages with the DUP flag after three connects or more, or one of them three times, and they are a good part of
what the client gets. Proven where they follow its connects and are no more than connects × in-flight window.
Quiet: one reconnect, logs of brokers in which nobody comes back so often to a session that is kept, a few messages
again of many, copies without the flag (filters that overlap, messages that go round), replay of retained messages.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.mqtt import accounting, redeliveries
from mqlab.mqtt.copies import receivers
from mqlab.mqtt.redeliveries import Again
from mqlab.words import Text, listed

INCIDENT = "redelivery-storm"
SYSTEMS: tuple[str, ...] = ("mqtt",)
say = words.room(INCIDENT)

_SHOWN = 4


def detect(facts: Facts) -> Result:
    """One finding for each client."""
    every = redeliveries.again(facts)
    found = [storm for storm in every if storm.storm]
    if found:
        return Result(tuple(_finding(facts, storm) for storm in found))
    if every:
        return Result(rejected=listed(_small(storm) for storm in every[:_SHOWN]))
    if receivers(facts) or accounting.went_out(facts, None) or redeliveries.never(facts):
        return CLEAR
    return Result(missing=(say("no-flags"),))


def _small(storm: Again) -> Text:
    return say("few", client=storm.client, dup=storm.dup, rows=storm.rows, connects=storm.connects)


def _finding(facts: Facts, storm: Again) -> Finding:
    proven = redeliveries.redelivery_fits(facts, storm)
    end = redeliveries.usual_end(facts, storm.client)
    return finding(
        INCIDENT,
        storm.client,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (storm.since, None if storm.ongoing else storm.until),
        severity=Severity.WARNING if end == "taken-over" else None,
        ongoing=storm.ongoing,
        slots={"copies": storm.copies if storm.copies > 1 else None, "why": redeliveries.cause(facts, storm.client)},
        measures={
            "redelivered_messages": storm.dup,
            "redelivered_share": storm.dup / storm.rows,
            "connects": storm.connects or None,
            "redelivered_per_connect": storm.dup / storm.connects if storm.connects else None,
            "copies_of_worst_id": storm.copies or None,
            "in_flight_window": redeliveries.window(facts) or None,
        },
        evidence=_evidence(facts, storm),
        explains=("slow-consumer", "session-queue-growth"),
    )


def _evidence(facts: Facts, storm: Again) -> Iterator[Evidence]:
    yield from redeliveries.evidence(facts, storm.client, _SHOWN)
    if storm.receiver is not None:
        for receipt in [r for r in storm.receiver.receipts if r.dup][:_SHOWN]:
            why = say("flagged", dup=receipt.dup)
            yield receipt.repeated(why) or receipt.first(why)
    for line in storm.lines[:_SHOWN]:
        yield line.first.because(say("again"))
    for told in facts.settings:
        if told.key in redeliveries.WINDOW:
            yield told.evidence.because(say("window"))
