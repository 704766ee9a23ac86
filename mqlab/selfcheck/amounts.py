"""Numbers of a finding against each other, and against what ledgers count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf

from mqlab.findings import Finding, TrafficLedger
from mqlab.selfcheck.claims import BOUNDS, Around, Doubt, say, without_measure

_SIGNED = ("growth", "drift", "offset", "factor")
"""Words in names of measures that may be below zero."""
_PARTS = {
    "lost_records": "published_messages",
    "diverted_messages": "published_messages",
    "duplicated_records": "records_handled",
    "distinct_messages": "delivered_rows",
    "excess_bytes": "bytes_out",
    "bytes_rejected": "bytes_out",
    "failed_but_stored_records": "failed_records",
}
"""Measures that count some of what another one counts."""


def bounds(finding: Finding, _: Around) -> Iterator[Doubt[Finding]]:
    """Lower bound, value and upper bound are in this order."""
    told = finding.measures
    for low, high in BOUNDS:
        for name in sorted({one.removesuffix(low).removesuffix(high) for one in told}):
            known = [told[one] for one in (f"{name}{low}", name, f"{name}{high}") if one in told]
            if known != sorted(known):
                because = say("bounds", numbers=[f"{one:g}" for one in known])
                yield Doubt(finding.id, name, because, without_measure(finding, name))


def parts(finding: Finding, _: Around) -> Iterator[Doubt[Finding]]:
    """A part is no more than its whole."""
    for part, whole in _PARTS.items():
        least, most = _least(finding, part), _most(finding, whole)
        if least > most:
            because = say("parts", part=least, whole=whole, most=most)
            yield Doubt(finding.id, part, because, without_measure(finding, part))


def below_zero(finding: Finding, _: Around) -> Iterator[Doubt[Finding]]:
    """Nothing that is counted is less than nothing."""
    for name, value in finding.measures.items():
        if value < 0 and not any(word in name for word in _SIGNED):
            because = say("below-zero", value=f"{value:g}")
            yield Doubt(finding.id, name, because, without_measure(finding, _base(name)))


def ledger(finding: Finding, _: Around) -> Iterator[Doubt[Finding]]:
    """Stages of traffic add up, each within its bounds; all but the last are no less than nothing."""
    if finding.ledger is not None and not _adds_up(finding.ledger):
        because = say("ledger", told=sum(stage.bytes for stage in finding.ledger.stages), out=finding.ledger.bytes_out)
        yield Doubt(finding.id, "ledger", because, replace(finding, ledger=None))


def _adds_up(ledger: TrafficLedger) -> bool:
    every = ledger.stages
    within = all(stage.low <= stage.bytes <= stage.high for stage in every)
    return within and sum(stage.bytes for stage in every) == ledger.bytes_out and all(s.bytes >= 0 for s in every[:-1])


def _least(finding: Finding, name: str) -> float:
    return finding.measures.get(f"{name}_low", finding.measures.get(name, 0.0))


def _most(finding: Finding, name: str) -> float:
    return finding.measures.get(f"{name}_high", finding.measures.get(name, inf))


def _base(name: str) -> str:
    """The measure of which this may be a bound."""
    ends = (end for both in BOUNDS for end in both if name.endswith(end))
    return name.removesuffix(next(ends, ""))
