"""Compressed files and files in UTF-16, read as streams: what they are, what is in them, and whether they are whole."""

from __future__ import annotations

import bz2
import codecs
import io
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, cast

import zstandard
from isal import igzip, igzip_lib

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
"""Bytes of zstd taken at once: a bomb makes 128 MB of them, and no more before it is noticed."""


def kind_of(start: bytes) -> str | None:
    """``gz``, ``bz2``, ``xz``, ``zst``, ``zip`` or ``tar`` by the first 512 bytes; None for anything else."""
    if start[257:262] == b"ustar":
        return "tar"
    return next((kind for magic, kind in _MAGIC if start.startswith(magic)), None)


def opened(path: Path) -> IO[bytes]:
    """The file's content as a stream, decompressed where it is compressed."""
    with path.open("rb") as raw:
        kind = kind_of(raw.read(512))
    return path.open("rb") if kind not in _READERS else _READERS[kind](path)


def unpacked(raw: IO[bytes]) -> IO[bytes]:
    """What is in a file that is open at its beginning, decompressed where it is compressed."""
    kind = kind_of(raw.read(512))
    raw.seek(0)
    return raw if kind not in _READERS else _READERS[kind](raw)


def blocks(stream: IO[bytes]) -> Iterator[bytes]:
    """The stream's content in pieces; what stands before damage is handed out before the error is raised."""
    read = getattr(stream, "read1", stream.read)
    while block := read(BLOCK):
        yield block


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


class _Zst(io.RawIOBase):
    """A zstd stream of one or more frames that raises EOFError where its last frame is cut."""

    def __init__(self, place: Path | IO[bytes]) -> None:
        self._raw = place.open("rb") if isinstance(place, Path) else place
        self._frame = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()
        self._ready = b""

    def readable(self) -> bool:
        """True: it is a source."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill *buffer* with what comes next; 0 at the end."""
        view = memoryview(cast("bytearray", buffer))
        while not self._ready and self._advance():
            pass
        count = min(len(view), len(self._ready))
        view[:count], self._ready = self._ready[:count], self._ready[count:]
        return count

    def close(self) -> None:
        """Close the file below."""
        self._raw.close()
        super().close()

    def _advance(self) -> bool:
        left = self._frame.unused_data if self._frame.eof else b""
        chunk = left or self._raw.read(_SIP)
        if not chunk:
            if not self._frame.eof:
                raise EOFError("the last frame is cut short")
            return False
        if self._frame.eof:
            self._frame = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()
        self._ready = self._frame.decompress(chunk)
        return True


_READERS: Mapping[str | None, Callable[[Any], IO[bytes]]] = {
    "gz": igzip.open,
    "bz2": bz2.open,
    "xz": lzma.open,
    "zst": lambda place: io.BufferedReader(_Zst(place)),
}
"""By kind, what reads a path or an open file; a path's file is closed with it."""


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
