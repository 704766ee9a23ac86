"""Numbers of a finding against each other, and against what ledgers count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf

from mqlab.delivery.audit import audits
from mqlab.findings import Finding, TrafficLedger
from mqlab.repairs import names
from mqlab.selfcheck.claims import BOUNDS, Around, Doubt, say, without_measure
from mqlab.shared.reach import clients, members
from mqlab.units import Interval

_SIGNED = ("growth", "drift", "offset", "factor")
"""Words in names of measures that may be below zero."""
_PARTS = {
    "lost_records": "published_messages",
    "diverted_messages": "published_messages",
    "duplicated_records": "records_handled",
    "distinct_messages": "delivered_rows",
    "excess_bytes": "bytes_out",
    "resent_bytes": "bytes_out",
    "bytes_rejected": "bytes_out",
    "failed_but_stored_records": "failed_records",
}
"""Measures that count some of what another one counts."""
_ABOUT = 0.1
"""Part by which amounts may differ that come from counters read at other moments."""


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


def products(finding: Finding, _: Around) -> Iterator[Doubt[Finding]]:
    """A rate times a time is about the amount, a factor is what came out over what went in."""
    drained = _minus(_interval(finding, "peak_lag"), _interval(finding, "pending_records"))
    ways = {
        "amplification_factor": _over(_interval(finding, "bytes_out"), _interval(finding, "bytes_in")),
        "drain_seconds": _over(drained, _interval(finding, "drained_per_second")),
        "lag_growth_per_second": _minus(
            _interval(finding, "produced_per_second"), _interval(finding, "consumed_per_second")
        ),
    }
    for name, made in ways.items():
        told = _interval(finding, name)
        slack = _ABOUT * max(abs(told.likely), abs(made.likely)) if told and made else 0.0
        if told and made and (told.high + slack < made.low or made.high < told.low - slack):
            yield Doubt(finding.id, name, say("products", told=told, made=made), without_measure(finding, name))


def too_late(finding: Finding, _: Around) -> Iterator[Doubt[Finding]]:
    """So many records at so much each take longer than the limit, where a poll is said to have come too late."""
    told = finding.measures
    records, limit = told.get("records_per_poll"), told.get("poll_interval_seconds")
    for name in ("p50_record_seconds", "p99_record_seconds"):
        if records is not None and limit is not None and name in told and records * told[name] <= limit:
            because = say("too-late", records=records, each=told[name], limit=limit)
            yield Doubt(finding.id, name, because, without_measure(finding, name))


def failed(finding: Finding, around: Around) -> Iterator[Doubt[Finding]]:
    """No more failed than was sent and not acknowledged, where ledgers tell both of its topics."""
    named = set(names(finding))
    rows = [row for audit in audits(around.facts) if audit.topic in named for row in audit.log]
    sent, acked = [row.sent for row in rows], [row.acked for row in rows]
    if not rows or None in sent or None in acked:
        return
    most = sum(many or 0 for many in sent) - sum(many or 0 for many in acked)
    if _least(finding, "failed_records") > most:
        because = say("parts", part=_least(finding, "failed_records"), whole="sent - acknowledged", most=most)
        yield Doubt(finding.id, "failed_records", because, without_measure(finding, "failed_records"))


def counted_once(finding: Finding, around: Around) -> Iterator[Doubt[Finding]]:
    """No more members of a group than any source knows in it, and no more clients than any source names."""
    group = finding.subject.partition("/")[0]
    for name, known in (("members", len(members(around.facts, group))), ("clients", len(clients(around.facts)))):
        many = finding.measures.get(name)
        if many is not None and known and many > known:
            because = say("counted-once", members=many, known=known)
            yield Doubt(finding.id, name, because, without_measure(finding, name))


def _adds_up(ledger: TrafficLedger) -> bool:
    every = ledger.stages
    within = all(stage.low <= stage.bytes <= stage.high for stage in every)
    return within and sum(stage.bytes for stage in every) == ledger.bytes_out and all(s.bytes >= 0 for s in every[:-1])


def _least(finding: Finding, name: str) -> float:
    return finding.measures.get(f"{name}_low", finding.measures.get(name, 0.0))


def _most(finding: Finding, name: str) -> float:
    return finding.measures.get(f"{name}_high", finding.measures.get(name, inf))


def _interval(finding: Finding, name: str) -> Interval | None:
    likely = finding.measures.get(name)
    return None if likely is None else Interval(_least(finding, name), likely, _most(finding, name))


def _minus(one: Interval | None, other: Interval | None) -> Interval | None:
    return None if one is None or other is None else one.plus(Interval(-other.high, -other.likely, -other.low))


def _over(one: Interval | None, other: Interval | None) -> Interval | None:
    return None if one is None or other is None or other.likely <= 0 else one.over(other)


def _base(name: str) -> str:
    """The measure of which this may be a bound."""
    ends = (end for both in BOUNDS for end in both if name.endswith(end))
    return name.removesuffix(next(ends, ""))
