"""Records that a Kafka group lost because it never read them: deleted before it came, or jumped over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mqlab.delivery.rows import Loss, Side
from mqlab.delivery_groups.missing import counted, fates, sparse, times, unhandled
from mqlab.delivery_groups.ranges import Skip, Why
from mqlab.delivery_groups.runs import Run, inside
from mqlab.delivery_groups.skips import skips
from mqlab.facts import Facts
from mqlab.kafka.ledgers import noting
from mqlab.rows.messages import Fate

_BY_OFFSETS = "offsets between the position and where it went on"
LOSING = (Why.RETENTION, Why.RESET)
"""Reasons for which what was not read is lost."""


def losses(facts: Facts, place: tuple[str, str, str]) -> Iterator[Loss]:
    """One for each range; *place* is a group, a topic and a partition."""
    for skip in skips(facts, *place):
        if skip.why in LOSING:
            yield from _of(facts, place, skip)


def _of(facts: Facts, place: tuple[str, str, str], skip: Skip) -> Iterator[Loss]:
    group, topic, queue = place
    runs = inside(unhandled(facts, *place), skip.low, skip.high)
    noted = counted(facts, topic, queue)
    records, least, most, how = _by_ids(facts, place, skip, runs) if noted else _by_offsets(facts, place, skip)
    if records:
        since = min((r.since for r in runs if r.since is not None), default=None)
        until = max((r.until for r in runs if r.until is not None), default=None)
        yield Loss(
            str(skip.why), Side.GROUP, topic, queue, group, records, least, most, skip.low, skip.high - 1,
            since, until, how, skip.places,
        )  # fmt: skip


def _by_ids(facts: Facts, place: tuple[str, str, str], skip: Skip, runs: Sequence[Run]) -> tuple[int, int, int, str]:
    """Messages that producers noted there, as far as what they noted reaches."""
    ids = sum(run.messages for run in runs)
    rows = [f for f in fates(facts, *place[1:]) if f.acked or f.stored]
    begin = min((f.first_offset or 0 for f in rows), default=0)
    end = max(((f.last_offset or 0) + 1 for f in rows), default=0)
    if begin <= skip.low and skip.high <= end:
        least, most = min(ids, skip.least), max(ids, skip.most)
        if skip.lowest is None and skip.highest is None:
            least, most = sum(run.least for run in runs), ids
        return ids, least, most, "ids that were acknowledged there and that no ledger notes"
    records, _, most, how = _by_offsets(facts, place, skip)
    return max(ids, records), min(ids, records), max(ids, most), how


def _by_offsets(facts: Facts, place: tuple[str, str, str], skip: Skip) -> tuple[int, int, int, str]:
    """Offsets there, without those that were handled; some hold no record where a log is compacted or transactional."""
    group, topic, queue = place
    own = noting(facts, group, topic)
    handled = [f for f in fates(facts, topic, queue) if times(f, own) and not f.overwritten]
    every = skips(facts, *place)
    done = [_done(fate, skip, every) for fate in handled]
    sure, possible = (sum(bounds) for bounds in zip(*done, strict=True)) if done else (0, 0)
    records = max(0, skip.high - skip.low - sure)
    least = 0 if sparse(facts, topic) else max(0, skip.least - possible)
    return records, min(least, records), max(records, skip.most - sure), _BY_OFFSETS


def _done(fate: Fate, skip: Skip, every: Sequence[Skip]) -> tuple[int, int]:
    """How many messages of a run lie in a range that was passed over: so many at least, so many at most.

    A run that leaves out as many offsets as lie in all such ranges within it left out just those.
    """
    first, behind = fate.first_offset or 0, (fate.last_offset or 0) + 1
    own, *others = (max(0, min(one.high, behind) - max(one.low, first)) for one in (skip, *every))
    left_out = behind - first - fate.messages
    return max(0, own - left_out), min(own, max(0, sum(others) - left_out))
