"""Claims of a diagnosis that are in doubt, and how they are taken back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from mqlab import words
from mqlab.diagnosis import Withdrawn
from mqlab.facts import Facts
from mqlab.findings import Finding
from mqlab.words import Text
from mqlab.words.filling import Value

say = words.room("selfcheck")
Left_co = TypeVar("Left_co", covariant=True)
BOUNDS = (("_low", "_high"), ("_least", "_most"))
"""How names of measures end that are the bounds of another one."""


@dataclass(frozen=True, slots=True)
class Around:
    """What one finding is held against."""

    facts: Facts
    window: tuple[float | None, float | None]
    """First and last moment of the material."""
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Doubt(Generic[Left_co]):
    """A claim that cannot stand, and what is left without it."""

    claim: str
    """Id of a finding, slug of a class, or what changed."""
    what: str
    """Which of its words: a measure, a field, a place."""
    because: str
    left: Left_co

    def withdrawn(self, rule: str) -> Withdrawn:
        """As data."""
        return Withdrawn(rule, self.claim, self.what, self.because)


def without_measure(finding: Finding, name: str) -> Finding:
    """*finding* without a measure, its bounds and the clauses that tell it."""
    gone = {name, *(f"{name}{end}" for ends in BOUNDS for end in ends)}
    kept = {key: value for key, value in finding.measures.items() if key not in gone}
    return unsaid(replace(finding, measures=kept), gone)


def without_end(finding: Finding) -> Finding:
    """*finding* of which the end is not known, nor what ended it."""
    return unsaid(replace(finding, ended_at=None, over=False, cure=None), {"until"})


def without_begin(finding: Finding) -> Finding:
    """*finding* of which the begin is not known."""
    return unsaid(replace(finding, started_at=None), {"since"})


def unsaid(finding: Finding, values: Collection[str]) -> Finding:
    """*finding* whose texts are filled without these *values*: clauses that need them are left out.

    A text of which nothing would be left stays as it is, and so does one that a plug-in wrote itself.
    """
    return replace(
        finding,
        statement=_without(finding.statement, values),
        mitigate=_without(finding.mitigate, values),
        remedy=_without(finding.remedy, values),
        verify=_without(finding.verify, values),
    )


def saying(finding: Finding, **values: Value) -> Finding:
    """*finding* whose statement is told with these *values* instead, where it has them."""
    text = finding.statement
    if not isinstance(text, Text) or not set(values) <= set(text.values):
        return finding
    return replace(finding, statement=Text(text.room, text.key, {**text.values, **values}))


def _without(text: str, values: Collection[str]) -> str:
    if not isinstance(text, Text) or not set(values) & set(text.values):
        return text
    left = {key: value for key, value in text.values.items() if key not in values}
    return words.seen(text.room, text.key, left) or text
