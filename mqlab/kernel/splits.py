"""What one task reads: a source, or a piece of a large one, as a row that the driver hands to the workers.

Pieces have a fixed size, whatever the number of cores, so that the same material gives the same rows everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab.sources import Envelope, Reading, Source

SIZE = 64 << 20
"""Bytes of one piece."""
FLOODED = 32 << 20
"""Bytes of a file from which floods of kept lines are bounded; less can be kept as it is."""
WHOLE = -1


@dataclass(frozen=True, slots=True)
class Split:
    """A piece of one source: its lines that begin from ``start`` on and before ``end``."""

    source: str
    """``Source.link``."""
    number: int
    """Place among the pieces of the source."""
    location: str
    start: int
    end: int
    """``WHOLE`` for all that follows."""
    format: str
    reading: str
    envelope: str
    name: str
    snapshot_at: int | None
    """Microseconds since 1970."""
    layout: str | None
    large: bool
    """Floods of kept lines are bounded."""
    size: int
    """Bytes, about."""
    packed: bool = False
    """It is compressed, and so read from its beginning only."""
    part: str | None = None
    """Where the lines of a part of the file lie, made whole."""
    day: str | None = None
    """ISO date of headings that show an hour alone."""


def splits(sources: Sequence[Source]) -> Iterator[Split]:
    """The pieces of all *sources* that have content."""
    for source in sources:
        if source.has_content:
            for number, (start, end, reading) in enumerate(_pieces(source)):
                yield _split(source, number, start, end, reading)


def _pieces(source: Source) -> Iterator[tuple[int, int, Reading]]:
    """Begin, end, and how it is read: what another source has, too, is counted only."""
    if source.reading is not Reading.LOG or source.packed or (source.until is None and source.size <= SIZE):
        yield 0, WHOLE, source.reading
        return
    own, end = (source.size, WHOLE) if source.until is None else (source.until, source.until)
    starts = range(0, own, SIZE)
    yield from ((start, end if start == starts[-1] else start + SIZE, Reading.LOG) for start in starts)
    if source.until is not None:
        yield source.until, WHOLE, Reading.COUNT


def _split(source: Source, number: int, start: int, end: int, reading: Reading) -> Split:
    return Split(
        source=source.link,
        number=number,
        location=source.location,
        start=start,
        end=end,
        format=source.format,
        reading=reading.value,
        envelope=source.envelope.value if source.reading is not Reading.DOCUMENT else Envelope.NONE.value,
        name=source.told_name,
        snapshot_at=None if source.snapshot_at is None else round(source.snapshot_at * 1000) * 1000,
        day=source.day,
        layout=source.layout,
        large=source.unpacked >= FLOODED,
        size=(source.size if end == WHOLE else end) - start,
        packed=source.packed,
        part=source.part,
    )
