"""Archives, unpacked without trusting them.

Members are written under numbers, never under their own names, so no name can lead anywhere. A member that points
outside, is encrypted, damaged or grows without end is refused; the others are unpacked. An archive may hold several
members of one name, as ``tar -r`` appends them: all are unpacked, the second as ``server.log (2)``.
"""

from __future__ import annotations

import io
import stat
import struct
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, cast

from mqlab.errors import UnsafeArchiveError, WorkspaceError
from mqlab.material import cut_zips, streams

DAMAGED_MEMBER: tuple[type[Exception], ...] = (
    zipfile.BadZipFile, tarfile.TarError, NotImplementedError, RuntimeError, *streams.BROKEN
)  # fmt: skip
"""What reading a damaged or encrypted member raises."""


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive: where it was unpacked to, or why it was not."""

    name: str
    location: Path | None
    modified: float | None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The members of an archive, refused ones too, and what is wrong with the archive itself."""

    members: tuple[Member, ...]
    problem: str | None = None


@dataclass(slots=True)
class Unpacking:
    """Where members go, what was found so far, and what may still be written."""

    into: Path
    meter: streams.Meter
    most: int
    """Members that the archive may have."""
    found: dict[str, Member] = field(default_factory=dict)
    """By a name of its own."""
    last: dict[str, Member] = field(default_factory=dict)
    """By the name in the archive, which several may have: the last one so far."""
    times: Counter[str] = field(default_factory=Counter)
    """How often a name came again."""
    spent: str | None = None
    """Why no more is written; the members that follow are listed only."""
    count: int = 0

    def add(self, name: str, modified: float | None, content: IO[bytes], size: int) -> None:
        """Write one member; one that is damaged is kept as far as it goes."""
        if self.spent:
            return self.refuse(name, self.spent)
        location = self.into / f"{self.count:06d}{_suffix(name)}"
        before = self.meter.bytes
        try:
            self._copy(content, location)
            short = self.meter.bytes - before < size
            self.keep(Member(name, location, modified, "It is cut short in the archive." if short else None))
        except streams.GrowthError as error:
            location.unlink()
            self.spent = f"Not unpacked: {error}."
            self.refuse(name, self.spent)
        except DAMAGED_MEMBER as error:
            self.keep(Member(name, location, modified, f"Damaged in the archive: {error}."))
        return None

    def keep(self, member: Member) -> None:
        """List *member* under its name, with a number behind it where an earlier one has that name."""
        self.last[member.name] = member
        own = member.name
        while own in self.found:
            self.times[member.name] += 1
            own = f"{member.name} ({self.times[member.name] + 1})"
        self.found[own] = replace(member, name=own)

    def refuse(self, name: str, because: str) -> None:
        """List a member that is not unpacked."""
        self.keep(Member(name, None, None, because))

    def check(self, archive: str) -> None:
        """Count one more member; raise UnsafeArchiveError when there are too many."""
        self.count += 1
        if self.count > self.most:
            raise UnsafeArchiveError(archive, f"it has more than {self.most:,} members")

    def _copy(self, content: IO[bytes], location: Path) -> None:
        with location.open("wb") as out:
            for block in streams.blocks(content, _STEP):
                self.meter.add(len(block))
                self._write(out, block)

    def _write(self, out: IO[bytes], block: bytes) -> None:
        try:
            out.write(block)
        except OSError as error:
            raise WorkspaceError(str(self.into), str(error)) from error


def _suffix(name: str) -> str:
    return next((suffix for suffix in (".gz", ".bz2") if name.endswith(suffix)), "")


_STEP = 4096
"""Bytes of a member that are unpacked at once: where it is damaged, zipfile drops the step that it is in."""
_UNIX_TIME = 0x5455
_DAMAGED: tuple[type[Exception], ...] = (
    tarfile.TarError, zipfile.BadZipFile, NotImplementedError, *streams.BROKEN
)  # fmt: skip
"""What reading a damaged archive raises."""
_SKIPPED = {"__MACOSX", ".git", ".DS_Store"}


def unpack(archive: Path, into: Path, *, total: int = 20 << 30, members: int = 100_000, ratio: int = 1000) -> Unpacked:
    """What *archive* holds, unpacked into the new folder *into*.

    Args:
        archive: a zip, or a tar with any compression.
        into: gets one numbered file per member.
        total: bytes that all members together may have.
        members: files that the archive may have.
        ratio: times that the members may exceed the archive's own size, beyond 100 MB.

    Raises:
        UnsafeArchiveError: too many members, or not one of them could be unpacked within the limits.
    """
    into.mkdir(parents=True, exist_ok=True)
    meter = streams.Meter(archive.stat().st_size, total=total, ratio=ratio)
    work = Unpacking(into, meter, members)
    problem = None
    try:
        if zipfile.is_zipfile(archive):
            _unzip(archive, work)
        elif _begins_as_zip(archive):
            _unzip_cut(archive, work)
            problem = "The end of the archive is missing; what stands before it was read."
        else:
            problem = _untar(archive, work)
    except _DAMAGED as error:
        problem = f"The archive is damaged ({error}); what stands before the damage was read."
    found = tuple(work.found.values())
    if work.spent and not any(member.location for member in found):
        raise UnsafeArchiveError(archive.name, "it grows beyond any log when unpacked")
    return Unpacked(found, problem)


