"""RocketMQ: members of one group subscribe to different topics or tags.

Fires: the broker takes a topic from the group and gets it back with every heartbeat, or members list different
subscriptions. Proven where just those queues stand still that are the share of the members that do not read the topic.
Quiet: a subscription that changes once, or with a release of all members; equal ids (duplicate-client-id), whose
members read the same.
"""

from __future__ import annotations

from mqlab import words
from mqlab.delivery.queue_audit import queue_rows
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.groups.backlog import waited
from mqlab.rocketmq.members import HEARTBEATS, groups, streams
from mqlab.rocketmq.slots import Judgement
from mqlab.rocketmq.subscriptions import Mismatch, mismatches
from mqlab.shared.queues import Member, next_read, of_groups, spread
from mqlab.words import Text, listed

INCIDENT = "subscription-mismatch"
SYSTEMS: tuple[str, ...] = ("rocketmq",)
say = words.room(INCIDENT)


def detect(facts: Facts) -> Result:
    """One finding for each group."""
    seen = groups(facts)
    if not any(streams(facts, group) for group in seen):
        return Result(missing=(say("no-subscriptions"),))
    found = [mismatch for group in seen if (mismatch := mismatches(facts, group)) is not None]
    lasting = [mismatch for mismatch in found if _lasts(facts, mismatch)]
    if lasting:
        return Result(tuple(_finding(facts, mismatch) for mismatch in lasting))
    if found:
        return Result(rejected=listed(_because(facts, mismatch) for mismatch in found))
    return CLEAR


def _lasts(facts: Facts, mismatch: Mismatch) -> bool:
    if mismatch.confirmed or _at_the_end(facts, mismatch) or (mismatch.tags and mismatch.settled and mismatch.flips):
        return True
    return (mismatch.until - mismatch.since > HEARTBEATS or _goes_on(facts, mismatch)) and not _release(facts, mismatch)


def _because(facts: Facts, mismatch: Mismatch) -> Text:
    return say("released" if _release(facts, mismatch) else "settled", group=mismatch.group)


def _release(facts: Facts, mismatch: Mismatch) -> bool:
    """No process that was in the group before is in it afterwards: the subscription went with a release of all."""
    for view in streams(facts, mismatch.group):
        before = [s for s in view.snapshots if s.at <= mismatch.since - HEARTBEATS and s.members]
        after = [s for s in view.snapshots if s.at >= mismatch.until and s.members]
        if view.how != "client logs" and before and after:
            old, new = ({_process(m) for m in s.members} for s in (before[-1], after[-1]))
            return not old & new
    return False


def _process(member: Member) -> tuple[str, str]:
    """An id with a number of its own is one process, whatever port it connects from."""
    return (member.client_id, "" if "#" in member.client_id else member.place)


def _at_the_end(facts: Facts, mismatch: Mismatch) -> bool:
    return (
        max((p.at for p in facts.positions if p.at is not None), default=mismatch.until) - mismatch.until <= HEARTBEATS
    )


def _goes_on(facts: Facts, mismatch: Mismatch) -> bool:
    """Up to the end of the material; or seen by commands only, and none saw it end."""
    return not mismatch.settled and (_at_the_end(facts, mismatch) or not mismatch.flips)


def _finding(facts: Facts, mismatch: Mismatch) -> Finding:
    orphans = [q for j in mismatch.confirmed for q in j.orphans]
    stuck = [j.paces[q] for j in mismatch.confirmed for q in j.expected]
    ongoing = _goes_on(facts, mismatch)
    waiting = sum(_waiting(facts, mismatch, j) for j in mismatch.confirmed)
    absent = {client for ids in mismatch.absent.values() for client in ids}
    return finding(
        INCIDENT,
        mismatch.group,
        Certainty.PROVEN if mismatch.confirmed else Certainty.LIKELY,
        (mismatch.since, None if ongoing else mismatch.until),
        severity=Severity.CRITICAL if orphans else Severity.WARNING,
        ongoing=ongoing,
        slots={
            "absent": [say("absent", clients=ids, topic=topic) for topic, ids in mismatch.absent.items()],
            "odd": sorted(absent),
            "lacking": list(mismatch.absent),
            "topics": mismatch.topics,
            "unread": [_unread(facts, mismatch, j) for j in mismatch.confirmed],
            "tags": mismatch.tags,
            "ongoing": ongoing,
        },
        measures={
            "members_without_topic": len(absent) or None,
            "flips": mismatch.flips or None,
            "orphan_queues": len(orphans) or None,
            **_backlog(facts, mismatch),
            **({"pending_records": waiting} if orphans else {}),
            "orphans_produced_per_second": sum(p.produced / p.seconds for p in stuck) if orphans else None,
        },
        evidence=(*mismatch.told, *_frozen(mismatch)),
        explains=("slow-consumer", "retention-loss"),
        facts={"topics": ", ".join(mismatch.topics)},
    )


def _unread(facts: Facts, mismatch: Mismatch, judgement: Judgement) -> Text:
    queues, topic, waiting = spread(judgement.orphans), judgement.topic, _waiting(facts, mismatch, judgement)
    return say("unread", queues=queues, topic=topic, waiting=waiting, ongoing=_goes_on(facts, mismatch))


def _waiting(facts: Facts, mismatch: Mismatch, judgement: Judgement) -> int:
    """What waits in the queues that nobody reads, by whatever told of their ends or their messages last.

    A listing of the group leaves out a topic that is missing in its subscription: that is no zero.
    """
    last, topic = {queue: judgement.paces[queue].last for queue in judgement.expected}, judgement.topic
    ongoing = _goes_on(facts, mismatch)
    ends: dict[str, int] = {queue: seen.end or 0 for queue, seen in last.items()}
    for one in facts.positions:
        known = one.topic == topic and one.queue in ends and one.end is not None and one.at is not None
        if known and (ongoing or (one.at or 0.0) <= mismatch.until):
            ends[one.queue] = max(ends[one.queue], one.end or 0)
    noted = _pending(facts, mismatch.group, topic) if ongoing else {}
    return sum(max(0, ends[queue] - next_read(seen), noted.get(queue, 0)) for queue, seen in last.items())


def _pending(facts: Facts, group: str, topic: str) -> dict[str, int]:
    """What waits in each queue of a topic when the material ends, by the ledgers."""
    return {row.queue: row.pending or 0 for row in queue_rows(facts, topic) if row.group == group}


def _backlog(facts: Facts, mismatch: Mismatch) -> dict[str, float]:
    """What waited, by listings of the group; of one that goes on, at least what ledgers say that waits at the end."""
    known = waited(facts, mismatch.group, mismatch.since, mismatch.until)
    if not _goes_on(facts, mismatch):
        return known
    topics = {topic for group, topic in of_groups(facts) if group == mismatch.group}
    left = sum(sum(_pending(facts, mismatch.group, topic).values()) for topic in topics)
    left = max(left, sum(_waiting(facts, mismatch, j) for j in mismatch.confirmed))
    return {**known, "peak_lag": max(left, known.get("peak_lag", 0))} if left or known else {}


def _frozen(mismatch: Mismatch) -> tuple[Evidence, ...]:
    return tuple(
        p.evidence.because(say("frozen", queue=queue))
        for j in mismatch.confirmed
        for queue in j.expected[:2]
        for p in (j.paces[queue].first, j.paces[queue].last)
    )
