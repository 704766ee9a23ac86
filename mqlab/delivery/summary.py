"""What all audits say together, for the first screens: lost, of how many, pending, doubled, or why nobody knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab.delivery import words as audit_words
from mqlab.delivery.path import added, groups, path, total
from mqlab.delivery.rows import Audit, Outcome, Side
from mqlab.delivery.words import Toll, bounded, partition
from mqlab.units import counted, number

GRAVITY = (Outcome.LOST_AND_DOUBLED, Outcome.LOST, Outcome.DOUBLED, Outcome.UNKNOWN, Outcome.IN_LOG, Outcome.COMPLETE)
"""The worst first."""
_MOST_TOPICS = 3
_MOST_PARTS = 3


@dataclass(frozen=True, slots=True)
class Summary:
    """All topics together."""

    topics: int
    acked: int | None
    """Acknowledged messages, as far as they are told."""
    lost: int
    least: int
    most: int
    extra: int
    """Copies too many, in logs and groups."""
    pending: int
    open: tuple[str, ...]
    """Topics of which the material cannot say whether something was lost."""

    @property
    def words(self) -> str:
        """How many were lost, with the interval where they were not counted."""
        return bounded(self.lost, self.least, self.most)


def by_gravity(audits: Sequence[Audit]) -> list[Audit]:
    """Those with losses first."""
    return sorted(audits, key=lambda audit: (GRAVITY.index(audit.outcome), audit.topic))


def summary(audits: Sequence[Audit]) -> Summary:
    """The sums over *audits*."""
    gone = [one for audit in audits for one in audit.losses if one.side is not Side.PRODUCER]
    return Summary(
        len(audits),
        added(total(path(audit, None)).acked for audit in audits),
        sum(one.records for one in gone),
        sum(one.least for one in gone),
        sum(one.most for one in gone),
        sum(one.extra for audit in audits for one in audit.doubled),
        sum(row.pending or 0 for audit in audits for row in audit.groups),
        tuple(sorted(audit.topic for audit in audits if audit.outcome is Outcome.UNKNOWN)),
    )


def kept(audits: Sequence[Audit]) -> str:
    """What became of topics that are known to have lost nothing, with a blank before; empty where there are none."""
    known = [audit for audit in audits if audit.outcome in (Outcome.COMPLETE, Outcome.IN_LOG)]
    parts = [f" {audit.topic}: {audit.statement}" for audit in by_gravity(known)[:_MOST_TOPICS]]
    more = f" {counted(len(known) - _MOST_TOPICS, 'more topic')} lost nothing." if len(known) > _MOST_TOPICS else ""
    return "".join(parts) + more


def told(audits: Sequence[Audit]) -> Iterator[str]:
    """Each topic in half a sentence, the worst first."""
    shown = by_gravity(audits)[:_MOST_TOPICS]
    yield from (f"{audit.topic}: {', '.join(_parts(audit))}" for audit in shown)
    if len(audits) > len(shown):
        yield f"{counted(len(audits) - len(shown), 'more topic')} (mqlab audit)"


def _parts(audit: Audit) -> Iterator[str]:
    whole = total(path(audit, None))
    least = "≥ " if "acked" in whole.partly else ""
    of = f" of {least}{number(whole.acked)} acknowledged" if whole.acked is not None else ""
    gone = audit_words.losses(audit)
    for place, toll in enumerate(gone):
        many = bounded(toll.records, toll.least, toll.most)
        yield f"{many}{'' if place else of} lost {toll.where} ({toll.incident}; {_where(toll)})"
    if audit.outcome is Outcome.UNKNOWN:
        yield "CANNOT SAY" + (f" (missing: {audit.missing[0]})" if audit.missing else "")
    elif not gone:
        yield f"none lost{' from the log' if audit.outcome is Outcome.IN_LOG else ''}{of}"
    for group in groups(audit):
        waiting = total(path(audit, group)).pending
        if group and waiting:
            yield f"{number(waiting)} only wait for {group}"
    for toll in audit_words.doubles(audit):
        yield f"{bounded(toll.records, toll.least, toll.most)} doubled {toll.where}"


def _where(toll: Toll) -> str:
    parts = [f"{partition(one.queue)} {audit_words.offsets(one)}".strip() for one in toll.parts[:_MOST_PARTS]]
    more = len(toll.parts) - len(parts)
    return ", ".join(parts) + (f" and {number(more)} more" if more else "")
