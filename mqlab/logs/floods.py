"""Floods: times in which a log grew far faster than before, and the shapes of line that made it grow.

Files that were rotated away from a log belong to it. A flood is what lies within a tenth of the log's loudest minute;
everything before the first such minute is the log's earlier rate. Nothing here depends on what the lines say: that is
for the detector to judge.

The scan cuts a message to 80 characters and masks its numbers then, so that ``attempt=9 error=`` and
``attempt=10 error=`` end in different letters. Of two long shapes one of which begins with the other, they are one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mqlab.facts import Episode
from mqlab.material.names import rotated_name
from mqlab.rows import LineShape, Minute, Volume

_SHARED = 60.0
"""Seconds that two files of one log may have in common: the minute in which it was rotated."""


def logs(volumes: Iterable[Volume]) -> tuple[tuple[Volume, ...], ...]:
    """The files of each log by time, a log that was never rotated alone."""
    names: dict[str, list[Volume]] = {}
    for volume in volumes:
        names.setdefault(rotated_name(volume.source), []).append(volume)
    found: list[tuple[Volume, ...]] = []
    for _, files in sorted(names.items()):
        dated = sorted((v for v in files if v.minutes), key=lambda v: (v.minutes[0].at, v.minutes[-1].at, v.source))
        if all(b.minutes[0].at >= a.minutes[-1].at + 60 - _SHARED for a, b in pairwise(dated)):
            found += [tuple(dated)] if dated else []
        else:
            found += [(v,) for v in dated]
        found += [(v,) for v in files if not v.minutes]
    return tuple(found)


def joined(files: tuple[Volume, ...]) -> Volume:
    """The files of one log as one volume, under the shortest of their names."""
    if len(files) == 1:
        return files[0]
    shapes: tuple[LineShape, ...] = together(s for v in files for s in v.shapes)
    loudest = next((v for v in files if shapes and v.source == shapes[0].first.source), files[-1])
    return replace(
        loudest,
        source=min((v.source for v in files), key=lambda name: (len(name), name)),
        first_at=min((v.first_at for v in files if v.first_at is not None), default=None),
        minutes=summed(m for v in files for m in v.minutes),
        shapes=shapes,
        undated_bytes=sum(v.undated_bytes for v in files),
    )


_CUT = 40
"""Characters from which a shape may have been cut: half of what is kept, for the numbers in it."""


def together(shapes: Iterable[LineShape]) -> tuple[LineShape, ...]:
    """*shapes* of one log, each of them once, the one with the loudest minute first."""
    groups: dict[tuple[str | None, str], list[LineShape]] = {}
    for shape in sorted(shapes, key=lambda s: (-len(s.shape), s.shape, s.level or "", s.first.source)):
        groups.setdefault((shape.level, _whole(shape, groups)), []).append(shape)
    return tuple(sorted((_one(name, same) for (_, name), same in groups.items()), key=_loudest))


def _whole(shape: LineShape, known: Iterable[tuple[str | None, str]]) -> str:
    same = (name for level, name in known if level == shape.level and _is_cut(shape.shape, name))
    return min(same, default=shape.shape)


def _is_cut(shape: str, whole: str) -> bool:
    return shape == whole or (len(shape) >= _CUT and whole.startswith(shape))


def _one(name: str, same: list[LineShape]) -> LineShape:
    first = min(same, key=lambda s: (s.first_at is None, s.first_at or 0.0, s.first.source, s.first.line or 0))
    return replace(first, shape=name, minutes=summed(m for s in same for m in s.minutes))


def summed(minutes: Iterable[Minute]) -> tuple[Minute, ...]:
    """One entry a minute, by time."""
    counts: dict[float, list[int]] = defaultdict(lambda: [0, 0])
    for minute in minutes:
        counts[minute.at][0] += minute.lines
        counts[minute.at][1] += minute.bytes
    return tuple(Minute(at, lines, size) for at, (lines, size) in sorted(counts.items()))


def _loudest(shape: LineShape) -> tuple[int, str, int]:
    return (-max((m.bytes for m in shape.minutes), default=0), shape.first.source, shape.first.line or 0)


FAR = 10
"""Times the earlier rate that is far above it: load and log levels change a log's rate by a few times; a loop is held
back by nothing but the disk, and is tens to thousands of times as loud. Judgement, no default behind it."""
FEW = 3
"""Shapes that one fault prints at most: the attempt, its failure, the next try."""
NEARLY_ALL = 0.9
"""Share of a flood that these shapes carry: what the log prints otherwise is a tenth at most, since it is ``FAR``
below."""
MUCH_BYTES, MUCH_A_MINUTE = 10_000_000, 1_000_000
"""Volume that matters: a file of Log4j or Logback turns over at 10 MB by default (maxFileSize), so a flood of as much
rotates away what stood before it; at a tenth of that a minute it does so every ten minutes."""
_VISIBLE = 0.01
"""Share from which a shape is named beside others: the resolution of the percentages that are shown."""
_PAUSE = 300.0
"""Quiet seconds between two spells of a flood: back-offs of one spell wait less (paho Python 120 s, Java 128 s, Kafka's
delivery.timeout.ms 120 s)."""
_SPELL = 0.1
"""Part of the largest spell below which another one is a remark, such as the burst of a start: the factor of FAR."""
_EARLIER = 30.0
"""Seconds that an earlier rate must cover: a flood of the least size that matters writes half a megabyte in them."""
_MINUTE = 60.0
"""Seconds of one row of a volume."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What the log wrote before the flood."""

    seconds: float
    bytes: int
    alike: float
    """How far it is made of the flood's shapes in the flood's proportions: 1 where nothing but the rate changed."""

    @property
    def a_minute(self) -> float:
        """Bytes per minute."""
        return self.bytes * _MINUTE / self.seconds


