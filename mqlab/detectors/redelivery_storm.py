"""MQTT: a client gets the same unacknowledged messages again with the DUP flag, each time it connects.

Fires: messages with the DUP flag after three connects or more, or one of them three times, and they are a good part of
what the client gets. Proven where they follow its connects and are no more than connects × in-flight window.
Quiet: one reconnect, logs of brokers in which nobody comes back so often to a session that is kept, a few messages
again of many, copies without the flag (filters that overlap, messages that go round), replay of retained messages.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.mqtt import accounting, redeliveries
from mqlab.mqtt.copies import receivers
from mqlab.mqtt.redeliveries import Again

INCIDENT = "redelivery-storm"
SYSTEMS: tuple[str, ...] = ("mqtt",)

_SHOWN = 4


def detect(facts: Facts) -> Result:
    """One finding for each client."""
    every = redeliveries.again(facts)
    found = [storm for storm in every if storm.storm]
    if found:
        return Result(tuple(_finding(facts, storm) for storm in found))
    if every:
        return Result(rejected="; ".join(_small(storm) for storm in every[:_SHOWN]))
    if receivers(facts) or accounting.went_out(facts, None) or redeliveries.never(facts):
        return CLEAR
    return Result(missing=("messages received with the DUP flag, or the broker's trace",))


def _small(storm: Again) -> str:
    again = f"{units.counted(storm.dup, 'message')} of {units.number(storm.rows)} with the DUP flag"
    return f"{storm.client} got {again}, after {units.counted(storm.connects, 'connect')}"


def _finding(facts: Facts, storm: Again) -> Finding:
    proven = redeliveries.redelivery_fits(facts, storm)
    end = redeliveries.usual_end(facts, storm.client)
    why = f"; {redeliveries.ENDS[end]}" if end in redeliveries.ENDS else ""
    when = f"after {units.number(storm.connects)} connects" if storm.connects else "without a new connection"
    worst = f", one of them {units.number(storm.copies)} times" if storm.copies > 1 else ""
    return finding(
        INCIDENT,
        storm.client,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (storm.since, None if storm.ongoing else storm.until),
        severity=Severity.WARNING if end == "taken-over" else None,
        ongoing=storm.ongoing,
        statement=(
            f"{storm.client} got {units.counted(storm.dup, 'message')} with the DUP flag {when}{worst}: the broker had "
            f"sent them before, and it had not acknowledged them. They are "
            f"{units.percent(storm.dup / storm.rows)} of what it got meanwhile{why}."
        ),
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
        mitigate=(
            f"Keep {storm.client} connected, with one instance and a longer keep-alive; side effect: a dead client "
            "is noticed later."
        ),
        remedy=(
            "Repair the cause of the reconnects; acknowledge each message once it is stored, store idempotently, "
            "and take no more at once (receive maximum, in-flight window) than is worked off within a connection."
        ),
        verify="Messages with DUP an hour are near 0, and no id is handled twice.",
    )


def _evidence(facts: Facts, storm: Again) -> Iterator[Evidence]:
    yield from redeliveries.evidence(facts, storm.client, _SHOWN)
    if storm.receiver is not None:
        for receipt in [r for r in storm.receiver.receipts if r.dup][:_SHOWN]:
            why = f"{receipt.dup} with DUP within ten seconds"
            yield receipt.repeated(why) or receipt.first(why)
    for line in storm.lines[:_SHOWN]:
        yield line.first.because("sent again with the DUP flag")
    for told in facts.settings:
        if told.key in redeliveries.WINDOW:
            yield told.evidence.because("what may be under way unacknowledged")
