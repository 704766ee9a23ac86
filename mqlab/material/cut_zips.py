"""Zip archives whose end is missing, and with it the list of their members: read from the begin of each one.

A member begins with a local header: signature, version, flags, method, time, CRC, both sizes, lengths of name and
extra fields. Where the lowest bit but two of the flags is set, the sizes stand behind the content, and only what is
deflated says where it ends.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_HEADER = struct.Struct("<4sHHHHHIIIHH")
_SIGNATURE = b"PK\x03\x04"
_DESCRIPTORS = (b"PK\x07\x08", 16)
"""What begins the sizes behind the content, where it is there at all, and how long it is."""
_ENCRYPTED, _SIZES_BEHIND, _UTF8 = 1, 8, 1 << 11
_STORED, _DEFLATED = 0, 8
_BLOCK = 64 << 10


@dataclass(frozen=True, slots=True)
class Begun:
    """One member, as far as it is there."""

    info: zipfile.ZipInfo
    content: IO[bytes] | None
    """To be read to its end before the next member is asked for; None where it cannot be."""


def begun(archive: Path) -> Iterator[Begun]:
    """The members of *archive*, the last one cut."""
    with archive.open("rb") as raw:
        while len(head := raw.read(_HEADER.size)) == _HEADER.size and head.startswith(_SIGNATURE):
            _, _, flags, method, time, day, _, packed, size, names, extra = _HEADER.unpack(head)
            name = raw.read(names).decode("utf-8" if flags & _UTF8 else "cp437", "replace")
            moment = (day >> 9) + 1980, day >> 5 & 15, day & 31, time >> 11, time >> 5 & 63, (time & 31) * 2
            info = zipfile.ZipInfo(name, moment)
            info.flag_bits, info.file_size, info.extra = flags, size, raw.read(extra)
            start, is_open = raw.tell(), bool(flags & _SIZES_BEHIND)
            readable = not flags & _ENCRYPTED and (method == _DEFLATED or (method == _STORED and not is_open))
            content = _Content(raw, method, None if is_open else packed) if readable else None
            yield Begun(info, io.BufferedReader(content) if content else None)
            if is_open and content is None:
                return
            raw.seek(start + (content.end() if is_open and content else packed))
            if is_open:
                _pass_descriptor(raw)


def _pass_descriptor(raw: IO[bytes]) -> None:
    signature, length = _DESCRIPTORS
    here = raw.tell()
    raw.seek(here + (length if raw.read(len(signature)) == signature else length - len(signature)))


class _Content(io.RawIOBase):
    """What is in a member; it ends with EOFError where the file does before it."""

    def __init__(self, raw: IO[bytes], method: int, packed: int | None) -> None:
        self._raw, self._start, self._left = raw, raw.tell(), packed
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS) if method == _DEFLATED else None
        self._ready, self._taken = b"", 0

    def readable(self) -> bool:
        """True: it is a source."""
        return True

    def end(self) -> int:
        """Packed bytes that it has; it was read to its end."""
        return self._taken - len(self._inflate.unused_data if self._inflate else b"")

    def readinto(self, buffer: object) -> int:
        """Fill *buffer* with what comes next; 0 at the end."""
        view = memoryview(buffer)  # type: ignore[arg-type]
        while not self._ready and not self._is_over():
            self._ready = self._more()
        count = min(len(view), len(self._ready))
        view[:count], self._ready = self._ready[:count], self._ready[count:]
        return count

    def _is_over(self) -> bool:
        return self._inflate.eof if self._inflate else self._left == 0

    def _more(self) -> bytes:
        self._raw.seek(self._start + self._taken)
        chunk = self._raw.read(_BLOCK if self._left is None else min(_BLOCK, self._left))
        if not chunk:
            raise EOFError("it is cut short")
        self._taken += len(chunk)
        self._left = None if self._left is None else self._left - len(chunk)
        return self._inflate.decompress(chunk) if self._inflate else chunk
