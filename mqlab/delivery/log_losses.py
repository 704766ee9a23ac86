"""Acknowledged messages that are gone from the log of a partition: by id where ledgers tell, else between offsets.

By ids: another id was acknowledged later at the same place, or the log ended below it after a change of leader, or a
dump that covers its offset does not hold it. Without ids: the old leader's log end less the new leader's first offset
at most; what metrics or consumers had seen beyond that at least.

A dump counts where it was made after they were acknowledged, from its first offset to its last. Topics that are
compacted lose old values by intent. A dump that holds messages whose place was given to others is that of a broker
whose log had not been cut yet; behind a place from which a new leader began, no dump is trusted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mqlab.delivery import durability
from mqlab.delivery.elections import Handover, handovers, set_backs
from mqlab.delivery.leaders import last_end, leaderships
from mqlab.facts import Facts, span
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.rows import Fate, Part
from mqlab.words import room

ways = room("delivery-ways")

BY_PLACE = ways("by-place")
BY_END = ways("by-end")
BY_DUMP = ways("by-dump")
BY_OFFSETS = ways("by-leaders")


@dataclass(frozen=True, slots=True)
class Piece:
    """Acknowledged messages of one partition that are gone from the log, counted in one way."""

    topic: str
    queue: str
    how: str
    records: int
    least: int
    most: int
    first_offset: int | None
    last_offset: int | None
    since: float | None
    until: float | None
    read: int
    """Of those, the ones that a consumer had read before."""
    twice: int
    """Of those, the ones that were stored at a second place too."""
    handover: Handover | None
    """The change of leader that fits."""
    evidence: tuple[Evidence, ...]

    @property
    def passed(self) -> bool:
        """Consumers had read some of them at that very place, so the high watermark lay beyond."""
        return self.read > self.twice


@per_facts
def pieces(facts: Facts, topic: str) -> tuple[Piece, ...]:
    """What was lost of each partition of *topic*, by partition and time.

    Of the interval of a change of leader, a ledger that ends too early tells a part.
    """
    by_id = list(_by_ids(facts, topic))
    by_offsets = [_by_offsets(facts, one) for one in set_backs(facts, topic) if not counted_by_ids(facts, topic, one)]
    found = [piece for piece in by_id if piece.handover not in {one.handover for one in by_offsets}]
    for piece in by_offsets:
        known = [one for one in by_id if one.handover == piece.handover]
        ids = sum(one.records for one in known)
        found.append(
            replace(
                piece,
                least=max(piece.least, ids),
                records=max(piece.records, ids),
                most=max(piece.most, ids),
                evidence=tuple(dict.fromkeys((*piece.evidence, *(e for one in known for e in one.evidence)))),
            )
        )
    return tuple(sorted(found, key=lambda p: (p.queue, p.since or 0.0, p.first_offset or 0, p.how)))


@per_facts
def counted_by_ids(facts: Facts, topic: str, handover: Handover) -> bool:
    """A ledger of acknowledged ids and their places covers the end of the old leadership: it tells what was lost."""
    at = handover.after.at
    own = [p for p in facts.parts if p.role == "acked" and p.topic == topic and p.first_offset is not None]
    return at is not None and any(
        p.first_at is not None and p.last_at is not None and p.first_at < at < p.last_at for p in own
    )


@per_facts
def acknowledged(facts: Facts, topic: str) -> tuple[Fate, ...]:
    """Messages of *topic* that were acknowledged at a known place, by partition, offset and time."""
    own = [f for f in facts.fates if f.topic == topic and f.acked and f.first_offset is not None]
    return tuple(
        sorted(own, key=lambda f: (f.queue, f.first_offset, f.first_at or 0.0, f.first.source, f.first.line or 0))
    )


def _by_offsets(facts: Facts, handover: Handover) -> Piece:
    """The tail that the new leader lacked, which was acknowledged at most.

    At least it was what a snapshot had shown to consumers, and with acks=1 what the leader had been seen to have.
    """
    topic, begin, most = handover.after.topic, handover.to_offset, handover.most or 0
    acks = durability.acks(facts, topic, handover.before.at)
    ends = (handover.passed, handover.seen_end if acks is not None and acks.leader_only else None)
    least = min(most, max([0, *(end.offset - begin for end in ends if end is not None)]))
    return Piece(
        topic, handover.after.queue, BY_OFFSETS, most, least, most, begin, begin + most - 1, handover.before.at,
        handover.after.at, handover.visible, 0, handover, tuple(end.evidence for end in handover.ends),
    )  # fmt: skip


def _by_ids(facts: Facts, topic: str) -> Iterator[Piece]:
    """Those of *topic*, neighbours that share a fate as one."""
    lost: dict[tuple[str, str, Handover | None], list[Piece]] = defaultdict(list)
    absent = _missing_from_dumps(facts, topic)
    for fate in acknowledged(facts, topic):
        for piece in _of_fate(facts, fate, absent):
            lost[piece.queue, piece.how, piece.handover].append(piece)
    for rows in lost.values():
        since, until = span(at for r in rows for at in (r.since, r.until))
        ends = (rows[0].evidence[0], rows[-1].evidence[1])
        piece = replace(
            rows[0],
            records=sum(r.records for r in rows),
            least=sum(r.least for r in rows),
            most=sum(r.most for r in rows),
            first_offset=min(r.first_offset for r in rows if r.first_offset is not None),
            last_offset=max(r.last_offset for r in rows if r.last_offset is not None),
            since=since,
            until=until,
            read=sum(r.read for r in rows),
            twice=sum(r.twice for r in rows),
            evidence=tuple(dict.fromkeys([*ends, *(e for r in rows for e in r.evidence[2:])])),
        )
        if not _deleted_with_topic(facts, piece):
            # Places from the first one on, and nothing that tells of leaders: offsets of a new topic look like that.
            new = piece.handover is None and piece.how == BY_PLACE and piece.first_offset == 0
            yield replace(piece, least=0) if new else piece


def _deleted_with_topic(facts: Facts, piece: Piece) -> bool:
    """The topic was made again after they were acknowledged: no leader lost them."""
    starts = [r.at for r in leaderships(facts).get((piece.topic, piece.queue), ()) if r.life and not r.epoch]
    until = piece.until
    return piece.handover is None and until is not None and any(at is not None and at > until for at in starts)


def _of_fate(facts: Facts, fate: Fate, absent: Mapping[Fate, Evidence]) -> Iterator[Piece]:
    changes = handovers(facts).get((fate.topic, fate.queue), ())
    numbers = (fate.messages, fate.messages, fate.messages)
    if fate.overwritten:
        yield _piece(fate, BY_PLACE, _fitting(fate, changes), numbers)
        return
    if fate.stored or fate.offsets > 1:
        return
    behind = next((piece for change in changes for piece in _behind(facts, fate, change)), None)
    if behind is not None:
        yield behind
    elif fate in absent:
        piece = _piece(fate, BY_DUMP, _fitting(fate, changes), numbers)
        yield replace(piece, evidence=(*piece.evidence, absent[fate]))


def _fitting(fate: Fate, changes: Sequence[Handover]) -> Handover | None:
    """The change of leader whose first offset is not above the messages, and whose old log reached them."""
    first = fate.first_offset or 0
    able = [
        change for change in changes
        if change.to_offset <= first and (change.old_end is None or change.old_end.offset > first)
    ]  # fmt: skip
    later = [change for change in able if (change.after.at or 0.0) >= (fate.last_at or 0.0)]
    return next(iter((*later, *reversed(able))), None)


def _behind(facts: Facts, fate: Fate, handover: Handover) -> Iterator[Piece]:
    """Messages from the new leader's first offset on that were acknowledged before, whose places stayed empty.

    The log ended below them when it was last seen; where it reaches further, their places may have been given to
    messages that no ledger notes, or the ledger's clock may be off, so that they count at most.
    """
    first, last = fate.first_offset or 0, fate.last_offset or 0
    before = fate.last_at is not None and handover.after.at is not None and fate.last_at < handover.after.at
    begin, old = handover.to_offset, handover.old_end
    if last < begin or not before or (old is not None and old.offset <= begin):
        return

    def from_(offset: int) -> int:
        """Messages at *offset* or above; where gaps lie between them, as many as may be."""
        return max(0, min(fate.messages, last - max(first, offset) + 1))

    end = last_end(facts, (fate.topic, fate.queue), handover.after.at)
    most, least = from_(begin), 0 if end is None else from_(max(begin, end))
    if least or (handover.back and last < max(known.offset for known in handover.ends)):
        yield replace(_piece(fate, BY_END, handover, (most, least, most)), first_offset=max(first, begin))


def _piece(fate: Fate, how: str, handover: Handover | None, numbers: tuple[int, int, int]) -> Piece:
    return Piece(
        fate.topic, fate.queue, how, *numbers, fate.first_offset, fate.last_offset, fate.first_at, fate.last_at,
        numbers[0] if fate.handled else 0, numbers[0] if fate.offsets > 1 else 0, handover, (fate.first, fate.last),
    )  # fmt: skip


@per_facts
def _missing_from_dumps(facts: Facts, topic: str) -> Mapping[Fate, Evidence]:
    """Acknowledged messages that a dump of their partition should hold and does not, and that dump's last line."""
    if durability.compacted(facts, topic):
        return {}
    stale = {(f.queue, s) for f in facts.fates if f.topic == topic and f.overwritten for s in f.stored}
    dumps = [p for p in facts.parts if p.role == "stored" and p.topic == topic and (p.queue, p.source) not in stale]
    cut: dict[str, int] = {}
    for handover in set_backs(facts, topic):
        queue = handover.after.queue
        cut[queue] = min(handover.to_offset, cut.get(queue, handover.to_offset))
    missing: dict[Fate, Evidence] = {}
    for fate in acknowledged(facts, topic):
        kept = fate.overwritten or fate.stored or fate.offsets > 1
        if not kept and (fate.last_offset or 0) < cut.get(fate.queue, float("inf")):
            dump = next((dump for dump in dumps if _covers(dump, fate)), None)
            if dump is not None:
                missing[fate] = replace(dump.last, why=ways("dump"))
    return missing


def _covers(dump: Part, fate: Fate) -> bool:
    first = dump.first_offset if dump.start is None else dump.start
    if first is None or dump.last_offset is None or dump.taken_at is None or fate.last_offset is None:
        return False
    inside = first <= (fate.first_offset or 0) and fate.last_offset <= dump.last_offset
    told_apart = dump.keys == 0 or fate.keyed
    later = fate.last_at is not None and dump.taken_at > fate.last_at
    return dump.queue == fate.queue and inside and told_apart and later
