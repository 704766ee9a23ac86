"""Classes and changes of a diagnosis against each other: what is found is not clear, and what stays is no change."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from mqlab.catalogue import INCIDENTS
from mqlab.diagnosis import Diagnosis, NotChecked
from mqlab.facts import Facts
from mqlab.selfcheck.claims import Doubt, say


def place(diagnosis: Diagnosis, _: Facts) -> Iterator[Doubt[Diagnosis]]:
    """A class has one place: found, else not checked, else ruled out, else clear.

    What it may be is neither clear nor ruled out.
    """
    found = {one.incident for one in diagnosis.findings}
    open_ = {one.incident for one in diagnosis.not_checked}
    maybe = {one.incident for one in diagnosis.verdict.hypotheses}
    rejected = {one.incident for one in diagnosis.rejected}
    maybe -= {one.incident for one in diagnosis.rejected if one.dismissed}
    for slug in sorted(found & open_):
        kept = tuple(one for one in diagnosis.not_checked if one.incident != slug)
        yield Doubt(slug, "not_checked", say("found"), replace(diagnosis, not_checked=kept))
    for slug in sorted(rejected & (found | open_ | maybe)):
        yield Doubt(slug, "rejected", say(_other(slug, found, open_)), _not_rejected(diagnosis, slug))
    for slug in sorted({*diagnosis.clear} & (found | open_ | maybe | rejected)):
        yield Doubt(slug, "clear", say(_other(slug, found, open_, rejected)), not_clear(diagnosis, slug))


def same(diagnosis: Diagnosis, _: Facts) -> Iterator[Doubt[Diagnosis]]:
    """Nothing changes from something to the same."""
    for change in diagnosis.changes:
        if change.before is not None and change.before == change.after:
            kept = tuple(one for one in diagnosis.changes if one is not change)
            yield Doubt(change.what, "changes", say("same", value=change.after), replace(diagnosis, changes=kept))


def _other(slug: str, found: set[str], open_: set[str], rejected: Collection[str] = ()) -> str:
    """Where the class *slug* stands besides."""
    return "found" if slug in found else "open" if slug in open_ else "rejected" if slug in rejected else "maybe"


def _not_rejected(diagnosis: Diagnosis, slug: str) -> Diagnosis:
    return unchecked(
        replace(diagnosis, rejected=tuple(one for one in diagnosis.rejected if one.incident != slug)), slug
    )


def not_clear(diagnosis: Diagnosis, slug: str) -> Diagnosis:
    """*diagnosis* in which this class was not checked, where it says nothing else of it."""
    return unchecked(replace(diagnosis, clear=tuple(one for one in diagnosis.clear if one != slug)), slug)


def unchecked(diagnosis: Diagnosis, slug: str) -> Diagnosis:
    """*diagnosis* with a class that has no other place among what was not checked."""
    told = {*diagnosis.clear, *(one.incident for one in diagnosis.findings)}
    told |= {one.incident for one in diagnosis.rejected} | {one.incident for one in diagnosis.not_checked}
    if slug in told:
        return diagnosis
    known = INCIDENTS.get(slug)
    asked = NotChecked(slug, known.needs if known else (), known.fetch if known else ())
    every = sorted((*diagnosis.not_checked, asked), key=lambda one: one.incident)
    return replace(diagnosis, not_checked=tuple(every))
