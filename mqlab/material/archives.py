"""Archives, unpacked without trusting them.

Members are written under numbers, never under their own names, so no name can lead anywhere. A member that points
outside, is encrypted, damaged or grows without end is refused; the others are unpacked.
"""

from __future__ import annotations

import stat
import struct
import tarfile
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from mqlab.errors import UnsafeArchiveError
from mqlab.material import streams
from mqlab.material.members import DAMAGED_MEMBER, Member, Unpacked, Unpacking

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
            name = info.filename.replace("\\", "/")
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
            name = info.name.removeprefix("./")
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
    target = work.found.get(info.linkname.removeprefix("./"))
    if target is None or target.location is None:
        work.refuse(name, "A link to a file that the archive does not hold.")
    else:
        work.found[name] = Member(name, target.location, target.modified, target.problem)


def _outside(name: str) -> str | None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or name[1:2] == ":" or not path.parts:
        return "Refused: its name points outside the archive."
    return None