@dataclass(frozen=True, slots=True)
class Flood:
    """The loudest time of one log."""

    log: Volume
    started_at: float
    ended_at: float | None
    """Its last line where that is known, else the end of its last minute; None where the log ends in it."""
    minutes: tuple[Minute, ...]
    spells: int
    shapes: tuple[LineShape, ...]
    """Those that carry most of it, at most three, the largest first."""
    share: float
    """Part of the flood's bytes that they carry."""
    earlier: Earlier | None
    """None where the log begins in the flood."""

    @property
    def bytes(self) -> int:
        """All bytes of the flood."""
        return sum(m.bytes for m in self.minutes)

    @property
    def seconds(self) -> float:
        """How long it lasted, quiet times between its spells left out."""
        last = self.minutes[-1].at + _MINUTE
        outside = max(0.0, self.started_at - self.minutes[0].at) + max(0.0, last - (self.ended_at or last))
        return max(1.0, len(self.minutes) * _MINUTE - outside)

    @property
    def a_minute(self) -> float:
        """Bytes per minute."""
        return self.bytes * _MINUTE / max(self.seconds, _MINUTE)

    @property
    def shape_bytes(self) -> int:
        """Bytes that its shapes carry in the whole log."""
        return sum(s.bytes for s in self.shapes)

    @property
    def matters(self) -> bool:
        """True where its volume does harm by itself; one loud minute among others is no rate."""
        return self.bytes >= MUCH_BYTES or self.a_minute >= MUCH_A_MINUTE

    @property
    def far_above(self) -> bool:
        """True where its rate is far above the log's own earlier one."""
        return self.earlier is not None and self.a_minute >= FAR * self.earlier.a_minute

    @property
    def sudden(self) -> bool:
        """True where half of its usual rate is reached within three minutes: load grows more slowly."""
        usual = sorted(m.bytes for m in self.minutes)[len(self.minutes) // 2]
        first = self.minutes[0].at
        return max(m.bytes for m in self.minutes if m.at - first <= 2 * _MINUTE) * 2 >= usual


def exact(found: Flood, lines: Iterable[Episode]) -> Flood:
    """*found* that ends with the last of the *lines* in its last minute that are of one of its shapes."""
    every = [one for one in lines if one.source == found.log.source]
    own = {(shape.first.source, shape.first.line) for shape in found.shapes}
    kinds = {one.kind for one in every if (one.first.source, one.first.line) in own}
    last = found.minutes[-1].at
    ends = [one.last_at for one in every if one.kind in kinds and one.last_at is not None]
    end = max((at for at in ends if last <= at < last + _MINUTE), default=None)
    return found if end is None or found.ended_at is None else replace(found, ended_at=end)


def flood(log: Volume) -> Flood | None:
    """The flood of a log with dated lines; None where it has none."""
    if not log.minutes:
        return None
    loudest = max(m.bytes for m in log.minutes)
    loud = [m for m in log.minutes if m.bytes * FAR >= loudest]
    every = list(_spells(loud))
    largest = max(sum(m.bytes for m in spell) for spell in every)
    spells = [spell for spell in every if sum(m.bytes for m in spell) >= _SPELL * largest]
    minutes = tuple(m for spell in spells for m in spell)
    shapes, share = _carrying(log.shapes, minutes)
    began, last = _began(log, shapes, minutes[0].at), minutes[-1].at
    ended = None if last == log.minutes[-1].at else last + _MINUTE
    earlier = _earlier(log, shapes, began, minutes)
    return Flood(log, began, ended, minutes, len(spells), shapes, share, earlier)


def _spells(loud: Sequence[Minute]) -> Iterator[list[Minute]]:
    spell: list[Minute] = []
    for minute in loud:
        if spell and minute.at - spell[-1].at > _PAUSE:
            yield spell
            spell = []
        spell.append(minute)
    yield spell


def _carrying(shapes: Sequence[LineShape], minutes: Sequence[Minute]) -> tuple[tuple[LineShape, ...], float]:
    """The shapes that carry most of these minutes, and their share of them."""
    within, whole = {m.at for m in minutes}, sum(m.bytes for m in minutes)
    carried = sorted(((sum(m.bytes for m in s.minutes if m.at in within), s) for s in shapes), key=lambda c: -c[0])
    chosen = [(size, shape) for n, (size, shape) in enumerate(carried[:FEW]) if n == 0 or size >= _VISIBLE * whole]
    return tuple(shape for _, shape in chosen), sum(size for size, _ in chosen) / max(1, whole)


def _began(log: Volume, shapes: Sequence[LineShape], minute: float) -> float:
    """Moment of the first line of a shape that is new with the flood, else the first loud minute.

    A flood that begins late in a minute leaves that minute quiet, so its first line may stand in the one before.
    """
    first = min((s.first_at for s in shapes if s.first_at is not None and s.first_at >= minute - _MINUTE), default=None)
    start = minute if first is None or first >= minute + _MINUTE else first
    return max(start, log.first_at) if log.first_at is not None else start


def _earlier(log: Volume, shapes: Sequence[LineShape], began: float, minutes: Sequence[Minute]) -> Earlier | None:
    """What stands in whole minutes before the flood; where these are too few, all of shapes that are older than it.

    Of the minute in which it begins, only the shapes tell what came before.
    """
    minute = began // _MINUTE * _MINUTE
    start = log.minutes[0].at if log.first_at is None else log.first_at
    if began - start < _EARLIER:
        return None
    before = [m for m in log.minutes if m.at < minute]
    alike = sum(min(_share(s, log, before), _share(s, log, minutes)) for s in shapes)
    size = sum(m.bytes for m in before)
    if minute - start >= _EARLIER / 2:
        return Earlier(minute - start, size, alike)
    within = sum(m.bytes for m in log.minutes if m.at == minute)
    new = [s for s in log.shapes if s in shapes or (s.first_at is not None and s.first_at >= began)]
    return Earlier(began - start, size + within - sum(m.bytes for s in new for m in s.minutes if m.at == minute), alike)


def _share(shape: LineShape, log: Volume, minutes: Sequence[Minute]) -> float:
    """Part of these minutes of the log that the shape carries."""
    within = {m.at for m in minutes}
    whole = sum(m.bytes for m in log.minutes if m.at in within)
    return sum(m.bytes for m in shape.minutes if m.at in within) / whole if whole else 0.0
