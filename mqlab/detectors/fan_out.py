"""Several groups read the same topic: what leaves the broker is as many times what came in.

Fires: bytes out over bytes in rose in a lasting way and now equal the number of groups that read.
Quiet: the ratio did not change, or rose only because consumers start later than producers; more leaves than the
readers account for (format-inflation, catch-up-read).
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.findings import CLEAR, Certainty, Finding, Result, Severity, finding
from mqlab.shared import counters, flows
from mqlab.shared.wording import sample
from mqlab.units import Interval, between
from mqlab.words.filling import Value

INCIDENT = "fan-out"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)

AROUND = 60.0
"""Seconds around the rise in which a group that joined belongs to it: the longest usual scrape interval."""
FITS = 0.3
"""Share by which out over in may miss the number of readers: a counter of bytes out also has fetch responses' headers,
and scrapes of in and out miss each other by a part of an interval."""
SAME = 0.1
"""Share by which the bytes that come in may differ between two times in which producers send the same. Judgement, no
default behind it: scrapes cut a second of traffic more or less at either end."""


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
        same, more = (earlier if holds else None for holds in (earlier == readers, earlier > readers))
        return Result(rejected=say("not-added", readers=readers, same=same, more=more))
    if abs(shift.after - readers) > FITS * readers:
        return Result(rejected=say("no-fit", after=_levels(shift, pieces)[1], readers=readers))
    return Result((_finding(facts, shift, readers, pieces),))


def _joined(facts: Facts, rise: float) -> list[Episode]:
    """First joins of groups around the rise, without groups that were there long before."""
    first: dict[str, Episode] = {}
    for episode in facts.of_kind("rebalance-started"):
        if episode.group and episode.first_at is not None:
            first.setdefault(episode.group, episode)
    return [e for e in first.values() if abs((e.first_at or 0.0) - rise) <= AROUND]


def _levels(shift: counters.Shift, pieces: Sequence[flows.Flow]) -> tuple[Interval, Interval]:
    """Bytes out over bytes in before and after the rise, each between those of its windows."""
    sides = _sides(shift, pieces)
    before, after = (between(level, (p.out_per_in for p in own if p.out_per_in))
                     for level, own in zip((shift.before, shift.after), sides, strict=True))  # fmt: skip
    return before, after


def _sides(shift: counters.Shift, pieces: Sequence[flows.Flow]) -> tuple[list[flows.Flow], list[flows.Flow]]:
    """The windows outside of the rise, and those inside."""
    inside = [p for p in pieces if shift.at <= p.since < shift.until]
    return [p for p in pieces if p not in inside], inside


def _sent(shift: counters.Shift, pieces: Sequence[flows.Flow]) -> dict[str, Value]:
    """What producers sent a second before and after the rise; nothing where it was not measured on both sides."""
    rates = [[p.in_per_second for p in own if p.in_per_second] for own in _sides(shift, pieces)]
    if not all(rates):
        return {}
    usual, now = (median(own) for own in rates)
    same = abs(now - usual) <= SAME * usual
    return {"same": same} if same else {"usual": usual, "now": now}


def _finding(facts: Facts, shift: counters.Shift, readers: int, pieces: Sequence[flows.Flow]) -> Finding:
    joined = _joined(facts, shift.at)
    before, after = _levels(shift, pieces)
    began = min((e.first_at for e in joined if e.first_at is not None), default=shift.at)
    came, left = flows.bounds(facts, began, shift.until)
    names = sorted({e.group for e in joined if e.group})
    traffic: dict[str, float] = {}
    factor = after
    if came is not None and left is not None and came.likely and left.likely:
        factor = left.over(came)
        traffic = came.measures("bytes_in") | left.measures("bytes_out") | factor.measures("amplification_factor")
    received = [s for s in facts.named("consumer.bytes_consumed") if len(s.points) > 1]
    return finding(
        INCIDENT,
        "brokers",
        Certainty.PROVEN,
        (began, shift.until),
        severity=Severity.NOTICE,
        slots={"before": before, "factor": factor, "joined": names or [say("new")], **_sent(shift, pieces)},
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
