"""Acknowledged ids that are gone from the log of a partition, by their places, by its end and by dumps of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mqlab.delivery_log.dump_gaps import missing_from_dumps
from mqlab.delivery_log.handovers import Handover, handovers
from mqlab.delivery_log.loss_pieces import BY_DUMP, BY_END, BY_PLACE, Piece
from mqlab.delivery_log.places import last_end
from mqlab.delivery_log.replica_history import leaderships
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.rows.messages import Fate


def by_ids(facts: Facts, topic: str) -> Iterator[Piece]:
    """Those of *topic*, neighbours that share a fate as one."""
    lost: dict[tuple[str, str, Handover | None], list[Piece]] = defaultdict(list)
    absent = missing_from_dumps(facts, topic)
    for fate in acknowledged(facts, topic):
        for piece in _of_fate(facts, fate, absent):
            lost[piece.queue, piece.how, piece.handover].append(piece)
    for rows in lost.values():
        piece = _together(rows)
        if not _deleted_with_topic(facts, piece):
            yield replace(piece, least=0) if _may_be_new_topic(piece) else piece


def _deleted_with_topic(facts: Facts, piece: Piece) -> bool:
    """The topic was made again after they were acknowledged: no leader lost them."""
    begun = [r.at for r in leaderships(facts).get((piece.topic, piece.queue), ()) if r.life and not r.epoch]
    until = piece.until
    return piece.handover is None and until is not None and any(at is not None and at > until for at in begun)


def _may_be_new_topic(piece: Piece) -> bool:
    """Places from the first one on, and nothing that tells of leaders: offsets of a new topic look like that."""
    return piece.handover is None and piece.how == BY_PLACE and piece.first_offset == 0


@per_facts
def acknowledged(facts: Facts, topic: str) -> tuple[Fate, ...]:
    """Messages of *topic* that were acknowledged at a known place, by partition, offset and time."""
    own = [f for f in facts.fates if f.topic == topic and f.acked and f.first_offset is not None]
    return tuple(sorted(own, key=_place))


def _place(fate: Fate) -> tuple[str, int, float, str, int]:
    where = (fate.first.source, fate.first.line or 0)
    return (fate.queue, fate.first_offset or 0, fate.first_at or 0.0, *where)


def _of_fate(facts: Facts, fate: Fate, absent: Mapping[Fate, Evidence]) -> Iterator[Piece]:
    changes = handovers(facts).get((fate.topic, fate.queue), ())
    if fate.overwritten:
        yield _piece(fate, BY_PLACE, _fitting(fate, changes), (fate.messages, fate.messages, fate.messages))
        return
    if fate.stored or fate.offsets > 1:
        return
    behind = [piece for one in changes for piece in _behind(facts, fate, one)]
    yield from behind[:1]
    if fate in absent and not behind:
        piece = _piece(fate, BY_DUMP, _fitting(fate, changes), (fate.messages, fate.messages, fate.messages))
        yield replace(piece, evidence=(*piece.evidence, absent[fate]))


def _fitting(fate: Fate, changes: Sequence[Handover]) -> Handover | None:
    """The change of leader whose first offset is not above the messages, and whose old log reached them."""
    first = fate.first_offset or 0
    able = [
        one for one in changes
        if one.to_offset <= first and (one.old_end is None or one.old_end.offset > first)
    ]  # fmt: skip
    later = [one for one in able if (one.after.at or 0.0) >= (fate.last_at or 0.0)]
    return later[0] if later else (able[-1] if able else None)


def _behind(facts: Facts, fate: Fate, one: Handover) -> Iterator[Piece]:
    """Messages from the new leader's first offset on that were acknowledged before, whose places stayed empty.

    The log ended below them when it was last seen; where it reaches further, their places may have been given to
    messages that no ledger notes, or the ledger's clock may be off, so that they count at most.
    """
    first, last = fate.first_offset or 0, fate.last_offset or 0
    before = fate.last_at is not None and one.after.at is not None and fate.last_at < one.after.at
    if last < one.to_offset or not before or (one.old_end is not None and one.old_end.offset <= one.to_offset):
        return
    end = last_end(facts, (fate.topic, fate.queue), one.after.at)
    most = _share(fate, one.to_offset)
    least = _share(fate, max(one.to_offset, end)) if end is not None else 0
    if not least and not (one.back and last < max(known.offset for known in one.ends)):
        return
    piece = _piece(fate, BY_END, one, (most, least, most))
    yield replace(piece, first_offset=max(first, one.to_offset))


def _share(fate: Fate, offset: int) -> int:
    """Messages of *fate* at *offset* or above; where gaps lie between them, as many as may be."""
    first, last = fate.first_offset or 0, fate.last_offset or 0
    return max(0, min(fate.messages, last - max(first, offset) + 1))


def _piece(fate: Fate, how: str, one: Handover | None, numbers: tuple[int, int, int]) -> Piece:
    records, least, most = numbers
    read = records if fate.handled else 0
    twice = records if fate.offsets > 1 else 0
    return Piece(
        fate.topic, fate.queue, how, records, least, most, fate.first_offset, fate.last_offset, fate.first_at,
        fate.last_at, read, twice, one, (fate.first, fate.last),
    )  # fmt: skip


def _together(rows: Sequence[Piece]) -> Piece:
    """Neighbours that share a fate, as one."""
    first, ends = rows[0], (rows[0].evidence[0], rows[-1].evidence[1])
    return replace(
        first,
        records=sum(r.records for r in rows),
        least=sum(r.least for r in rows),
        most=sum(r.most for r in rows),
        first_offset=min(r.first_offset for r in rows if r.first_offset is not None),
        last_offset=max(r.last_offset for r in rows if r.last_offset is not None),
        since=min((r.since for r in rows if r.since is not None), default=None),
        until=max((r.until for r in rows if r.until is not None), default=None),
        read=sum(r.read for r in rows),
        twice=sum(r.twice for r in rows),
        evidence=tuple(dict.fromkeys([*ends, *(e for r in rows for e in r.evidence[2:])])),
    )
