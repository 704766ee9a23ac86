"""RocketMQ: nobody consumes, the group has no members.

Fires: messages come in on every queue of a topic, no committed position moves, and the broker says that the group is
not online. A group that had no members when the material begins is a notice.
Quiet: broadcast groups, whose positions are not at the broker; the seconds in which a whole group restarts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mqlab import units
from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.members import streams, topics
from mqlab.queues import Points, lag, spread, totals
from mqlab.sharing import EXPIRY
from mqlab.slots import SETTLING
from mqlab.stalls import Stretch, stalled
from mqlab.wording import moment, sample

INCIDENT = "consumer-offline"
SYSTEMS: tuple[str, ...] = ("rocketmq",)
TOGETHER = 10.0
"""Seconds that the commands of one snapshot may take."""
_NOT_ONLINE = "CODE: 206"
"""CONSUMER_NOT_ONLINE of ResponseCode."""


def detect(facts: Facts) -> Result:
    """One finding for each group and topic that nobody reads."""
    known = topics(facts)
    if not known:
        return Result(missing=("offsets of the groups, several times, and who is connected",))
    found, reasons = [], []
    for (group, topic), queues in known.items():
        if _broadcast(facts, group):
            continue
        for stretch in stalled(queues, SETTLING):
            absent = _absent(facts, group, stretch)
            last = stretch.until >= max(at for at, _, _ in totals(queues))
            if absent and (last or stretch.seconds > EXPIRY):
                found.append(_finding(facts, group, topic, stretch, absent, queues))
            elif absent:
                reasons.append(f"{group} had no members for {units.duration(stretch.seconds)} and came back")
    if found:
        return Result(tuple(found))
    return Result(rejected="; ".join(dict.fromkeys(reasons))) if reasons else CLEAR


def _broadcast(facts: Facts, group: str) -> bool:
    return any(s.owner == group and s.key == "messageModel" and s.value == "BROADCASTING" for s in facts.settings)


def _absent(facts: Facts, group: str, stretch: Stretch) -> Sequence[Evidence]:
    """Lines that say that the group has no members within the stretch; none where any lists a member later in it."""
    begin, end = stretch.since - TOGETHER, stretch.until + TOGETHER
    listed = [
        s.at for view in streams(facts, group) for s in view.snapshots if s.members and s.at > stretch.since + SETTLING
    ]
    if any(at <= end - TOGETHER for at in listed):
        return ()
    errors = [
        e.first
        for e in facts.of_kind("tool-error")
        if e.group == group and _NOT_ONLINE in (e.reason or "") and begin <= (e.first_at or 0.0) <= end
    ]
    gone = [e.first for e in facts.of_kind("group-offline") if e.group == group and begin <= (e.first_at or 0.0) <= end]
    return (*gone, *errors, *_counted(facts, group, begin, end))


def _counted(facts: Facts, group: str, begin: float, end: float) -> list[Evidence]:
    """Samples that count no members."""
    return [
        sample(facts, s, at, "no members are counted")
        for s in facts.named("rocketmq.group.members")
        if s.labels.get("group") == group
        for at, value in s.points
        if value == 0 and begin <= at <= end
    ]


def _finding(
    facts: Facts, group: str, topic: str, stretch: Stretch, absent: Sequence[Evidence], queues: Mapping[str, Points]
) -> Finding:
    waiting = sum(lag(p.last) for p in stretch.paces.values())
    rate = stretch.produced / stretch.seconds
    left = _left(facts, group, topic, stretch, queues)
    ongoing = stretch.until >= max(at for at, _, _ in totals(queues))
    since = "" if left else " It had none when the material begins."
    return Finding(
        id=f"{INCIDENT}:{group}/{topic}",
        incident=INCIDENT,
        severity=Severity.CRITICAL if left else Severity.NOTICE,
        certainty=Certainty.PROVEN,
        subject=f"{group}/{topic}",
        started_at=moment(stretch.since),
        ended_at=None if ongoing else moment(stretch.until),
        ongoing=ongoing,
        statement=(
            f"{group} has no members: {spread(stretch.paces)} of {topic} took {units.digits(rate)} messages/s for "
            f"{units.duration(stretch.seconds)} and no position moved.{since} {units.number(waiting)} messages wait."
        ),
        measures={
            "pending_records": float(waiting),
            "lag_growth_per_second": stretch.grown / stretch.seconds,
            "produced_per_second": rate,
            "queues": float(len(stretch.paces)),
        },
        evidence=(*_named(absent), *_frozen(stretch)),
        explains=("slow-consumer", "retention-loss"),
        mitigate=f"Start the consumers of {group}; side effect: the whole backlog flows at once, so "
        "plan the drain first (mqlab drain).",
        remedy="Alert on a group without members, and on lag that grows at the produce rate of every queue.",
        verify=f"mqadmin consumerConnection -g {group} lists the members, and every queue's offset moves.",
    )


def _left(facts: Facts, group: str, topic: str, stretch: Stretch, queues: Mapping[str, Points]) -> bool:
    """The group consumed within the material before it was gone."""
    earlier = [p for points in queues.values() for p in points if (p.at or 0.0) < stretch.since]
    moved = any((p.committed or 0) < (stretch.paces[q].first.committed or 0) for q in stretch.paces for p in earlier
                if p.queue == q)  # fmt: skip
    members = any(
        s.members for view in streams(facts, group) for s in view.snapshots if s.at <= stretch.since + SETTLING
    )
    read = any(t.topic == topic and t.role != "sent" and t.at < stretch.since for t in facts.tallies)
    return moved or members or read


def _named(absent: Sequence[Evidence]) -> list[Evidence]:
    return [Evidence(e.source, e.line, e.text, "the group has no members") for e in absent[:4]]


def _frozen(stretch: Stretch) -> list[Evidence]:
    return [
        Evidence(p.source, p.line, p.text, f"{queue}: nobody moves the offset")
        for queue, pace in list(stretch.paces.items())[:2]
        for p in (pace.first, pace.last)
    ]
