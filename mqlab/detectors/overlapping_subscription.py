"""MQTT: one client has filters that overlap and gets, or handles, a copy of a message for each that matches.

Fires: each message of some topics comes to one client as often, at the same moment and without a flag. Proven where as
many of its filters match, or the broker's trace shows the copies; the trace, the broker's counter or its setting tell
whether the broker sent the copies or the client handled one message several times.
Quiet: filters that overlap without copies, copies with DUP (redelivery) or RETAIN (replay), copies that come later and
later (messages that go round), copies that all clients get, or that a publisher sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mqlab import units, words
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.models.mqtt import covers
from mqlab.mqtt import accounting, overlaps
from mqlab.mqtt.copies import Receiver, first_copy, receivers
from mqlab.mqtt.overlaps import Doubled
from mqlab.mqtt.subscriptions import all_told
from mqlab.rows import GRID
from mqlab.words import Text, listed
from mqlab.words.filling import Value

INCIDENT = "overlapping-subscription"
SYSTEMS: tuple[str, ...] = ("mqtt",)
say = words.room(INCIDENT)

_SHOWN = 3


def detect(facts: Facts) -> Result:
    """One finding for each client."""
    found = overlaps.doubled(facts)
    if found:
        return Result(tuple(_finding(facts, overlap) for overlap in found))
    ledgers = {ledger.client: ledger for ledger in receivers(facts)}
    traced = accounting.went_out(facts, None)
    pairs = list(overlaps.overlapping(facts))
    known = [pair for pair in pairs if pair[0] in ledgers or pair[0] in traced]
    if not (known if pairs else ledgers or traced or all_told(facts)):
        return Result(missing=(say("no-ids"),))
    return Result(rejected=listed(_without_copies(ledgers, *pair) for pair in known[:_SHOWN]) or None)


def _without_copies(ledgers: Mapping[str, Receiver], client: str, first: str, second: str) -> Text:
    """Why two filters that overlap are no fault: by the ledger of *client*, where it has one."""
    own = ledgers.get(client)
    return say("no-copies", client=client, filters=(first, second), once=None if own is None or own.again else own.rows)


def _finding(facts: Facts, overlap: Doubled) -> Finding:
    agrees = overlap.explained or (overlap.maker == "broker" and overlap.others_once and _traced(facts, overlap))
    mean = 1 + overlap.extra / overlap.messages
    began, ended, ongoing = _when(facts, overlap)
    names = sorted({f.filter for f in overlap.filters})
    return finding(
        INCIDENT,
        overlap.client,
        Certainty.PROVEN if agrees else Certainty.LIKELY,
        (began, None if ongoing else ended),
        severity=Severity.WARNING,
        ongoing=ongoing,
        slots=_slots(overlap, names),
        measures={
            **units.between(mean, overlap.copies.values()).measures("copies_per_message"),
            "copied_messages": overlap.messages,
            "extra_copies": overlap.extra,
            "topics": len(overlap.copies),
            **({"matching_filters": len(names)} if names else {}),
        },
        evidence=_evidence(facts, overlap),
    )


def _when(facts: Facts, overlap: Doubled) -> tuple[float | None, float | None, bool]:
    """Receipts are noted by ten seconds: no copy came before its topic was published, or first noted by anybody."""
    if overlap.receiver is None:
        return None, None, True
    copied = overlap.receiver.copied()
    ongoing = copied[-1].at >= overlap.receiver.receipts[-1].at - GRID
    sent = (flow.first_at for flow in facts.topic_flows if flow.topic in overlap.copies)
    return max(copied[0].at, min(sent, default=copied[0].at)), copied[-1].at + GRID, ongoing


def _traced(facts: Facts, overlap: Doubled) -> bool:
    return any(topic in accounting.went_out(facts, None).get(overlap.client, {}) for topic in overlap.copies)


def _slots(overlap: Doubled, names: list[str]) -> dict[str, Value]:
    """What it gets how often, by which filters, and who makes the copies."""
    times = set(overlap.copies.values())
    return {
        "topics": list(overlap.copies),
        "even": len(times) > 1 or overlap.extra == overlap.messages * (max(times) - 1),
        "least": min(times) if len(times) > 1 else None,
        "most": max(times),
        "filters": len(names) or None,
        "names": names[:_SHOWN],
        "narrower": [n for n in names if any(n != wide and covers(wide, n) for wide in names)] or None,
        "maker": overlap.maker or "unknown",
    }


def _evidence(facts: Facts, overlap: Doubled) -> Iterator[Evidence]:
    for place in {f.filter: f.evidence for f in overlap.filters}.values():
        yield place.because(say("matches"))
    for setting in overlaps.settings(facts):
        yield setting.evidence.because(say("setting"))
    if overlap.receiver is not None:
        yield from first_copy(overlap.receiver, say("second"))
    sent = accounting.went_out(facts, None).get(overlap.client, {})
    for topic in list(overlap.copies)[:_SHOWN]:
        came, went = accounting.came_in(facts).get(topic), sent.get(topic)
        if came is not None and went is not None:
            yield came.first.first.because(say("came", messages=came.messages))
            yield went.first.first.because(say("sent", messages=went.messages, client=overlap.client))
