"""Kafka and RocketMQ: nobody consumes, the group has no members.

Fires: messages come in on every queue of a topic, no committed position moves, and the broker says that the group has
no members. RocketMQ lists connections of processes that died without a good-bye for up to 130 s; the time counts from
where the positions froze. A group that had no members when the material begins is a notice.
Quiet: broadcast groups, whose positions are not at the broker; consumers of Kafka that commit without being members;
the time in which a whole group restarts, and a group that was stopped right before the material ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.groups.backlog import backlog
from mqlab.groups.membership import absent, commits_alone, is_kafka, known_empty_seconds, places, present, topics
from mqlab.kafka.lives import lives, without_members
from mqlab.kafka.rows import RESOLUTION
from mqlab.rocketmq.members import EXPIRY, broadcast, groups
from mqlab.rocketmq.slots import SETTLING
from mqlab.shared.copies import ledgers_of
from mqlab.shared.lag import Stretch, stalled, stretch_between
from mqlab.shared.queues import TOGETHER, Points, at_log_start, lag
from mqlab.words import Text, listed

INCIDENT = "consumer-offline"
SYSTEMS: tuple[str, ...] = ("kafka", "rocketmq")
say = words.room(INCIDENT)
BACK = 60.0
"""Seconds within which a Kafka group that is restarted as a whole is back: session.timeout.ms of members that left
without a word (45 s since 3.0), the start of a process and group.initial.rebalance.delay.ms (3 s)."""
_EMPTIED, _JOINS = "group-emptied", ("member-joined", "rebalance-started", "rebalance-stabilized")
"""What a coordinator of Kafka says when the last member is gone, and when there is one again."""
_HANDLED = ("received", "consumed", "processed")
"""Roles of a ledger that a consumer keeps."""


@dataclass(frozen=True, slots=True)
class _Gap:
    """A part of a stretch in which no source lists members, and what says so."""

    stretch: Stretch
    """From where the positions froze, if those who died then were listed until the gap."""
    seconds: float
    """From the last time that members are listed, to the next."""
    lost: bool
    """Members were listed before."""
    ongoing: bool
    """Nobody came back within the material."""
    back: bool
    """Members are listed afterwards."""
    empty_seconds: float
    """As far as somebody says that there are none."""
    absent: Sequence[Evidence]
    since: float
    until: float
    """By the coordinator's lines, where they are there; else by the snapshots of the stretch."""


def detect(facts: Facts) -> Result:
    """One finding for each time in which nobody read a topic for a group."""
    known = topics(facts)
    if not known and any(broadcast(facts, group) for group in groups(facts)):
        return CLEAR
    if not known:
        return Result(missing=(say("no-offsets"),))
    found, reasons = [], list[Text]()
    for (group, topic), queues in known.items():
        if commits_alone(facts, group, queues):
            reasons.append(say("alone", group=group, topic=topic))
            continue
        gaps = [gap for stretch in stalled(queues, SETTLING) for gap in _gaps(facts, group, stretch, queues)]
        found += [_finding(facts, group, topic, gap, queues) for gap in gaps if _lasts(facts, group, gap)]
        reasons += [_short(group, gap) for gap in gaps if not _lasts(facts, group, gap)] or _back_soon(facts, group)
    if found:
        return Result(tuple(found))
    return Result(rejected=listed(dict.fromkeys(reasons)) or None)


def _lasts(facts: Facts, group: str, gap: _Gap) -> bool:
    """Longer than a restart of the whole group, or than dead connections are listed."""
    return gap.empty_seconds > BACK if is_kafka(facts, group) else gap.ongoing or gap.seconds > EXPIRY


def _short(group: str, gap: _Gap) -> Text:
    return say("short", group=group, seconds=gap.seconds, ongoing=gap.ongoing)


def _back_soon(facts: Facts, group: str) -> list[Text]:
    """The longest time without members that was too short for snapshots to show that nobody read.

    And since when the last of them is gone.
    """
    away = [b - a for a, b in without_members(facts, group) if RESOLUTION < b - a <= BACK]
    if not away or not is_kafka(facts, group):
        return []
    ends = [one.until for one in lives(facts, group)]
    gone = max((end for end in ends if end is not None), default=None) if None not in ends else None
    return [say("short", group=group, seconds=max(away), ongoing=False, gone=gone)]


