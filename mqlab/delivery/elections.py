"""Changes of a partition's leader: how far its log reached before, where the new leader began, and was it in sync?

What was read or committed lay below the high watermark, which every replica in sync has: a clean election never begins
below it. What only the old leader's own log end shows may have been acknowledged with acks=1 and by nobody else.

KRaft says of every change whether it was clean; the controllers of ZooKeeper mode say which replicas were in sync when
they elected. A set that only the old leader told may be older than the election, so it counts together with the
setting. The in-sync set of a leader elected uncleanly is itself alone. KRaft writes UNCLEAN of eligible replicas too,
which have everything that was committed (KIP-966).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from mqlab import words
from mqlab.delivery import durability, leaders
from mqlab.delivery.leaders import (
    SLACK,
    End,
    Leadership,
    Place,
    ReplicaEnd,
    diverged,
    follower_starts,
    furthest,
    in_sync,
    leaderships,
    log_ends,
    offered,
    watermarks,
)
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts

say = words.room("elections")


@dataclass(frozen=True, slots=True)
class Handover:
    """One leader after another, within one life of a topic."""

    before: Leadership
    """Without a leader where no log of the old one is in the material."""
    after: Leadership
    next_known: bool
    """No leader between both that the material does not tell of."""
    old_end: End | None
    """Where the old leader's own log ended, as it says when it comes back."""
    seen_end: End | None
    """Furthest log end that metrics saw while it led."""
    passed: End | None
    """Furthest high watermark that was seen meanwhile: an end offset of a snapshot or a committed offset."""
    diverged: End | None
    """Furthest position of a consumer that found the log cut back to this leader's first offset."""

    @property
    def to_offset(self) -> int:
        """Where the new leader's log ended, so that offsets from here on were given out again."""
        return self.after.from_offset

    @property
    def ends(self) -> tuple[End, ...]:
        """Every known end, the surest first."""
        return tuple(end for end in (self.old_end, self.diverged, self.seen_end, self.passed) if end is not None)

    @property
    def most(self) -> int | None:
        """Records that the old leader had and the new one lacked; None where no end is known."""
        if self.old_end is not None:
            return max(0, self.old_end.offset - self.to_offset)
        return max((max(0, end.offset - self.to_offset) for end in self.ends), default=None)

    @property
    def back(self) -> bool:
        """The log is known to have gone back."""
        return bool(self.most)

    @property
    def visible(self) -> int:
        """Records that consumers could see or had read before they were gone, at least."""
        known = [end.offset - self.to_offset for end in (self.passed, self.diverged) if end is not None]
        return max([0, *known])

    @property
    def same_broker(self) -> bool:
        """The leader followed itself: it was away for a while."""
        return self.before.leader == self.after.leader


@per_facts
def handovers(facts: Facts) -> Mapping[Place, tuple[Handover, ...]]:
    """Changes of leader of each partition, in their order."""
    every = {place: tuple(_of_place(facts, place, _with_unknown(rows))) for place, rows in leaderships(facts).items()}
    return {place: rows for place, rows in every.items() if rows}


@per_facts
def set_backs(facts: Facts, topic: str) -> tuple[Handover, ...]:
    """Changes of leader after which the log of a partition of *topic* ended earlier than before, by partition."""
    own = [changes for place, changes in sorted(handovers(facts).items()) if place[0] == topic]
    return tuple(handover for changes in own for handover in changes if handover.back)


def in_good_order(facts: Facts, handover: Handover) -> bool:
    """The old leader lived on: it was being stopped, or began to follow at the same moment."""
    before, after = handover.before, handover.after
    since, until = before.at or 0.0, (after.at or float("inf")) + SLACK
    follows = [f.at for f in follower_starts(facts).get((after.topic, after.queue), ())
               if f.replica == before.leader and f.epoch == after.epoch]  # fmt: skip
    if any(at is not None and after.at is not None and abs(at - after.at) <= SLACK for at in follows):
        return True
    folder = before.evidence.source.rpartition("/")[0]
    stops = [e for e in facts.of_kind("broker-stopping")
             if before.leader == e.node or (not e.node and e.source.rpartition("/")[0] == folder)]  # fmt: skip
    return not handover.same_broker and any(e.first_at is not None and since <= e.first_at <= until for e in stops)


def _of_place(facts: Facts, place: Place, rows: tuple[Leadership, ...]) -> Iterator[Handover]:
    stale = -1
    for number, (before, after) in enumerate(pairwise(rows)):
        if before.life != after.life or before.epoch == after.epoch:
            stale = -1
            continue
        handover = Handover(
            before,
            after,
            _next(facts, before, after),
            _old_end(follower_starts(facts).get(place, ()), before, rows[number + 1 :]),
            furthest(facts, log_ends(facts).get(place, ()), before, after, stale),
            furthest(facts, watermarks(facts).get(place, ()), before, after, stale),
            diverged(facts, after),
        )
        if handover.back:
            stale = max(end.offset for end in handover.ends)
        yield handover


def _with_unknown(rows: tuple[Leadership, ...]) -> tuple[Leadership, ...]:
    """*rows* behind a leadership of nobody known, where the first of them was not the first of the topic's life."""
    first = rows[0]
    if not first.epoch:
        return rows
    nobody = replace(first, epoch=None, leader="", from_offset=0, high_watermark=None, isr=None, at=None)
    return (nobody, *rows)