def _unzip(archive: Path, work: Unpacking) -> None:
    with zipfile.ZipFile(archive) as zipped:
        for info in zipped.infolist():
            if name := _wanted(info, archive, work):
                _unzip_member(zipped, info, name, work)


def _wanted(info: zipfile.ZipInfo, archive: Path, work: Unpacking) -> str | None:
    """The name of a member that is to be unpacked."""
    work.check(archive.name)
    name = _plain(info.filename.replace("\\", "/"))
    if not info.filename or info.is_dir() or _SKIPPED & set(name.split("/")):
        return None
    if because := _outside(name):
        work.refuse(name, because)
    elif info.flag_bits & 1:
        work.refuse(name, "Encrypted: unpack it by hand and give the folder.")
    elif stat.S_ISLNK(info.external_attr >> 16):
        work.refuse(name, "A symbolic link, not followed.")
    else:
        return name
    return None


def _begins_as_zip(archive: Path) -> bool:
    with archive.open("rb") as raw:
        return streams.kind_of(raw.read(512)) == "zip"


def _unzip_cut(archive: Path, work: Unpacking) -> None:
    for begun in cut_zips.begun(archive):
        if not (name := _wanted(begun.info, archive, work)):
            continue
        if begun.content is None:
            work.refuse(name, "Damaged in the archive: without its end nobody knows how it is packed.")
        else:
            work.add(name, _zip_time(begun.info), begun.content, begun.info.file_size)


def _unzip_member(zipped: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, work: Unpacking) -> None:
    try:
        content = zipped.open(info)
    except DAMAGED_MEMBER as error:
        work.refuse(name, f"Damaged in the archive: {error}.")
        return
    with content:
        work.add(name, _zip_time(info), content, info.file_size)


def _zip_time(info: zipfile.ZipInfo) -> float | None:
    """Modification time: UTC from the Unix extension, else the zone-less one read as UTC.

    The extension is Info-ZIP's extended timestamp: tag, size, a byte of flags of which the lowest says that a
    modification time follows, and that time in seconds.
    """
    extra = info.extra
    while len(extra) >= 4:
        tag, size = struct.unpack("<HH", extra[:4])
        if tag == _UNIX_TIME and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return float(struct.unpack("<i", extra[5:9])[0])
        extra = extra[4 + size :]
    try:
        return datetime(*info.date_time, tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _untar(archive: Path, work: Unpacking) -> str | None:
    """Unpack a tar; what is wrong with its compression."""
    with streams.opened(archive) as stream:
        sound = streams.Sound(stream)
        try:
            behind = _untar_members(archive, sound, work)
        except tarfile.TarError as error:
            raise sound.damage or error from error
    if sound.damage:
        return f"The archive is damaged ({sound.damage}); what stands before the damage was read."
    return f"{behind:,} bytes after the end of the archive were left out." if behind else None


def _untar_members(archive: Path, sound: streams.Sound, work: Unpacking) -> int:
    """Unpack the members; how many bytes stand behind them, padding apart."""
    with tarfile.open(fileobj=sound, mode="r|", errorlevel=1) as tarred:
        for info in _infos(tarred, archive):
            work.check(archive.name)
            name = _plain(info.name)
            if info.isdir() or _SKIPPED & set(name.split("/")):
                continue
            if because := _outside(name) or _refused(info, work.into):
                work.refuse(name, because)
            elif info.islnk():
                _link(name, info, work)
            elif info.isreg() and (content := tarred.extractfile(info)):
                work.add(
                    name,
                    info.mtime,
                    content if info.issparse() else cast(IO[bytes], _Plain(tarred, info.size)),
                    info.size,
                )
        assert tarred.fileobj
        behind = 0
        while rest := tarred.fileobj.read(streams.BLOCK):
            behind += len(rest if behind else rest.lstrip(b"\0"))
    return behind


class _Plain(io.RawIOBase):
    """The next *size* bytes of a tar: its own reader drops what it holds where the archive ends before."""

    def __init__(self, tarred: tarfile.TarFile, size: int) -> None:
        self._tarred, self._left = tarred, size

    def read(self, size: int = -1, /) -> bytes:
        """Some of what is left, none at the end."""
        assert self._tarred.fileobj
        part: bytes = self._tarred.fileobj.read(min(self._left, streams.BLOCK if size < 0 else size))
        if self._left and not part:
            raise EOFError("it is cut short")
        self._left -= len(part)
        return part


def _infos(tarred: tarfile.TarFile, archive: Path) -> Iterator[tarfile.TarInfo]:
    try:
        yield from tarred
    except tarfile.HeaderError as error:
        raise tarfile.ReadError(f"{archive.name}: {error}") from error


def _refused(info: tarfile.TarInfo, into: Path) -> str | None:
    try:
        tarfile.data_filter(info, str(into))
    except tarfile.FilterError as error:
        return f"Refused: {error}."
    return None


def _link(name: str, info: tarfile.TarInfo, work: Unpacking) -> None:
    target = work.last.get(_plain(info.linkname))
    if target is None or target.location is None:
        work.refuse(name, "A link to a file that the archive does not hold.")
    else:
        work.keep(replace(target, name=name))


def _plain(name: str) -> str:
    """*name* without ``./``, doubled slashes and the like: what it is once it is unpacked."""
    return str(PurePosixPath(name))


def _outside(name: str) -> str | None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or name[1:2] == ":" or not path.parts:
        return "Refused: its name points outside the archive."
    return None
