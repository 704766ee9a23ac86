"""Where each number of the report comes from: findings and their measures, with anchors to the lines behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab import units, words
from mqlab.catalogue import INCIDENTS
from mqlab.diagnosis import Diagnosis
from mqlab.findings import Certainty, Change, Finding, Severity
from mqlab.measure_names import measure_words
from mqlab.words.filling import Measure

say = words.room("report")

_IN, _OUT = ("receive", "bytesin", "incoming", "bytes in"), ("transmit", "bytesout", "outgoing", "bytes out")
_SIGNS = {
    "bytes_in": _IN,
    "bytes_out": _OUT,
    "amplification_factor": (*_IN, *_OUT),
    "peak_amplification_factor": (*_IN, *_OUT),
    "healthy_factor": (*_IN, *_OUT),
    "factor_after": (*_IN, *_OUT),
    "excess_bytes": (*_IN, *_OUT),
    "resent_bytes": (*_IN, *_OUT),
    "bytes_rejected": ("rejected",),
    "crashes": ("process ended", "the exit", "out of memory"),
    "split_count": ("split",),
}
"""Words in the place or reason of evidence that belong to a measure, where its own name is not used there."""
_BOUNDS = ("_low", "_high")
"""Ends of names of measures that are told with what they bound."""
_LONGEST_PLAIN = 5
"""Words up to this length (count, bytes, lines …) say too little to recognise evidence by."""
TRAFFIC, DELIVERY = "Traffic amplification", "Delivery: loss and duplication"


def sudden(incident: str) -> bool:
    """A class that happens at a moment: its span is that of what was lost by it."""
    return incident in INCIDENTS and INCIDENTS[incident].sudden


def family(incident: str) -> str:
    """The catalogue's family of a class."""
    return INCIDENTS[incident].family if incident in INCIDENTS else ""


def harmful(finding: Finding) -> bool:
    """Whether it happened and did harm: neither a notice nor a risk that settings alone make."""
    return finding.severity > Severity.NOTICE and finding.certainty > Certainty.POSSIBLE


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure of a finding, and the numbers of the evidence that it was read from."""

    anchor: str
    name: str
    value: str
    places: tuple[int, ...]

    @property
    def words(self) -> str:
        """Its name in words."""
        return measure_words(self.name)


@dataclass(frozen=True, slots=True)
class Dossier:
    """One finding with everything that supports it."""

    anchor: str
    finding: Finding
    measures: tuple[Measured, ...]

    @property
    def when(self) -> str:
        """From when to when."""
        one = self.finding
        until = None if one.ongoing else one.ended_at
        return say("when", since=one.started_at, until=until, open=one.goes_on)


def dossiers(diagnosis: Diagnosis) -> tuple[Dossier, ...]:
    """F1, F2, … in the order of the diagnosis."""
    every = ((f"F{number}", finding) for number, finding in enumerate(diagnosis.findings, start=1))
    return tuple(Dossier(anchor, finding, tuple(_measured(anchor, finding))) for anchor, finding in every)


def _measured(anchor: str, finding: Finding) -> Iterator[Measured]:
    """Its measures, those that bound another one with that."""
    for name in finding.measures:
        if not (name.endswith(_BOUNDS) and name.rpartition("_")[0] in finding.measures):
            value = Measure(name, units.interval(finding.measures, name))
            yield Measured(f"{anchor}-{name}", name, say("measured", value=value), _support(name, finding))


def _support(name: str, finding: Finding) -> tuple[int, ...]:
    """The places that speak of this measure; else samples for bytes and factors, lines for counts; else all."""
    places = list(enumerate(finding.evidence, start=1))
    signs = _SIGNS.get(name) or tuple(word for word in name.removesuffix("s").split("_") if len(word) > _LONGEST_PLAIN)
    speaking = tuple(n for n, one in places if any(sign in f"{one.place} {one.why}".lower() for sign in signs))
    wants_samples = "bytes" in name or "factor" in name
    alike = tuple(n for n, one in places if (one.pointer is not None) == wants_samples)
    return speaking or alike or tuple(n for n, _ in places)


def by_time(changes: Sequence[Change]) -> tuple[Change, ...]:
    """C1, C2, … by time, undated ones last."""
    return tuple(sorted(changes, key=lambda change: (change.at is None, change.at or 0, change.what)))


def telling(changes: Sequence[Change], finding: Finding | None, most: int = 2) -> tuple[int, ...]:
    """Numbers of the changes for the first screen: what had a value before, nearest to an end of the finding."""
    edges = [at.timestamp() for at in (finding.started_at, finding.ended_at) if at] if finding else []

    def rank(numbered: tuple[int, Change]) -> tuple[bool, bool, float]:
        at = numbered[1].at
        far = min((abs((at or 0) - edge) for edge in edges), default=0.0)
        return at is None, numbered[1].before is None, far

    return tuple(sorted(number for number, _ in sorted(enumerate(changes, start=1), key=rank)[:most]))
