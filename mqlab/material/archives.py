"""Archives, unpacked without trusting them.

Members are written under numbers, never under their own names, so no name can lead anywhere. A member that points
outside, is encrypted, damaged or grows without end is refused; the others are unpacked. An archive may hold several
members of one name, as ``tar -r`` appends them: all are unpacked, the second as ``server.log (2)``.
"""

from __future__ import annotations

import stat
import struct
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO

from mqlab.errors import UnsafeArchiveError, WorkspaceError
from mqlab.material import streams

DAMAGED_MEMBER: tuple[type[Exception], ...] = (
    zipfile.BadZipFile, NotImplementedError, RuntimeError, *streams.BROKEN
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
            for block in streams.blocks(content):
                self.meter.add(len(block))
                self._write(out, block)

    def _write(self, out: IO[bytes], block: bytes) -> None:
        try:
            out.write(block)
        except OSError as error:
            raise WorkspaceError(str(self.into), str(error)) from error


def _suffix(name: str) -> str:
    return next((suffix for suffix in (".gz", ".bz2") if name.endswith(suffix)), "")


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
        else:
            _untar(archive, work)
    except _DAMAGED as error:
        problem = f"The archive is damaged ({error}); what stands before the damage was read."
    found = tuple(work.found.values())
    if work.spent and not any(member.location for member in found):
        raise UnsafeArchiveError(archive.name, "it grows beyond any log when unpacked")
    return Unpacked(found, problem)


def _unzip(archive: Path, work: Unpacking) -> None:
    with zipfile.ZipFile(archive) as zipped:
        for info in zipped.infolist():
            work.check(archive.name)
            name = _plain(info.filename.replace("\\", "/"))
            mode = info.external_attr >> 16
            if info.is_dir() or _SKIPPED & set(name.split("/")):
                continue
            if because := _outside(name):
                work.refuse(name, because)
            elif info.flag_bits & 1:
                work.refuse(name, "Encrypted: unpack it by hand and give the folder.")
            elif stat.S_ISLNK(mode):
                work.refuse(name, "A symbolic link, not followed.")
            else:
                _unzip_member(zipped, info, name, work)


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


def _untar(archive: Path, work: Unpacking) -> None:
    with streams.opened(archive) as stream, tarfile.open(fileobj=stream, mode="r|", errorlevel=1) as tarred:
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
                work.add(name, info.mtime, content, info.size)


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