def _next(facts: Facts, before: Leadership, after: Leadership) -> bool:
    """One epoch without a leader may lie between two leaders; of more the controller has to tell."""
    if before.epoch is None or after.epoch is None:
        return False
    between = range(before.epoch + 1, after.epoch)
    elections = [r for r in in_sync(facts).get((after.topic, after.queue), ()) if r.controller and r.epoch in between]
    others = {r.leader for r in elections} - {"-1", None, before.leader, after.leader}
    return not others and (len(between) <= 1 or {r.epoch for r in elections} == set(between))


def _old_end(starts: tuple[ReplicaEnd, ...], before: Leadership, later: tuple[Leadership, ...]) -> End | None:
    """The log end with which the old leader began to follow, before it led again."""
    first_later = later[0].epoch or 0
    again = min((r.epoch for r in later if r.leader == before.leader and r.epoch is not None), default=None)
    own = [
        f for f in starts
        if f.replica == before.leader and f.epoch is not None and f.epoch >= first_later
        and (again is None or f.epoch < again) and (f.at or 0.0) >= (before.at or 0.0)
    ]  # fmt: skip
    first = min(own, key=lambda f: (f.epoch or 0, f.at or 0.0), default=None)
    return End(first.offset, first.evidence) if first is not None else None


_IN_ORDER = (" -> ", "preferred replica", "using ELR")
"""Words of lines that controllers write of clean elections only: KRaft's change, a preferred leader, KIP-966."""


@dataclass(frozen=True, slots=True)
class Election:
    """Whether one change of leader was clean."""

    unclean: bool | None
    """None where nothing in the material decides it."""
    told: bool
    """A controller's own word, not an inference."""
    why: str
    evidence: tuple[Evidence, ...]


@per_facts
def election(facts: Facts, handover: Handover) -> Election:
    """How the leader of *handover* was elected."""
    leader = handover.after.leader
    marked = next(_lines(facts, handover, "unclean-election"), None)
    if marked is not None and leader in leaders.elected(marked.reason)[2]:
        evidence = (replace(marked.first, why=say("election")),)
        return Election(False, True, say("eligible"), evidence)
    if marked is not None:
        evidence = (replace(marked.first, why=say("said")),)
        return Election(True, True, say("marked"), evidence)
    elections = [line for line in _lines(facts, handover, "leader-elected") if offered(line) == leader]
    if elections and any(sign in (elections[-1].reason or "") for sign in _IN_ORDER):
        evidence = (replace(elections[-1].first, why=say("election")),)
        return Election(False, True, say("in-order"), evidence)
    return _by_in_sync_set(facts, handover)


def _by_in_sync_set(facts: Facts, handover: Handover) -> Election:
    leader, after = handover.after.leader, handover.after.isr
    setting = durability.in_force(facts, handover.after.topic, "unclean.leader.election.enable", handover.after.at)
    allowed = setting.value if setting is not None and setting.evidence is not None else None
    last = _last_in_sync(facts, handover)
    evidence = (replace(last.evidence, why=say("in-sync")),) if last is not None else ()
    switched_off = (*evidence, *((setting.evidence,) if setting is not None and setting.evidence is not None else ()))
    if last is None:
        if allowed == "false":
            return Election(False, False, say("switched-off"), switched_off)
        return Election(None, False, say("not-told"), ())
    if len(after or ()) > 1 and not last.controller:
        return Election(False, False, say("others", replicas=after), evidence)
    if leader in last.isr and (last.controller or allowed != "true"):
        return Election(False, last.controller, say("before", replicas=last.isr), evidence)
    possible = allowed != "false" and (last.controller or allowed == "true")
    if leader not in last.isr and after in (None, (leader,)) and possible:
        return Election(True, last.controller, say("only", replicas=last.isr), evidence)
    if allowed == "false" and not last.controller:
        return Election(False, False, say("switched-off"), switched_off)
    return Election(None, False, say("as-known", replicas=last.isr), evidence)


def _lines(facts: Facts, handover: Handover, kind: str) -> Iterator[Episode]:
    """Lines of controllers about this partition, between both leaderships, that name this leader or nobody."""
    since, until = handover.before.at or float("-inf"), handover.after.at or float("-inf")
    for line in facts.of_kind(kind):
        here = (line.topic, line.queue) == (handover.after.topic, handover.after.queue)
        named = offered(line) in (handover.after.leader, "")
        if here and named and line.first_at is not None and since < line.first_at <= until + SLACK:
            yield line


def _last_in_sync(facts: Facts, handover: Handover) -> leaders.InSync | None:
    """The in-sync set before the election: by epoch where lines have one, else by time."""
    epoch, at, first = handover.after.epoch, handover.after.at, handover.before.epoch
    sets = in_sync(facts).get((handover.after.topic, handover.after.queue), ())
    dated = [r for r in sets if r.epoch is not None and (-1 if first is None else first) <= r.epoch < (epoch or 0)]
    undated = [r for r in sets if r.epoch is None and r.at is not None and at is not None]
    if not dated:
        return next((r for r in reversed(undated) if (r.at or 0.0) < (at or 0.0)), None)
    newest = max(dated, key=lambda r: (r.epoch or 0, r.controller, r.at or 0.0))
    if newest.controller and newest.epoch != first:
        return newest
    later = (r for r in reversed(undated) if (newest.at or float("-inf")) < (r.at or 0.0) < (at or 0.0) - SLACK)
    return next(later, newest)
