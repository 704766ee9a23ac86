"""MQTT: one client has filters that overlap and gets, or handles, a copy of a message for each that matches.

Fires: each message of some topics comes to one client as often, at the same moment and without a flag. Proven where as
many of its filters match, or the broker's trace shows the copies; the trace, the broker's counter or its setting tell
whether the broker sent the copies or the client handled one message several times.
Quiet: filters that overlap without copies, copies with DUP (redelivery) or RETAIN (replay), copies that come later and
later (messages that go round), copies that all clients get, or that a publisher sent.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.mqtt import accounting, overlaps
from mqlab.mqtt.copies import first_copy, receivers
from mqlab.mqtt.overlaps import Doubled
from mqlab.mqtt.subscriptions import all_told
from mqlab.rows import GRID
from mqlab.shared.wording import few

INCIDENT = "overlapping-subscription"
SYSTEMS: tuple[str, ...] = ("mqtt",)

_SHOWN = 3
_MADE = {
    "broker": "The broker sends the copies.",
    "client": "The broker sends each message once: the client's handlers are called once for each filter that matches.",
    None: "Nothing tells whether the broker sent the copies or the client handled one message several times.",
}
_REMEDY_CLIENT = "One handler for each topic: paho Go calls every handler whose filter matches for one message."
_REMEDY_BROKER = (
    "Filters that do not overlap; with mosquitto also allow_duplicate_messages false, which is its default."
)


def detect(facts: Facts) -> Result:
    """One finding for each client."""
    found = overlaps.doubled(facts)
    if found:
        return Result(tuple(_finding(facts, overlap) for overlap in found))
    counted = bool(receivers(facts)) or bool(accounting.went_out(facts, None))
    pairs = list(overlaps.overlapping(facts))
    if not counted and (pairs or not all_told(facts)):
        return Result(missing=("messages that clients received, with ids, or the broker's trace",))
    if pairs:
        told = "; ".join(f"{client} has {first} and {second}" for client, first, second in pairs[:_SHOWN])
        return Result(rejected=f"{told}: filters that overlap, but messages did not come once for each")
    return CLEAR


def _finding(facts: Facts, overlap: Doubled) -> Finding:
    agrees = overlap.explained or (overlap.maker == "broker" and overlap.others_once and _traced(facts, overlap))
    mean = 1 + overlap.extra / overlap.messages
    began, ended, ongoing = _when(overlap)
    names = sorted({f.filter for f in overlap.filters})
    why = f"{len(names)} of its filters match ({', '.join(names[:_SHOWN])})" if names else "its filters are not known"
    return finding(
        INCIDENT,
        overlap.client,
        Certainty.PROVEN if agrees else Certainty.LIKELY,
        (began, None if ongoing else ended),
        severity=Severity.WARNING,
        ongoing=ongoing,
        statement=(
            f"{overlap.client} gets {_each(overlap)} of {few(list(overlap.copies), _SHOWN)} "
            f"{_often(overlap)} times at the same moment: {why}. {_MADE[overlap.maker]} "
            f"{units.number(overlap.extra)} of the messages that it got are copies of "
            f"{units.counted(overlap.messages, 'message')}, none with the DUP flag."
        ),
        measures={
            **units.between(mean, overlap.copies.values()).measures("copies_per_message"),
            "copied_messages": overlap.messages,
            "extra_copies": overlap.extra,
            "topics": len(overlap.copies),
            **({"matching_filters": len(names)} if names else {}),
        },
        evidence=_evidence(facts, overlap),
        mitigate="Unsubscribe the narrower filter; side effect: none where the wider one covers its topics.",
        remedy=_REMEDY_CLIENT if overlap.maker == "client" else _REMEDY_BROKER,
        verify="Received / published is 1 for each topic of this client.",
    )


def _when(overlap: Doubled) -> tuple[float | None, float | None, bool]:
    if overlap.receiver is None:
        return None, None, True
    copied = overlap.receiver.copied()
    ongoing = copied[-1].at >= overlap.receiver.receipts[-1].at - GRID
    return copied[0].at, copied[-1].at + GRID, ongoing


def _traced(facts: Facts, overlap: Doubled) -> bool:
    return any(topic in accounting.went_out(facts, None).get(overlap.client, {}) for topic in overlap.copies)


def _each(overlap: Doubled) -> str:
    """``nearly each`` where some messages came more or less often than the others."""
    (times, *others) = set(overlap.copies.values())
    even = others or overlap.extra == overlap.messages * (times - 1)
    return "each message" if even else "nearly each message"


def _often(overlap: Doubled) -> str:
    """How often each message comes: ``2``, or ``2 to 3`` where that depends on the topic."""
    least, most = min(overlap.copies.values()), max(overlap.copies.values())
    return units.number(most) if least == most else f"{units.number(least)} to {units.number(most)}"


def _evidence(facts: Facts, overlap: Doubled) -> Iterator[Evidence]:
    for place in {f.filter: f.evidence for f in overlap.filters}.values():
        yield place.because("a filter that matches")
    for setting in overlaps.settings(facts):
        yield setting.evidence.because("whether mosquitto sends a copy for each filter")
    if overlap.receiver is not None:
        yield from first_copy(overlap.receiver, "the second copy of a message")
    sent = accounting.went_out(facts, None).get(overlap.client, {})
    for topic in list(overlap.copies)[:_SHOWN]:
        came, went = accounting.came_in(facts).get(topic), sent.get(topic)
        if came is not None and went is not None:
            yield came.first.first.because(f"the broker took in {units.number(came.messages)}")
            yield went.first.first.because(f"and sent {units.number(went.messages)} to {overlap.client}")
