"""What lies behind the paths, before anybody looks into it: files here and elsewhere, pipes, members of archives."""

from __future__ import annotations

import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from mqlab.material import filesystems
from mqlab.material.remote import RemoteFile
from mqlab.material.walking import STDIN, Found, walk

_PIPES = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


@dataclass(frozen=True, slots=True)
class Item:
    """Something that may be a source, or hold some."""

    path: str
    """What evidence cites."""
    file: Path
    modified: float | None
    depth: int = 0
    """Archives that it is in."""
    problem: str | None = None
    origin: str | None = None
    """The file on disk, or elsewhere, that it is or is a member of."""
    remote: RemoteFile | None = None
    """The file elsewhere, as long as it was not fetched."""

    @property
    def name(self) -> str:
        """Base name."""
        return PurePosixPath(self.path).name


def items(paths: Sequence[str], scratch: Path) -> Iterator[Item]:
    """Every file behind *paths*; what comes through a pipe is written to *scratch* first."""
    for found in walk(paths, scratch):
        yield _piped(found, scratch) if str(found.file).startswith(_PIPES) else _filed(found)
    if STDIN in paths:
        target = scratch / "stdin"
        with target.open("wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        yield Item(STDIN, target, None)


def fetched(item: Item, file: RemoteFile) -> Item:
    """*item* as a file of this machine, so that what Spark cannot read in place is unpacked here."""
    try:
        filesystems.fetch(file.uri, item.file)
    except OSError as error:
        return replace(item, remote=None, problem=f"It cannot be fetched: {filesystems.said(error)}.")
    return replace(item, remote=None)


def no_file(file: Path) -> str | None:
    """Why *file* is none that can be read; None where it is one."""
    try:
        mode = file.stat().st_mode
    except OSError as error:
        return f"{error.strerror}."
    return None if stat.S_ISREG(mode) else "Not a file but a pipe, socket or device."


def _filed(found: Found) -> Item:
    if found.remote:
        return Item(found.path, found.file, found.remote.modified, origin=found.remote.uri, remote=found.remote)
    try:
        modified = found.file.stat().st_mtime
        return Item(found.path, found.file, modified, problem=found.problem, origin=str(found.file.absolute()))
    except OSError as error:
        return Item(found.path, found.file, None, problem=found.problem or f"{error.strerror}.")


def _piped(found: Found, scratch: Path) -> Item:
    target = scratch / f"pipe-{found.file.name}"
    with found.file.open("rb") as pipe, target.open("wb") as out:
        shutil.copyfileobj(pipe, out)
    return Item(found.path, target, None)
