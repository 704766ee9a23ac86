"""When a finding began and ended, against what its own sources cover."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from mqlab import units
from mqlab.findings import Finding
from mqlab.selfcheck.claims import Around, Doubt, say, without_begin, without_end


def order(finding: Finding, _: Around) -> Iterator[Doubt[Finding]]:
    """It begins before it ends."""
    begin, end = finding.started_at, finding.ended_at
    if begin is not None and end is not None and end < begin:
        yield Doubt(finding.id, "ended_at", say("order", began=begin, ended=end), without_end(finding))


def window(finding: Finding, around: Around) -> Iterator[Doubt[Finding]]:
    """It begins and ends within what was read."""
    first, last = (units.moment(at) for at in around.window)
    if first is not None and last is not None:
        yield from _within(finding, first, last)


def _within(finding: Finding, first: datetime, last: datetime) -> Iterator[Doubt[Finding]]:
    begin, end = finding.started_at, finding.ended_at
    if begin is not None and not first <= begin <= last:
        because = say("within", at=begin, first=first, last=last)
        yield Doubt(finding.id, "started_at", because, without_begin(finding))
    if end is not None and not first <= end <= last:
        because = say("within", at=end, first=first, last=last)
        yield Doubt(finding.id, "ended_at", because, without_end(finding))
