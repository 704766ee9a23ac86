"""The bytes of a split as pieces of whole lines, from a stream; a line of any length takes bounded memory."""

from __future__ import annotations

import codecs
import errno
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO

from mqlab.kernel.splits import WHOLE, Split
from mqlab.material import remote, streams, wholes

BLOCK = 16 << 20
"""Bytes of a piece, about."""
HUGE = 1 << 20
"""Bytes from which a line that fills a piece alone is looked at no further; it is counted whole."""
_SIP = 64 << 10
"""Bytes taken at once out of a compressed file: where it is damaged, those of the last sip are lost."""
BEFORE, AFTER = 64 << 10, 32 << 10
"""Bytes on either side of a split that are looked at for what its lines belong to: a record, a block of settings."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some whole lines, one after the other."""

    data: bytes
    cut: int = 0
    """Bytes of its only line that were passed over."""
    own: bool = True
    """They belong to the split; others are only looked at."""
    wholes: Sequence[wholes.Whole] = ()
    """Its lines, where they were made whole."""


@dataclass(slots=True)
class Pieces:
    """The lines of *split*, with what stands before and behind them; what is damaged ends it."""

    split: Split
    damage: str | None = None
    """Why there is no more, where that is not the end."""
    is_corrupt: bool = False
    """It is not that it ends early: what it was packed from is another content, and nobody knows from where on."""

    def __iter__(self) -> Iterator[Piece]:
        for number, piece in enumerate(self._read()):
            is_first = number == 0 and self.split.start == 0
            yield replace(piece, data=piece.data.removeprefix(codecs.BOM_UTF8)) if is_first else piece

    def joined(self) -> bytes:
        """All bytes, as far as they can be read."""
        return b"".join(
            "".join(f"{one.inner}\n" for one in piece.wholes).encode("utf-8", "replace") or piece.data for piece in self
        )

    def _read(self) -> Iterator[Piece]:
        if self.split.part:
            made = wholes.load(self.split.part)
            yield Piece("".join(f"{one.text}\n" for one in made).encode("utf-8", "replace"), wholes=made)
            return
        try:
            with remote.opened(self.split.location) as raw:
                stream = _Stream(raw, self.split)
                whole = self.split.start == 0 and self.split.end == WHOLE
                yield from _lines(stream, None) if whole else _part(stream, self.split)
                self.damage, self.is_corrupt = stream.damage, stream.is_corrupt
        except streams.BROKEN as error:
            self.damage = f"It cannot be read: {error}."


class _Stream:
    """A stream that ends where it is damaged, or where it grows beyond what a log can, and then says so."""

    def __init__(self, raw: IO[bytes], split: Split) -> None:
        self._raw, self._read = raw, getattr(raw, "read1", raw.read)
        self._most = _SIP if split.packed else BLOCK
        self._meter = streams.Meter(split.size, total=1 << 40, ratio=1000) if split.packed else None
        self._bytes = 0
        self.damage: str | None = None
        self.is_corrupt = False

    def seek(self, place: int) -> None:
        """Go on from *place*."""
        self._raw.seek(place)

    def read(self, most: int) -> bytes:
        """The next *most* bytes, fewer at the end."""
        parts, left = [], most
        while left and (part := self._taken(self._read, min(left, self._most))):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def rest_of_line(self) -> tuple[bytes, int]:
        """What remains of the line that it stands in, as far as it is looked at, and how many bytes it has."""
        found, size = b"", self._hole()
        while part := self._taken(self._raw.readline, BLOCK):
            size += len(part)
            found = found if len(found) >= BLOCK else found + part
            if part.endswith(b"\n"):
                break
            size += self._hole()
        return found, size

    def _hole(self) -> int:
        """Pass over the zeros for which a sparse file holds no data; how many those are."""
        if self._meter is not None or not hasattr(os, "SEEK_DATA"):
            return 0
        try:
            here, file = self._raw.tell(), self._raw.fileno()
        except (AttributeError, OSError):
            return 0
        place = os.lseek(file, 0, os.SEEK_CUR)
        try:
            data = os.lseek(file, here, os.SEEK_DATA)
        except OSError as error:
            data = os.fstat(file).st_size if error.errno == errno.ENXIO else here
        os.lseek(file, place, os.SEEK_SET)
        if data <= here:
            return 0
        self._raw.seek(data)
        return data - here

    def _taken(self, read: Callable[[int], bytes], most: int) -> bytes:
        if self.damage:
            return b""
        try:
            part = read(most)
            if self._meter:
                self._meter.add(len(part))
        except streams.GrowthError as error:
            self.damage = f"Read no further: {error}."
        except streams.BROKEN as error:
            self.is_corrupt = self._meter is not None and not isinstance(error, EOFError)
            self.damage = f"Its end is missing or damaged ({error}); {self._bytes:,} bytes before that were read."
        else:
            self._bytes += len(part)
            return part
        return b""


def _part(stream: _Stream, split: Split) -> Iterator[Piece]:
    back = max(0, split.start - BEFORE)
    stream.seek(back)
    before = stream.read(split.start - back)
    rest, size = (b"", 0) if split.start == 0 or before.endswith(b"\n") else stream.rest_of_line()
    earlier = before if back == 0 else before.partition(b"\n")[2]
    if earlier:
        yield Piece(earlier + rest, own=False)
    at = split.start + size
    if split.end != WHOLE and at >= split.end:
        return
    yield from _lines(stream, None if split.end == WHOLE else split.end - at)
    behind = b"" if split.end == WHOLE else stream.read(AFTER)
    if b"\n" in behind:
        yield Piece(behind[: behind.rindex(b"\n") + 1], own=False)


def _lines(stream: _Stream, most: int | None) -> Iterator[Piece]:
    """Whole lines from here on; those that begin within the next *most* bytes where that is told."""
    open_line, left = b"", most
    while block := stream.read(BLOCK if left is None else min(BLOCK, left)):
        left = None if left is None else left - len(block)
        data = open_line + block
        end = data.rfind(b"\n") + 1
        if end:
            yield Piece(data[:end])
        open_line = data[end:]
        if open_line and (left == 0 or len(open_line) >= BLOCK):
            tail, size = stream.rest_of_line()
            left = None if left is None else max(0, left - size)
            kept = open_line + tail
            yield Piece(kept, size - len(tail)) if len(kept) < BLOCK else _cut(kept, size - len(tail))
            open_line = b""
    if open_line:
        yield Piece(open_line)


def _cut(line: bytes, missing: int) -> Piece:
    """A line that is looked at only as far as ``HUGE``."""
    near = line[:HUGE]
    return Piece(near + b"\n", missing + len(line) - len(near) - 1)
