"""A diagnosis checks itself before it is shown: what cannot be true of the material, or beside the rest, is withdrawn.

Rules hold data against data, and read no sentence. Each finds claims that are wrong and takes them back: a measure, an
end, a clear class, a finding. What was withdrawn stands in ``Diagnosis.withdrawn``; the run never fails. On captures
that are understood nothing is withdrawn: each withdrawal is a mistake of some rule of a class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from mqlab.diagnosis import Diagnosis, Withdrawn
from mqlab.facts import Facts
from mqlab.findings import Finding
from mqlab.selfcheck import amounts, classes, moments
from mqlab.selfcheck.claims import Around, Doubt
from mqlab.selfcheck.moments import from_first

__all__ = ["checked", "findings_checked", "from_first"]

Rule = Callable[[Finding, Around], Iterator[Doubt[Finding | None]]]
FINDINGS: tuple[tuple[str, Rule], ...] = (
    ("benign", classes.benign),
    ("bounds", amounts.bounds),
    ("parts", amounts.parts),
    ("below-zero", amounts.below_zero),
    ("ledger", amounts.ledger),
    ("products", amounts.products),
    ("too-late", amounts.too_late),
    ("failed", amounts.failed),
    ("counted-once", amounts.counted_once),
    ("order", moments.order),
    ("window", moments.window),
    ("sources", moments.sources),
    ("later", moments.later),
    ("ended", moments.ended),
    ("cure", moments.cure),
    ("silent", moments.silent),
)
"""Rules about one finding, by name."""
WHOLE: tuple[tuple[str, Callable[[Diagnosis, Facts], Iterator[Doubt[Diagnosis]]]], ...] = (
    ("place", classes.place),
    ("counted", classes.counted),
    ("same", classes.same),
)
"""Rules about a diagnosis as a whole, by name."""
_MOST = 1000
"""Claims that one rule may withdraw: a rule that mends nothing ends, too."""


def findings_checked(
    facts: Facts, findings: Sequence[Finding], window: tuple[float | None, float | None]
) -> tuple[tuple[Finding, ...], tuple[Withdrawn, ...]]:
    """*findings* about material of this *window* without what cannot be true of them, and what that was."""
    kept, gone = [], []
    for told in findings:
        left, withdrawn = _checked(told, Around(facts, window, tuple(findings)))
        gone += withdrawn
        kept += [left] if left is not None else []
    return tuple(kept), tuple(gone)


def checked(diagnosis: Diagnosis, facts: Facts) -> Diagnosis:
    """*diagnosis* of *facts* without what it cannot say; what that was is added to what was withdrawn before."""
    kept, gone = findings_checked(facts, diagnosis.findings, diagnosis.material.window)
    told = replace(diagnosis, findings=kept) if gone else diagnosis
    found = list(gone)
    for name, rule in WHOLE:
        for _ in range(_MOST):
            doubt = next(rule(told, facts), None)
            if doubt is None:
                break
            told = doubt.left
            found.append(doubt.withdrawn(name))
    return replace(told, withdrawn=(*diagnosis.withdrawn, *found)) if found else diagnosis


def _checked(finding: Finding, around: Around) -> tuple[Finding | None, list[Withdrawn]]:
    left: Finding | None = finding
    found: list[Withdrawn] = []
    for name, rule in FINDINGS:
        for _ in range(_MOST):
            doubt = next(rule(left, around), None) if left is not None else None
            if doubt is None:
                break
            left = doubt.left
            found.append(doubt.withdrawn(name))
    return left, found
