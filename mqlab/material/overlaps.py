"""Logs that overlap: rotated while they were gathered, gathered once more when they had grown, or in part.

What the end of one log and the beginning of another one have in common, byte by byte, is read in the later one only;
a log that stands in another one as a whole is not read at all. Only logs of one format are laid side by side whose
moments say that they may overlap. A log is ordered by time, so that the first line of the other one is found without
reading all of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from mqlab.formats import layouts
from mqlab.material import copies, envelopes, remote, streams
from mqlab.material.names import copied_name, digest, rotated_name
from mqlab.sources import Reading, Source

_MANY = 30
"""Logs of one format above which only those of one name are laid side by side: a bound of time."""
_PACKED = 8 << 20
"""Bytes of a compressed log up to which it is unpacked to look for an overlap: a bound of time and space."""
_NEAR = 64 << 10
"""Bytes within which a dated line is looked for."""
_WINDOW = 16 << 20
"""Bytes of a log that are searched, around where its moments say that the other one begins."""
_PROBE = 512
_TRIES = 16
"""Places where the first lines of the other log stand that are tried."""


@dataclass(frozen=True, slots=True)
class _Log:
    """A log that is read here and there. It may be cut short meanwhile, which a file that is mapped must not be."""

    source: Source
    size: int
    begin: int
    """Where its first dated line begins that is surely whole."""
    first: int
    """The moment of that line, in microseconds on the log's own clock."""
    last: int

    def read(self, since: int, until: int) -> bytes:
        """The bytes from *since* to before *until*."""
        return _read(self.source, since, until)

    def blocks(self, since: int, until: int) -> Iterator[bytes]:
        """The same in pieces."""
        for at in range(since, until, streams.BLOCK):
            yield self.read(at, min(until, at + streams.BLOCK))


def cut(sources: Sequence[Source], scratch: Path) -> list[Source]:
    """*sources*, in which a log says from where on (``until``) another one has its lines."""
    logs = [log for source in _candidates(sources) if (log := _opened(source, scratch))]
    logs.sort(key=lambda log: (log.first, -log.size, log.source.path))
    of_format = Counter(log.source.format for log in logs)
    cuts: dict[str, Source] = {}
    for earlier, later in combinations(logs, 2):
        one, other = earlier.source, later.source
        few = one.format == other.format and of_format[one.format] <= _MANY
        if earlier.first <= later.first <= earlier.last and (few or _name(one) == _name(other)):
            found = _cut(earlier, later) or (_cut(later, earlier) if earlier.first == later.first else None)
            known = cuts.get(found.path) if found else None
            if found and (known is None or (found.until or 0) < (known.until or 0)):
                cuts[found.path] = found
    return [cuts.get(source.path, source) for source in sources]


def _candidates(sources: Sequence[Source]) -> list[Source]:
    """Logs on this machine of which another one has the name or the format."""
    own = (s for s in sources if s.reading is Reading.LOG and s.has_content and not s.part)
    logs = [source for source in own if not remote.is_uri(source.location)]
    names, formats = Counter(map(_name, logs)), Counter(source.format for source in logs)
    return [source for source in logs if names[_name(source)] > 1 or 1 < formats[source.format] <= _MANY]


def _name(source: Source) -> str:
    return rotated_name(copied_name(source.name))


def _opened(source: Source, scratch: Path) -> _Log | None:
    """The log, unpacked where it is compressed; None where it is large then, or shows no moments."""
    try:
        if source.packed:
            if source.size > _PACKED:
                return None
            location = scratch / f"plain-{digest(source.path.encode('utf-8', 'surrogatepass'))}"
            _unpack(source, location)
            source = replace(source, location=str(location.absolute()), packed=False)
        size = Path(source.location).stat().st_size
        start, end = _read(source, 0, _NEAR), _read(source, max(0, size - _NEAR), size)
    except streams.BROKEN:
        return None
    first = next(_dated(source, start, start.find(b"\n") + 1), None)
    last = next((wall for line in reversed(end.splitlines()) for _, wall in _dated(source, line, 0)), None)
    return _Log(replace(source, size=size), size, *first, last) if first and last is not None else None


def _read(source: Source, since: int, until: int) -> bytes:
    with Path(source.location).open("rb") as file:
        file.seek(since)
        return file.read(max(0, until - since))


def _unpack(source: Source, target: Path) -> None:
    meter = streams.Meter(source.size, total=1 << 30, ratio=1000)
    with remote.opened(source.location) as stream, target.open("wb") as out:
        for block in streams.blocks(stream):
            meter.add(len(block))
            out.write(block)


def _dated(source: Source, part: bytes, since: int) -> Iterator[tuple[int, int]]:
    """Where dated lines begin in *part* from *since* on, and their moments in microseconds on the log's own clock."""
    at = since
    while 0 <= at < len(part):
        end = part.find(b"\n", at) + 1 or len(part)
        found = layouts.moment(envelopes.peel(part[at:end][:_PROBE].decode("utf-8", "replace"), source.envelope))
        if found:
            yield at, found.wall
        at = end


def _cut(earlier: _Log, later: _Log) -> Source | None:
    """One of two logs without what the other one has as well; None where they do not overlap."""
    for at in _places(earlier, later):
        begin = at - later.begin
        shared = min(earlier.size - begin, later.size)
        if begin < 0 or not _alike(earlier, begin, later, shared):
            continue
        if not _tells(earlier.source, later.source, later.read(0, min(shared, _NEAR))):
            return None
        if shared == later.size:
            return _without(later, 0, earlier)
        before = earlier.read(max(0, begin - 1), begin + _NEAR)
        in_line = begin > 0 and not before.startswith(b"\n")
        return _without(earlier, begin + before.find(b"\n") if in_line else begin, later)
    return None


def _places(earlier: _Log, later: _Log) -> Iterator[int]:
    """Where the first whole lines of the *later* log stand in the *earlier* one."""
    low, high = 0, earlier.size
    while high - low > _NEAR:
        middle = (low + high) // 2
        part = earlier.read(middle, middle + _NEAR)
        moment = next((moment for _, moment in _dated(earlier.source, part, part.find(b"\n") + 1)), None)
        if moment is None:
            break
        low, high = (middle, high) if moment < later.first else (low, middle)
    start = max(0, low - _NEAR)
    part = earlier.read(start, high + _WINDOW)
    lines = later.read(later.begin, later.begin + _PROBE)
    # The end of the earlier log may lie in the midst of these lines.
    for probe in (lines[: lines.rfind(b"\n") + 1] or lines, lines[: lines.find(b"\n") + 1] or lines):
        at = part.find(probe)
        for _ in range(_TRIES):
            if at < 0:
                break
            yield start + at
            at = part.find(probe, at + 1)


def _alike(one: _Log, begin: int, other: _Log, count: int) -> bool:
    """Whether *count* bytes of *one* from *begin* on are the first ones of *other*."""
    pairs = zip(one.blocks(begin, begin + count), other.blocks(0, count), strict=True)
    return all(a == b for a, b in pairs)


def _tells(one: Source, other: Source, shared: bytes) -> bool:
    """Whether what two logs share must be of one process: their names say so, or it has many moments."""
    return copies.rotated_place(one) == copies.rotated_place(other) or copies.has_moments(shared)


def _without(log: _Log, until: int, other: _Log) -> Source:
    """The log read to *until* only, where *other* has the rest."""
    lines = sum(block.count(b"\n") for block in log.blocks(until, log.size))
    torn = log.read(log.size - 1, log.size) != b"\n"
    return replace(log.source, until=until, copy_of=other.source.path, copied=lines + torn)
