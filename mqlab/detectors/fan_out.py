"""Several groups read the same topic: what leaves the broker is as many times what came in.

Fires: bytes out over bytes in rose in a lasting way and now equal the number of groups that read.
Quiet: the ratio did not change, or rose only because consumers start later than producers; more leaves than the
readers account for (format-inflation, catch-up-read).
"""

from __future__ import annotations

from collections.abc import Sequence

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.findings import CLEAR, Certainty, Finding, Result, Severity, finding
from mqlab.shared import counters, flows
from mqlab.shared.wording import sample
from mqlab.units import between

INCIDENT = "fan-out"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)

AROUND = 60.0
"""Seconds around the rise in which a group that joined belongs to it: the longest usual scrape interval."""
FITS = 0.3
"""Share by which out over in may miss the number of readers: a counter of bytes out also has fetch responses' headers,
and scrapes of in and out miss each other by a part of an interval."""


def detect(facts: Facts) -> Result:
    """One notice where readers were added."""
    every = flows.flows(facts)
    if not any(p.out_per_in is not None for p in every):
        return Result(missing=(say("no-bytes"),))
    pieces = flows.warm(every)
    shift = counters.shift([(p.since, p.until, p.out_per_in) for p in pieces])
    if shift is None:
        return CLEAR
    counts = [(p, flows.readers(facts, p)) for p in pieces]
    if any(count is None for _, count in counts):
        rose = say("rose", before=shift.before, after=shift.after)
        return Result(missing=(say("no-groups"),), seen=rose)
    readers = max((count or 0 for p, count in counts if shift.at <= p.since < shift.until), default=0)
    earlier = min((count or 0 for p, count in counts if p.since < shift.at), default=0)
    added = readers > max(1, earlier)
    if not added and shift.after <= (1 + FITS) * max(1, readers):
        return CLEAR
    if not added:
        known = earlier if earlier == readers else None
        return Result(rejected=say("not-added", before=shift.before, after=shift.after, readers=readers, earlier=known))
    if abs(shift.after - readers) > FITS * readers:
        return Result(rejected=say("no-fit", before=shift.before, after=shift.after, readers=readers))
    return Result((_finding(facts, shift, readers, pieces),))


def _joined(facts: Facts, rise: float) -> list[Episode]:
    """First joins of groups around the rise, without groups that were there long before."""
    first: dict[str, Episode] = {}
    for episode in facts.of_kind("rebalance-started"):
        if episode.group and episode.first_at is not None:
            first.setdefault(episode.group, episode)
    return [e for e in first.values() if abs((e.first_at or 0.0) - rise) <= AROUND]


def _finding(facts: Facts, shift: counters.Shift, readers: int, pieces: Sequence[flows.Flow]) -> Finding:
    joined = _joined(facts, shift.at)
    before, after = (
        between(level, (p.out_per_in for p in pieces if p.out_per_in and (shift.at <= p.since < shift.until) is inside))
        for level, inside in ((shift.before, False), (shift.after, True))
    )
    began = min((e.first_at for e in joined if e.first_at is not None), default=shift.at)
    came, left = flows.bounds(facts, began, shift.until)
    names = sorted({e.group for e in joined if e.group})
    traffic: dict[str, float] = {}
    if came is not None and left is not None and came.likely and left.likely:
        traffic = came.measures("bytes_in") | left.measures("bytes_out")
        traffic |= left.over(came).measures("amplification_factor")
    received = [s for s in facts.named("consumer.bytes_consumed") if len(s.points) > 1]
    return finding(
        INCIDENT,
        "brokers",
        Certainty.PROVEN,
        (began, shift.until),
        severity=Severity.NOTICE,
        slots={"before": before, "after": after, "joined": names or [say("new")]},
        measures={
            "readers": readers,
            **before.measures("out_per_in_before"),
            **after.measures("out_per_in_after"),
            **traffic,
        },
        evidence=(
            *(e.first for e in joined[:5]),
            *(sample(facts, s, shift.until, say("received")) for s in received[:8]),
        ),
    )
