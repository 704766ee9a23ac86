"""Acknowledged messages that are gone from the log of a partition.

Parts of a loss in the log: acknowledged messages of one partition that are gone, counted in one way.

Acknowledged messages that a dump of their partition should hold and does not.

A dump counts where it was made after they were acknowledged, from its first offset to its last. Topics that are
compacted lose old values by intent. A dump that holds messages whose place was given to others is that of a broker
whose log had not been cut yet; behind a place from which a new leader began, no dump is trusted.

Acknowledged ids that are gone from the log of a partition, by their places, by its end and by dumps of it.

What the log of a partition lost: message by message where ledgers tell, else as an interval between offsets.

By ids: another id was acknowledged later at the same place, or the log ended below it after a change of leader, or a
dump that covers its offset does not hold it. Without ids: the old leader's log end less the new leader's first offset
at most; what metrics or consumers had seen beyond that at least.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mqlab.delivery import durability
from mqlab.delivery.elections import Handover, handovers, set_backs
from mqlab.delivery.leaders import last_end, leaderships
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.rows import Fate, Part

BY_PLACE = "ids whose place was given to another one"
BY_END = "ids at or behind the end at which the new leader began"
BY_DUMP = "ids that a dump of their offsets does not hold"
BY_OFFSETS = "offsets of both leaders"


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
def missing_from_dumps(facts: Facts, topic: str) -> Mapping[Fate, Evidence]:
    """The messages, and the dump's line after which they should stand."""
    if durability.compacted(facts, topic):
        return {}
    dumps = [p for p in facts.parts if p.role == "stored" and p.topic == topic and p.taken_at is not None]
    stale = {(f.queue, s) for f in facts.fates if f.topic == topic and f.overwritten for s in f.stored}
    trusted = [d for d in dumps if (d.queue, d.source) not in stale]
    found: dict[Fate, Evidence] = {}
    for fate in facts.fates:
        if fate.topic == topic and fate.acked and not (fate.overwritten or fate.stored or fate.offsets > 1):
            dump = _covering(facts, fate, trusted)
            if dump is not None:
                why = "the dump reaches beyond them and does not hold them"
                found[fate] = Evidence(dump.last.source, dump.last.line, dump.last.text, why)
    return found


def _covering(facts: Facts, fate: Fate, dumps: Sequence[Part]) -> Part | None:
    changes = handovers(facts).get((fate.topic, fate.queue), ())
    limit = min((one.to_offset for one in changes if one.back), default=None)
    if fate.first_offset is None or fate.last_offset is None or fate.last_at is None:
        return None
    if limit is not None and fate.last_offset >= limit:
        return None
    own = [d for d in dumps if d.queue == fate.queue and (d.keys == 0 or fate.keyed)]
    return next((d for d in own if _covers(d, fate)), None)


def _covers(dump: Part, fate: Fate) -> bool:
    first = dump.first_offset if dump.start is None else dump.start
    if first is None or dump.last_offset is None or dump.taken_at is None:
        return False
    inside = first <= (fate.first_offset or 0) and (fate.last_offset or 0) <= dump.last_offset
    return inside and dump.taken_at > (fate.last_at or 0.0)


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


@per_facts
def pieces(facts: Facts, topic: str) -> tuple[Piece, ...]:
    """What was lost of each partition of *topic*, by partition and time."""
    by_id = list(by_ids(facts, topic))
    by_offsets = list(_by_offsets(facts, topic))
    cut_short = {piece.handover for piece in by_offsets}
    found = [piece for piece in by_id if piece.handover not in cut_short]
    found += [_with_ids(piece, [p for p in by_id if p.handover == piece.handover]) for piece in by_offsets]
    return tuple(sorted(found, key=lambda p: (p.queue, p.since or 0.0, p.first_offset or 0, p.how)))


@per_facts
def counted_by_ids(facts: Facts, topic: str, one: Handover) -> bool:
    """A ledger of acknowledged ids and their places covers the end of the old leadership: it tells what was lost."""
    return any(_covers_loss(part, one) for part in _acked_parts(facts, topic))


def _covers_loss(part: Part, one: Handover) -> bool:
    if part.first_at is None or part.last_at is None or one.after.at is None or part.first_offset is None:
        return False
    return part.first_at < one.after.at < part.last_at


def _acked_parts(facts: Facts, topic: str) -> Sequence[Part]:
    return [p for p in facts.parts if p.role == "acked" and p.topic == topic]


def _by_offsets(facts: Facts, topic: str) -> Iterator[Piece]:
    for one in set_backs(facts, topic):
        if not counted_by_ids(facts, topic, one):
            yield _between(facts, one)


def _with_ids(piece: Piece, known: Sequence[Piece]) -> Piece:
    """The interval of a change of leader, of which a ledger that ends too early tells a part."""
    told = sum(p.records for p in known)
    return replace(
        piece,
        least=max(piece.least, told),
        records=max(piece.records, told),
        most=max(piece.most, told),
        evidence=tuple(dict.fromkeys((*piece.evidence, *(e for p in known for e in p.evidence)))),
    )


def _between(facts: Facts, one: Handover) -> Piece:
    """The tail that the new leader lacked, which was acknowledged at most.

    At least it was what a snapshot had shown to consumers, and with acks=1 what the leader had been seen to have.
    """
    acks = durability.acks(facts, one.after.topic, one.before.at)
    known = (one.passed, one.seen_end if acks is not None and acks.leader_only else None)
    seen = [end.offset - one.to_offset for end in known if end is not None]
    most = one.most or 0
    least = min(most, max((n for n in seen if n > 0), default=0))
    return Piece(
        one.after.topic, one.after.queue, BY_OFFSETS, most, least, most, one.to_offset, one.to_offset + most - 1,
        one.before.at, one.after.at, one.visible, 0, one, tuple(end.evidence for end in one.ends),
    )  # fmt: skip
