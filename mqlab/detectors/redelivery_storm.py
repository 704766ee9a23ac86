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
from mqlab.mqtt import accounting, redeliveries, sessions
from mqlab.mqtt.copies import receivers
from mqlab.mqtt.redeliveries import Again

INCIDENT = "redelivery-storm"
SYSTEMS: tuple[str, ...] = ("mqtt",)

_SHOWN = 4


def detect(facts: Facts) -> Result:
    """One finding for each client."""
    every = redeliveries.again(facts)
    found = [one for one in every if one.storm]
    if found:
        return Result(tuple(_finding(facts, one) for one in found))
    if every:
        return Result(rejected="; ".join(_small(one) for one in every[:_SHOWN]))
    if receivers(facts) or accounting.went_out(facts, None) or sessions.never(facts):
        return CLEAR
    return Result(missing=("messages received with the DUP flag, or the broker's trace",))


def _small(one: Again) -> str:
    told = units.counted(one.dup, "message")
    return f"{one.client} got {told} of {units.number(one.rows)} again, after {units.counted(one.connects, 'connect')}"


def _finding(facts: Facts, one: Again) -> Finding:
    proven = redeliveries.redelivery_fits(facts, one)
    own = sessions.connections(facts, one.client)
    end = sessions.usual_end(own)
    why = f"; {sessions.ENDS[end]}" if end in sessions.ENDS else ""
    when = f"after {units.number(one.connects)} connects" if one.connects else "without a new connection"
    worst = f", one of them {units.number(one.copies)} times" if one.copies > 1 else ""
    return finding(
        INCIDENT,
        one.client,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (one.since, None if one.ongoing else one.until),
        severity=Severity.WARNING if end == "taken-over" else None,
        ongoing=one.ongoing,
        statement=(
            f"{one.client} got {units.counted(one.dup, 'message')} again with the DUP flag {when}{worst}: it had not "
            f"acknowledged them. They are {units.percent(one.dup / one.rows)} of what it got meanwhile"
            f"{why}."
        ),
        measures=_measures(facts, one),
        evidence=_evidence(facts, one),
        explains=("slow-consumer", "session-queue-growth"),
        mitigate=(
            f"Keep {one.client} connected, with one instance and a longer keep-alive; side effect: a dead client "
            "is noticed later."
        ),
        remedy=(
            "Repair the cause of the reconnects; acknowledge each message once it is stored, store idempotently, "
            "and take no more at once (receive maximum, in-flight window) than is worked off within a connection."
        ),
        verify="Messages with DUP an hour are near 0, and no id is handled twice.",
    )


def _measures(facts: Facts, one: Again) -> dict[str, float]:
    found = {"redelivered_messages": float(one.dup), "redelivered_share": one.dup / one.rows}
    if one.connects:
        found |= {"connects": float(one.connects), "redelivered_per_connect": one.dup / one.connects}
    if one.copies:
        found["copies_of_worst_id"] = float(one.copies)
    allowed = redeliveries.window(facts)
    return found | ({"in_flight_window": float(allowed)} if allowed else {})


def _evidence(facts: Facts, one: Again) -> Iterator[Evidence]:
    yield from sessions.evidence(sessions.connections(facts, one.client)[:_SHOWN])
    if one.receiver is not None:
        for receipt in [r for r in one.receiver.receipts if r.dup][:_SHOWN]:
            why = f"{receipt.dup} with DUP within ten seconds"
            yield receipt.repeated(why) or receipt.first(why)
    for line in one.lines[:_SHOWN]:
        yield line.first.because("sent again with the DUP flag")
    for told in facts.settings:
        if told.key in redeliveries.WINDOW:
            yield told.evidence.because("what may be under way unacknowledged")
