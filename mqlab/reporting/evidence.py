"""Where each number of the report comes from: anchors to the evidence section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mqlab import units
from mqlab.diagnosis import Diagnosis
from mqlab.findings import Change, Evidence, Finding

_IN, _OUT = ("receive", "bytesin", "incoming", "bytes in"), ("transmit", "bytesout", "outgoing", "bytes out")
_SIGNS = {
    "bytes_in": _IN,
    "bytes_out": _OUT,
    "amplification_factor": (*_IN, *_OUT),
    "peak_amplification_factor": (*_IN, *_OUT),
    "healthy_factor": (*_IN, *_OUT),
    "factor_after": (*_IN, *_OUT),
    "excess_bytes": (*_IN, *_OUT),
    "bytes_rejected": ("rejected",),
    "crashes": ("process ended", "the exit", "out of memory"),
    "split_count": ("split",),
}
"""Words in the place or reason of evidence that belong to a measure, where its own name is not used there."""
_LONGEST_PLAIN = 5
"""Words up to this length (count, bytes, lines …) say too little to recognise evidence by."""


@dataclass(frozen=True, slots=True)
class Place:
    """One line of the material in the evidence section."""

    anchor: str
    where: str
    """``source:line``."""
    text: str
    why: str
    pointer: str | None = None
    """Name and labels of a sample."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure of a finding and the places it was read from."""

    anchor: str
    name: str
    words: str
    value: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Dossier:
    """One finding with everything that supports it."""

    anchor: str
    finding: Finding
    when: str
    measures: tuple[Measured, ...]
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One change and the lines that show it."""

    anchor: str
    change: Change
    when: str
    places: tuple[Place, ...]


def dossiers(diagnosis: Diagnosis) -> tuple[Dossier, ...]:
    """F1, F2, … in the order of the diagnosis."""
    return tuple(_dossier(f"F{number}", finding) for number, finding in enumerate(diagnosis.findings, start=1))


def change_rows(changes: Sequence[Change]) -> tuple[ChangeRow, ...]:
    """C1, C2, … by time, undated ones last."""
    ordered = sorted(changes, key=lambda change: (change.at is None, change.at or 0, change.what))
    return tuple(
        ChangeRow(f"C{number}", change, units.clock(change.at), _places(f"C{number}", change.evidence))
        for number, change in enumerate(ordered, start=1)
    )


def telling(rows: Sequence[ChangeRow], finding: Finding | None, most: int = 2) -> tuple[ChangeRow, ...]:
    """The changes for the first screen, by time: what had a value before, nearest to start or end of the finding."""
    edges = [at.timestamp() for at in (finding.started_at, finding.ended_at) if at] if finding else []

    def rank(row: ChangeRow) -> tuple[bool, bool, float]:
        at = row.change.at
        return (at is None, row.change.before is None, min((abs((at or 0) - edge) for edge in edges), default=0.0))

    chosen = sorted(rows, key=rank)[:most]
    return tuple(row for row in rows if row in chosen)


def span(finding: Finding) -> str:
    """From when to when."""
    if finding.started_at is None:
        return "no time known"
    end = ", still open" if finding.ongoing else f" to {units.clock(finding.ended_at)} UTC" if finding.ended_at else ""
    return f"{units.stamp(finding.started_at)}{'' if ' to ' in end else ' UTC'}{end}"


def _dossier(anchor: str, finding: Finding) -> Dossier:
    places = _places(anchor, finding.evidence)
    rows = tuple(
        Measured(f"{anchor}-{name}", name, _words(name), units.measure(name, value), _support(name, finding, places))
        for name, value in sorted(finding.measures.items())
    )
    return Dossier(anchor, finding, span(finding), rows, places)


def _places(anchor: str, evidence: Sequence[Evidence]) -> tuple[Place, ...]:
    return tuple(
        Place(f"{anchor}-e{number}", _where(one), one.text, one.why, one.pointer)
        for number, one in enumerate(evidence, start=1)
    )


def _where(evidence: Evidence) -> str:
    return evidence.source if evidence.line is None else f"{evidence.source}:{evidence.line}"


def _support(name: str, finding: Finding, places: tuple[Place, ...]) -> tuple[Place, ...]:
    """The places that speak of this measure; else samples for bytes and factors, lines for counts; else all."""
    pairs = tuple(zip(places, finding.evidence, strict=True))
    signs = _SIGNS.get(name) or tuple(word for word in name.removesuffix("s").split("_") if len(word) > _LONGEST_PLAIN)
    speaking = tuple(place for place, _ in pairs if any(s in f"{place.where} {place.why}".lower() for s in signs))
    wants_samples = "bytes" in name or "factor" in name
    return speaking or tuple(p for p, one in pairs if (one.pointer is not None) == wants_samples) or places


def _words(name: str) -> str:
    return name.replace("_", " ")
