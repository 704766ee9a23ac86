"""Changes of a partition's leader: how far the log reached before, and where the new leader began.

What was read or committed lay below the high watermark, which every replica in sync has: a clean election never begins
below it. What only the old leader's own log end shows may have been acknowledged with acks=1 and by nobody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from mqlab.delivery_log.reach import SLACK, End, diverged, furthest, log_ends, watermarks
from mqlab.delivery_log.replica_history import Following, Leadership, Place, follower_starts, in_sync, leaderships
from mqlab.facts import Facts
from mqlab.memo import per_facts


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
    return tuple(one for (own, _), rows in sorted(handovers(facts).items()) if own == topic for one in rows if one.back)


def in_good_order(facts: Facts, one: Handover) -> bool:
    """The old leader lived on: it was being stopped, or began to follow at the same moment."""
    since, until = one.before.at or 0.0, (one.after.at or float("inf")) + SLACK
    follows = [f for f in follower_starts(facts).get((one.after.topic, one.after.queue), ())
               if f.replica == one.before.leader and f.epoch == one.after.epoch]  # fmt: skip
    if any(f.at is not None and one.after.at is not None and abs(f.at - one.after.at) <= SLACK for f in follows):
        return True
    folder = one.before.evidence.source.rpartition("/")[0]
    stops = [e for e in facts.of_kind("broker-stopping")
             if one.before.leader == e.node or (not e.node and e.source.rpartition("/")[0] == folder)]  # fmt: skip
    return not one.same_broker and any(e.first_at is not None and since <= e.first_at <= until for e in stops)


def _of_place(facts: Facts, place: Place, rows: tuple[Leadership, ...]) -> Iterator[Handover]:
    stale = -1
    for number, (before, after) in enumerate(pairwise(rows)):
        if before.life != after.life or before.epoch == after.epoch:
            stale = -1
            continue
        one = Handover(
            before,
            after,
            _next(facts, before, after),
            _old_end(follower_starts(facts).get(place, ()), before, rows[number + 1 :]),
            furthest(facts, log_ends(facts).get(place, ()), before, after, stale),
            furthest(facts, watermarks(facts).get(place, ()), before, after, stale),
            diverged(facts, after),
        )
        if one.back:
            stale = max(end.offset for end in one.ends)
        yield one


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
    told = [r for r in in_sync(facts).get((after.topic, after.queue), ()) if r.controller and r.epoch in between]
    others = {r.leader for r in told} - {"-1", None, before.leader, after.leader}
    return not others and (len(between) <= 1 or {r.epoch for r in told} == set(between))


def _old_end(known: tuple[Following, ...], before: Leadership, later: tuple[Leadership, ...]) -> End | None:
    """The log end with which the old leader began to follow, before it led again."""
    first_later = later[0].epoch or 0
    again = min((r.epoch for r in later if r.leader == before.leader and r.epoch is not None), default=None)
    own = [
        f for f in known
        if f.replica == before.leader and f.epoch is not None and f.epoch >= first_later
        and (again is None or f.epoch < again) and (f.at or 0.0) >= (before.at or 0.0)
    ]  # fmt: skip
    first = min(own, key=lambda f: (f.epoch or 0, f.at or 0.0), default=None)
    return End(first.log_end, first.evidence) if first is not None else None
