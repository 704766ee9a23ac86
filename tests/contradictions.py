"""Where a diagnosis says two things that cannot both be true: data held against data, no sentence is read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from mqlab.diagnosis import Diagnosis
from mqlab.findings import Finding, TrafficLedger

BOUNDS = (("_low", "_high"), ("_least", "_most"))
SIGNED = ("growth", "drift", "offset", "factor")
"""Words in names of measures that may be below zero."""
PARTS = {
    "lost_records": "published_messages",
    "diverted_messages": "published_messages",
    "duplicated_records": "records_handled",
    "distinct_messages": "delivered_rows",
    "excess_bytes": "bytes_out",
    "bytes_rejected": "bytes_out",
    "failed_but_stored_records": "failed_records",
}
"""Measures that count some of what another one counts."""


def contradictions(diagnosis: Diagnosis) -> list[str]:
    """One line for each; none where all that is said fits together."""
    found = [*_places(diagnosis), *_order(diagnosis)]
    for finding in diagnosis.findings:
        ledger = _sums(finding.ledger) if finding.ledger else ()
        found += [f"{finding.id}: {what}" for what in (*_bounds(finding), *_moments(finding, diagnosis), *ledger)]
    return found


def _places(diagnosis: Diagnosis) -> Iterator[str]:
    """A class has one place: found, ruled out, clear, not checked; what it may be is neither clear nor ruled out."""
    places = {
        "found": {finding.incident for finding in diagnosis.findings},
        "ruled out": {one.incident for one in diagnosis.rejected},
        "clear": set(diagnosis.clear),
        "not checked": {one.incident for one in diagnosis.not_checked},
    }
    for (one, here), (other, there) in combinations(places.items(), 2):
        yield from (f"{incident} is {one} and {other}" for incident in sorted(here & there))
    maybe = {one.incident for one in diagnosis.verdict.hypotheses}
    yield from (f"{incident} is a hypothesis and clear" for incident in sorted(maybe & places["clear"]))
    yield from (f"{incident} is a hypothesis and ruled out" for incident in sorted(maybe & places["ruled out"]))


def _order(diagnosis: Diagnosis) -> Iterator[str]:
    """No change from something to the same."""
    for change in diagnosis.changes:
        if change.before is not None and change.before == change.after:
            yield f"{change.what} changed from {change.before} to {change.after}"


def _bounds(finding: Finding) -> Iterator[str]:
    """Lower bound, value, upper bound; parts and their whole; nothing counted is below zero."""
    told = finding.measures
    for low, high in BOUNDS:
        for name in {one.removesuffix(low).removesuffix(high) for one in told}:
            known = [told[one] for one in (f"{name}{low}", name, f"{name}{high}") if one in told]
            if known != sorted(known):
                yield f"{name} is {' <= '.join(f'{one:g}' for one in known)}"
    for part, whole in PARTS.items():
        least, most = (
            told.get(f"{part}_low", told.get(part, 0)),
            told.get(f"{whole}_high", told.get(whole, float("inf"))),
        )
        if least > most:
            yield f"{part} {told[part]:g} of {whole} {told[whole]:g}"
    for name, value in told.items():
        if value < 0 and not any(word in name for word in SIGNED):
            yield f"{name} is {value:g}"


def _moments(finding: Finding, diagnosis: Diagnosis) -> Iterator[str]:
    """It begins before it ends, and both within what was read."""
    first, last = diagnosis.material.window
    span = [moment.timestamp() for moment in (finding.started_at, finding.ended_at) if moment]
    if span != sorted(span):
        yield f"it ends at {finding.ended_at}, before it begins"
    if span and None not in (first, last) and not first <= span[0] <= span[-1] <= last:
        yield f"{finding.started_at} to {finding.ended_at} is not within {first} to {last}"


def _sums(ledger: TrafficLedger) -> Iterator[str]:
    """Stages add up, each within its bounds; all but the last are no less than nothing."""
    if sum(stage.bytes for stage in ledger.stages) != ledger.bytes_out:
        yield f"stages add up to {sum(stage.bytes for stage in ledger.stages)}, not to {ledger.bytes_out}"
    for stage in ledger.stages:
        if not stage.low <= stage.bytes <= stage.high:
            yield f"{stage.name} {stage.bytes} is not within {stage.low} to {stage.high}"
        if stage.bytes < 0 and stage is not ledger.stages[-1]:
            yield f"{stage.name} is {stage.bytes}"
