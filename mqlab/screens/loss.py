"""The row of the triage screen that says what was lost: by the audits of topics, else by what findings counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, tzinfo

from mqlab import units
from mqlab.bridging import words
from mqlab.delivery import summary
from mqlab.delivery.rows import Audit
from mqlab.diagnosis import Diagnosis
from mqlab.findings import Finding

_SUMS = (
    ("rejected_records", "{} oversize records rejected"),
    ("failed_records", "{} records reported as failed (some may be stored)"),
    ("duplicated_records_at_most", "at most {} records stored twice"),
)


def loss(diagnosis: Diagnosis, lead: Finding | None, audits: Sequence[Audit] = (), tz: tzinfo = UTC) -> str:
    """What was lost, refused, doubled, or that nothing tells it."""
    inside = [f"MQTT: {words.sentence(way, tz)}" for way in diagnosis.chains if way.system is None]
    told = [*summary.told(audits), *inside, *_found(diagnosis, bool(audits or inside))]
    if lead is not None and lead.measures.get("crashes") and not audits:
        told.append("unacknowledged at the crashes NOT CHECKED (send: the application's ledger)")
    elif not told:
        unknown = "NOT CHECKED (send: the application's ledger, offsets before and after)"
        told.append("as the chain above tells" if diagnosis.chains else unknown)
    return "; ".join(told)


def _found(diagnosis: Diagnosis, audited: bool) -> Iterator[str]:
    """What findings counted; losses and doubles only where no audit did."""
    if not audited:
        yield from _lost(diagnosis)
    for name, text in _SUMS:
        total = _total(diagnosis, name)
        if total:
            yield text.format(units.number(total))
    again = max((f.measures.get("duplicated_records", 0) for f in diagnosis.findings), default=0)
    if again and not audited:
        yield f"{units.counted(again, 'record')} handed out again"


def _lost(diagnosis: Diagnosis) -> Iterator[str]:
    found = [f.measures for f in diagnosis.findings if f.measures.get("lost_records")]
    if found:
        lost = [m["lost_records"] for m in found]
        least = sum(m.get("lost_records_least", m["lost_records"]) for m in found)
        most = sum(m.get("lost_records_most", m["lost_records"]) for m in found)
        counted = units.counted(sum(lost), "record")
        bounds = f" ({units.number(least)} to {units.number(most)})" if least != most else ""
        yield f"{counted}{bounds} lost"


def _total(diagnosis: Diagnosis, name: str) -> float:
    return sum(f.measures.get(name, 0) for f in diagnosis.findings)