def _gaps(facts: Facts, group: str, stretch: Stretch, queues: Mapping[str, Points]) -> Iterator[_Gap]:
    """Gaps between members in which something says that there are none."""
    latest = max((p.at or 0.0 for points in queues.values() for p in points), default=stretch.until)
    for before, after in pairwise((-inf, *present(facts, group), inf)):
        begin, end = max(before, stretch.since), min(after, stretch.until)
        if end - begin < SETTLING:
            continue
        listed = before - stretch.since <= EXPIRY + SETTLING
        cut = stretch_between(queues, stretch.since if listed else begin, end)
        said = absent(facts, group, max(before, begin - TOGETHER), min(after, end + TOGETHER))
        if said and cut.paces:
            ongoing = after == inf and end >= latest - TOGETHER
            empty = known_empty_seconds(facts, group, said, end)
            places = [place for _, place in said]
            span = _told(facts, group, cut, before, after)
            yield _Gap(cut, end - begin, before > -inf, ongoing, after < inf, empty, places, *span)


def _told(facts: Facts, group: str, cut: Stretch, before: float, after: float) -> tuple[float, float]:
    """When the coordinator says that the last member went and the next one came: snapshots only bound that."""
    emptied = [e.first_at for e in facts.of_kind(_EMPTIED) if e.group == group and e.first_at is not None]
    joins = [e.first_at for e in facts.of_kind(*_JOINS) if e.group == group and e.first_at is not None]
    since = max((at for at in emptied if before - TOGETHER <= at <= cut.since), default=cut.since)
    until = min((at for at in joins if at > since), default=cut.until)
    return since, until if cut.until <= until <= after + TOGETHER else cut.until


def _finding(facts: Facts, group: str, topic: str, gap: _Gap, queues: Mapping[str, Points]) -> Finding:
    stretch = gap.stretch
    rate = stretch.produced / stretch.seconds
    left = gap.lost or _read(facts, group, topic, stretch, queues)
    return finding(
        INCIDENT,
        f"{group}/{topic}",
        Certainty.PROVEN,
        (gap.since, None if gap.ongoing else gap.until),
        severity=Severity.CRITICAL if left else Severity.NOTICE,
        ongoing=gap.ongoing,
        slots={
            "group": group,
            "places": places(topic, stretch.paces),
            "seconds": gap.until - gap.since,
            "ongoing": gap.ongoing,
            "new": not left,
            "back": gap.back,
            "kafka": is_kafka(facts, group),
        },
        measures={
            **_pending(facts, gap, rate, queues),
            "peak_lag": backlog(facts, group, stretch.since, stretch.until).get("peak_lag"),
            "lag_growth_per_second": rate if stretch.grown == stretch.produced else None,
            "produced_per_second": rate,
            "queues": len(stretch.paces),
        },
        evidence=(*(e.because(say("empty")) for e in gap.absent[:4]), *_frozen(stretch)),
        beside=("slow-consumer",),
    )


def _pending(facts: Facts, gap: _Gap, rate: float, queues: Mapping[str, Points]) -> dict[str, float]:
    """What waited at the end and was not deleted by then: the snapshots before and after it bound what had come in."""
    last = {q: at_log_start(facts, pace.last, gap.until) for q, pace in gap.stretch.paces.items()}
    low, later = sum(map(lag, last.values())), gap.until - gap.stretch.until
    if later <= 0:
        return {"pending_records": low}
    likely = low + round(rate * later)
    ends = {q: next((p.end for p in queues[q] if (p.at or 0.0) >= gap.until), None) for q in last}
    if None in ends.values():
        return {"pending_records": likely, "pending_records_low": low}
    high = sum(lag(at_log_start(facts, replace(p, end=ends[q]), gap.until)) for q, p in last.items())
    low, high = sorted((low, high))
    return {
        "pending_records": min(max(likely, low), high),
        "pending_records_low": low,
        "pending_records_high": high,
    }


def _read(facts: Facts, group: str, topic: str, stretch: Stretch, queues: Mapping[str, Points]) -> bool:
    """The group moved a position, or noted a message in its ledgers, before the stretch."""
    earlier = [p for q in stretch.paces for p in queues[q] if (p.at or 0.0) < stretch.since]
    moved = any((p.committed or 0) < (stretch.paces[p.queue].first.committed or 0) for p in earlier)
    own = ledgers_of(facts, group, topic)
    return moved or any(
        t.source in own and t.topic == topic and t.role in _HANDLED and t.at < stretch.since for t in facts.tallies
    )


def _frozen(stretch: Stretch) -> list[Evidence]:
    return [
        p.evidence.because(say("frozen", queue=queue))
        for queue, pace in list(stretch.paces.items())[:2]
        for p in (pace.first, pace.last)
    ]
