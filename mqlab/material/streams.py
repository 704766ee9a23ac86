"""Compressed files and files in UTF-16, read as streams: what they are, what is in them, and whether they are whole."""

from __future__ import annotations

import bz2
import codecs
import io
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

import zstandard
from isal import igzip_lib

from mqlab.errors import WorkspaceError

_DAMAGED_GZIP = cast("type[Exception]", igzip_lib.IsalError)
BLOCK = 1 << 20
BROKEN: tuple[type[Exception], ...] = (
    EOFError,
    OSError,
    zlib.error,
    lzma.LZMAError,
    zstandard.ZstdError,
    ValueError,
    _DAMAGED_GZIP,
)
"""What reading a damaged stream raises."""

_MAGIC = (
    (b"\x1f\x8b", "gz"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zst"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
)
_SPARE = 100 << 20
_SIP = 4096
"""Compressed bytes taken at once: a bomb of zstd makes 128 MB of them, and no more before it is noticed."""
_LONGEST_MAGIC = max(len(magic) for magic, _ in _MAGIC)


def kind_of(start: bytes) -> str | None:
    """``gz``, ``bz2``, ``xz``, ``zst``, ``zip`` or ``tar`` by the first 512 bytes; None for anything else."""
    if start[257:262] == b"ustar":
        return "tar"
    return next((kind for magic, kind in _MAGIC if start.startswith(magic)), None)


def opened(path: Path) -> IO[bytes]:
    """The file's content as a stream, decompressed where it is compressed."""
    with path.open("rb") as raw:
        kind = kind_of(raw.read(512))
    return cast(IO[bytes], _Packed(path, kind)) if kind and kind in _MEMBERS else path.open("rb")


def unpacked(raw: IO[bytes]) -> IO[bytes]:
    """What is in a file that is open at its beginning, decompressed where it is compressed."""
    kind = kind_of(raw.read(512))
    raw.seek(0)
    return cast(IO[bytes], _Packed(raw, kind)) if kind and kind in _MEMBERS else raw


def blocks(stream: IO[bytes], size: int = BLOCK) -> Iterator[bytes]:
    """The stream's content in pieces; what stands before damage is handed out before the error is raised."""
    read = getattr(stream, "read1", stream.read)
    while block := read(size):
        yield block


class Sound(io.RawIOBase):
    """The part of *stream* before its damage, as if it were all: readers of archives drop what they hold then."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.damage: Exception | None = None

    def read(self, size: int = -1, /) -> bytes:
        """The next *size* bytes, fewer at the end."""
        try:
            return b"" if self.damage else self._stream.read(size)
        except BROKEN as error:
            self.damage = error
            return b""


class GrowthError(ValueError):
    """A stream or archive grows beyond what a log can."""


class Meter:
    """Counts unpacked bytes and refuses what only a bomb reaches."""

    def __init__(self, packed: int, *, total: int, ratio: int) -> None:
        self._most = min(total, max(_SPARE, packed * ratio))
        self.bytes = 0

    def add(self, count: int) -> None:
        """Count *count* bytes more.

        Raises:
            GrowthError: more than the limit, or more than *ratio* times the packed size beyond 100 MB.
        """
        self.bytes += count
        if self.bytes > self._most:
            raise GrowthError(f"it grows beyond {self._most:,} bytes when unpacked")


class _Zstd:
    """A decompressor of one zstd frame that is used as those of the standard library are."""

    def __init__(self) -> None:
        self._frame = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()

    @property
    def eof(self) -> bool:
        """The frame has ended."""
        return self._frame.eof

    @property
    def unused_data(self) -> bytes:
        """What was given and stands behind its end."""
        return self._frame.unused_data

    def decompress(self, data: bytes) -> bytes:
        """What comes out of *data*."""
        return bytes(self._frame.decompress(data))


_MEMBERS: Mapping[str, Callable[[], Any]] = {
    "gz": lambda: igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP),
    "bz2": bz2.BZ2Decompressor,
    "xz": lzma.LZMADecompressor,
    "zst": _Zstd,
}
"""By kind, what decompresses one member, block of frames, or frame."""


class _Packed(io.BufferedIOBase):
    """The content of a compressed file of one or more members, up to where it is cut, damaged or something else.

    All that can be decompressed is handed out before the error is raised. A file may be padded with zeros.
    """

    def __init__(self, place: Path | IO[bytes], kind: str) -> None:
        self._raw = place.open("rb") if isinstance(place, Path) else place
        self._kind = kind
        self._begin, self._at = 0, 0
        """Where the member begins, and where the file is read next."""
        self._member = _MEMBERS[kind]()
        self._given = 0
        """Bytes that came out of the member."""
        self._ready, self._place = b"", 0
        self._wrong: Exception | None = None

    def readable(self) -> bool:
        """True: it is a source."""
        return True

    def read1(self, size: int = -1, /) -> bytes:
        """The next bytes, at most *size*; none at the end."""
        self._fill()
        begin = self._place
        self._place = len(self._ready) if size < 0 else min(len(self._ready), begin + size)
        return self._ready[begin : self._place]

    def read(self, size: int | None = -1, /) -> bytes:
        """The next *size* bytes, fewer at the end or before damage."""
        most = -1 if size is None else size
        return self._joined(lambda got: self.read1(most if most < 0 else most - got), lambda got, _: got == most)

    def readline(self, size: int | None = -1, /) -> bytes:
        """The rest of the line, at most *size* bytes of it."""
        most = -1 if size is None else size

        def some(got: int) -> bytes:
            self._fill()
            end = self._ready.find(b"\n", self._place) + 1
            room = end - self._place if end else BLOCK
            return self.read1(room if most < 0 else min(room, most - got))

        return self._joined(some, lambda got, part: got == most or part.endswith(b"\n"))

    def close(self) -> None:
        """Close the file below."""
        self._raw.close()
        super().close()

    def _joined(self, more: Callable[[int], bytes], is_enough: Callable[[int, bytes], bool]) -> bytes:
        parts: list[bytes] = []
        got = 0
        try:
            while not is_enough(got, parts[-1] if parts else b"") and (part := more(got)):
                parts.append(part)
                got += len(part)
        except BROKEN:
            if not parts:
                raise
        return b"".join(parts)

    def _fill(self) -> None:
        """Have something ready, unless this is the end."""
        while self._place >= len(self._ready) and not self._wrong and self._advance():
            pass
        if self._wrong and self._place >= len(self._ready):
            raise self._wrong

    def _advance(self) -> bool:
        """Decompress some more; False at the end."""
        chunk = self._next_member() if self._member.eof else self._taken(_SIP)
        if not chunk:
            if not self._member.eof:
                self._wrong = EOFError("it is cut short")
            return False
        try:
            out = self._member.decompress(chunk)
        except BROKEN as error:
            out, self._wrong = self._salvaged(chunk), error
        self._ready, self._place, self._given = out, 0, self._given + len(out)
        return True

    def _taken(self, size: int) -> bytes:
        chunk = self._raw.read(size)
        self._at += len(chunk)
        return chunk

    def _next_member(self) -> bytes:
        """The begin of the next member; nothing where none follows, and then what does is looked at."""
        rest: bytes = self._member.unused_data
        while len(rest) < _LONGEST_MAGIC and (more := self._taken(_SIP)):
            rest += more
        if kind_of(rest) == self._kind:
            self._begin, self._member, self._given = self._at - len(rest), _MEMBERS[self._kind](), 0
            return rest
        behind, is_padding = len(rest), not rest.strip(b"\0")
        while more := self._taken(BLOCK):
            behind, is_padding = behind + len(more), is_padding and not more.strip(b"\0")
        if not is_padding:
            self._wrong = EOFError(f"{behind:,} bytes after its end do not belong to it and were left out")
        return b""

    def _salvaged(self, chunk: bytes) -> bytes:
        """What comes out of the *chunk* in which the damage is, up to there: the member once more, byte by byte."""
        if not self._raw.seekable():
            return b""
        self._raw.seek(self._begin)
        member, out, seen = _MEMBERS[self._kind](), bytearray(), 0
        sound = self._at - len(chunk) - self._begin
        pieces = (self._raw.read(min(_SIP, sound - done)) for done in range(0, sound, _SIP))
        with suppress(*BROKEN):
            for piece in chain(pieces, (chunk[place : place + 1] for place in range(len(chunk)))):
                part = member.decompress(piece)
                out += part[max(0, self._given - seen) :]
                seen += len(part)
        return bytes(out)


_LIMITS = {"total": 1 << 40, "ratio": 1000}


def transcoded(file: Path, target: Path, codec: str) -> str | None:
    """Write *file*, decompressed where it is compressed, from *codec* as UTF-8 to *target*; what is wrong with it.

    Raises:
        GrowthError: the content grows beyond what a log can.
        WorkspaceError: *target* cannot be written.
    """
    decoder = codecs.getincrementaldecoder(codec)("replace")
    meter = Meter(file.stat().st_size, **_LIMITS)
    try:
        with target.open("wb") as out, opened(file) as stream:
            for block in blocks(stream):
                meter.add(len(block))
                _write(out, decoder.decode(block).encode(), target)
    except GrowthError:
        raise
    except BROKEN as error:
        return f"Its end is missing or damaged ({error}); {meter.bytes:,} bytes before that were read."
    return None


def _write(out: IO[bytes], data: bytes, target: Path) -> None:
    try:
        out.write(data)
    except OSError as error:
        raise WorkspaceError(str(target), str(error)) from error
