"""The files of a material, one after the other, and where they go: a folder, or an archive of it.

An archive becomes a folder of its name; a compressed file stays compressed. What is no text is not looked into, so it
is left out: nobody could say whose names are in it.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tarfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import IO, Any

import zstandard

from mqlab.errors import MqlabError
from mqlab.gather.masking import NotTextError, masked_bytes
from mqlab.material import archives, encodings, streams
from mqlab.material.walking import items, no_file

_HEAD = 1 << 16
_PACKED = ".tar.zst"
_NOTES = "incident.yml"
_UNREAD: tuple[type[Exception], ...] = (NotTextError, *streams.BROKEN)


class TargetError(MqlabError):
    """What is to be written cannot be, or is there already."""

    def __init__(self, path: Path, because: str) -> None:
        super().__init__(f"{path} was not written: {because}. Choose another place with -o.")


@dataclass(frozen=True, slots=True)
class Text:
    """One file of text."""

    name: str
    """Its path below the material."""
    file: Path
    modified: float | None
    packed: str | None
    """How it is compressed."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One file that is left out, and why."""

    name: str
    because: str


def texts(paths: Sequence[str], scratch: Path) -> Iterator[Text | LeftOut]:
    """Every file behind *paths*; archives are unpacked into *scratch*."""
    scratch.mkdir(parents=True, exist_ok=True)
    for number, item in enumerate(items(paths, scratch)):
        problem = item.problem or no_file(item.file)
        if problem:
            yield LeftOut(item.path, problem)
        else:
            yield from _opened(item.path, item.file, item.modified, scratch / str(number))
    for path in paths:
        notes = Path(path) / _NOTES
        if notes.is_file():
            yield Text(_NOTES, notes, notes.stat().st_mtime, None)


def _opened(name: str, file: Path, modified: float | None, scratch: Path, depth: int = 0) -> Iterator[Text | LeftOut]:
    try:
        start = _start(file)
    except streams.BROKEN as error:
        yield LeftOut(name, f"It cannot be read: {error}.")
        return
    if streams.kind_of(start[:512]) not in ("tar", "zip"):
        binary = b"\0" in start and encodings.told(start) is None
        yield LeftOut(name, "It is not a text file.") if binary else Text(name, file, modified, _packed(file))
        return
    if depth > 1:
        yield LeftOut(name, "An archive too deep within archives.")
        return
    unpacked = archives.unpack(file, scratch)
    for number, member in enumerate(unpacked.members):
        inner = f"{name}/{member.name}"
        if member.location is None:
            yield LeftOut(inner, member.problem or "It cannot be read.")
        else:
            yield from _opened(inner, member.location, member.modified, scratch / f"in-{number}", depth + 1)
    if unpacked.problem:
        yield LeftOut(name, unpacked.problem)


def cleaned(text: Text, target: Path, without: Callable[[Iterable[bytes]], Iterable[bytes]]) -> Text | LeftOut:
    """*text* with its secrets masked and *without* payloads, unpacked to *target*, in UTF-8 whatever it was in."""
    try:
        codec = encodings.told(_start(text.file))
        if codec:
            wide = target.with_suffix(".utf8")
            if problem := streams.transcoded(text.file, wide, codec):
                return LeftOut(text.name, problem)
        with streams.opened(wide if codec else text.file) as stream, target.open("wb") as out:
            for piece in without(masked_bytes(stream)):
                out.write(piece)
    except _UNREAD as error:
        return LeftOut(text.name, f"It is not a text file, or is damaged: {error}.")
    return replace(text, file=target)


def _packed(file: Path) -> str | None:
    with file.open("rb") as raw:
        return streams.kind_of(raw.read(512))


def _start(file: Path) -> bytes:
    with streams.opened(file) as stream:
        return stream.read(_HEAD)


def _gzipped(raw: IO[bytes]) -> gzip.GzipFile:
    """Without a name and a moment in its head."""
    return gzip.GzipFile("", "wb", fileobj=raw, mtime=0)


_PACKERS: dict[str | None, Callable[[IO[bytes]], Any]] = {
    "gz": _gzipped,
    "bz2": partial(bz2.BZ2File, mode="wb"),
    "xz": partial(lzma.LZMAFile, mode="wb"),
    "zst": lambda raw: zstandard.ZstdCompressor().stream_writer(raw, closefd=False),
}


class Target:
    """Where the rewritten files go: beside their place until all are there."""

    def __init__(self, output: Path) -> None:
        """Begin what becomes *output*: an archive where it ends in ``.tar.zst``, else a folder.

        Raises:
            TargetError: something is there already, or nothing can be written there.
        """
        self._output = output
        if output.exists():
            raise TargetError(output, "it already exists")
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            self.folder = Path(mkdtemp(prefix=f".{output.name}-", dir=output.parent))
        except OSError as error:
            raise TargetError(output, error.strerror or str(error)) from error

    def put(self, name: str, pieces: Iterator[bytes], packed: str | None, modified: float | None) -> None:
        """Write *pieces* to the file *name*, compressed as told."""
        path = self.folder / PurePosixPath(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            raise TargetError(path, "two files would have this name")
        with path.open("wb") as raw:
            pack = _PACKERS[packed](raw) if packed in _PACKERS else raw
            for piece in pieces:
                pack.write(piece)
            if pack is not raw:
                pack.close()
        if modified is not None:
            os.utime(path, (modified, modified))

    def finish(self) -> Path:
        """Put it in place; where it lies then."""
        if not self._output.name.endswith(_PACKED):
            self.folder.rename(self._output)
            return self._output
        partial = self.folder.with_name(f"{self.folder.name}.zst")
        with (
            partial.open("xb") as raw,
            zstandard.ZstdCompressor(level=9).stream_writer(raw) as stream,
            tarfile.open(fileobj=stream, mode="w|") as archive,
        ):
            for file in sorted(path for path in self.folder.rglob("*") if path.is_file()):
                archive.add(file, str(file.relative_to(self.folder)), filter=_nobody)
        partial.rename(self._output)
        return self._output


def _nobody(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """A member without the name of who owns it."""
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info
