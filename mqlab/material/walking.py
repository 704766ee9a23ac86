"""The files behind the paths of a command line: folders, globs, other file systems and pipes; no content is read."""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
import stat
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from mqlab.errors import NoSuchPathError
from mqlab.material import remote
from mqlab.material.remote import RemoteFile

STDIN = "-"
PARTIAL = ".mqlab-partial"
"""Where files lie that a running capture has not finished."""
_SKIPPED_FOLDERS = frozenset({".git", PARTIAL})
_SKIPPED_FILES = frozenset({".DS_Store"})
_NOTES = "incident.yml"


@dataclass(frozen=True, slots=True)
class Found:
    """One file, and the path that evidence cites for it; ``problem`` where it is not to be read.

    ``file`` of a remote one is where it would be fetched to.
    """

    path: str
    file: Path
    problem: str | None = None
    remote: RemoteFile | None = None

    @property
    def real(self) -> str:
        """The same for the same file, whatever way leads to it."""
        there = self.remote.uri if self.remote else f"file://{self.file}"
        return f"file://{os.path.realpath(there[7:])}" if there.startswith("file://") else there


@dataclass(frozen=True, slots=True)
class _Argument:
    tail: tuple[str, ...]
    """Folders, from the outside in, that the cited paths are relative to."""
    files: tuple[Found, ...]
    """With paths relative to these."""
    is_file: bool


def walk(paths: Sequence[str], scratch: Path) -> list[Found]:
    """Every file behind *paths* once, with its cited path; what lies in *scratch* is left out.

    Raises:
        NoSuchPathError: a path that does not exist, and is no glob that matches.
    """
    arguments = [_argument(path, scratch) for path in paths if path != STDIN]
    several = len(paths) > 1
    seen: set[str] = set()
    found = []
    for argument, label in zip(arguments, _labels(arguments), strict=True):
        for file in argument.files:
            if file.real not in seen:
                seen.add(file.real)
                path = label if argument.is_file else f"{label}/{file.path}"
                found.append(replace(file, path=shown(path if several else file.path)))
    return found


def shown(name: str) -> str:
    """The name as text: bytes that are not UTF-8 become escapes such as ``xff`` after a backslash."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _argument(path: str, scratch: Path) -> _Argument:
    if remote.is_uri(path):
        return _elsewhere(path, scratch)
    given = Path(path)
    if given.is_dir():
        return _Argument(_tail(given), tuple(_tree(given, scratch)), is_file=False)
    if given.exists():
        return _Argument(_tail(given), (Found(given.name, given),), is_file=True)
    matches = sorted(glob.glob(path, recursive=True, include_hidden=True))  # noqa: PTH207
    if not matches:
        raise NoSuchPathError(shown(path))
    root = _root_of(path)
    return _Argument(_tail(root), tuple(_matched(matches, root, scratch)), is_file=False)


def _tail(folder: Path) -> tuple[str, ...]:
    return Path(os.path.abspath(folder)).parts[1:] or ("root",)  # noqa: PTH100


def _elsewhere(uri: str, scratch: Path) -> _Argument:
    root, files = remote.found(uri)
    if not files and remote.is_missing(uri):
        raise NoSuchPathError(shown(uri))
    alone = len(files) == 1 and files[0].uri == root
    names = [remote.tail(root)[-1] if alone else file.uri.removeprefix(f"{root}/") for file in files]
    kept = tuple(
        Found(name, _target(scratch, file), remote=file)
        for name, file in zip(names, files, strict=True)
        if alone or not (name == _NOTES or _SKIPPED_FOLDERS & set(name.split("/")[:-1]) or name in _SKIPPED_FILES)
    )
    return _Argument(remote.tail(root), kept, is_file=alone)


def _target(scratch: Path, file: RemoteFile) -> Path:
    folder = hashlib.sha256(file.uri.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    return scratch / f"fetched-{folder}" / file.uri.rsplit("/", 1)[-1]


def _root_of(pattern: str) -> Path:
    parts = Path(pattern).parts
    plain = next((n for n, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return Path(*parts[:plain])


def _matched(matches: Sequence[str], root: Path, scratch: Path) -> Iterator[Found]:
    for match in map(Path, matches):
        inside = match.relative_to(root)
        if match.is_dir():
            yield from (Found(str(inside / f.path), f.file, f.problem) for f in _tree(match, scratch))
        else:
            yield Found(str(inside), match)


def _tree(root: Path, scratch: Path) -> Iterator[Found]:
    denied: list[OSError] = []
    own, within = os.path.realpath(scratch), os.path.realpath(root)
    for folder, folders, files in os.walk(root, onerror=denied.append):
        here = Path(folder)
        linked = [here / name for name in folders if (here / name).is_symlink()]
        folders[:] = [n for n in folders if n not in _SKIPPED_FOLDERS and os.path.realpath(here / n) != own]
        for file in [*linked, *(here / name for name in files if name not in _SKIPPED_FILES)]:
            inside = str(file.relative_to(root))
            if inside != _NOTES and not _is_read_elsewhere(file, within):
                yield Found(
                    inside, file, "A symbolic link out of the folder, not followed." if file.is_symlink() else None
                )
    for error in denied:
        yield Found(str(Path(error.filename).relative_to(root)), Path(error.filename), f"{error.strerror}.")


def _is_read_elsewhere(file: Path, within: str) -> bool:
    target = os.path.realpath(file)
    return file.is_symlink() and os.path.exists(target) and os.path.commonpath([within, target]) == within  # noqa: PTH110


def _labels(arguments: Sequence[_Argument]) -> list[str]:
    """The base name of each argument, with as many folders before it as it takes to tell them apart."""
    tails = [argument.tail for argument in arguments]
    lengths = [1] * len(tails)
    for _ in range(max(map(len, tails), default=0)):
        labels = ["/".join(tail[-length:]) for tail, length in zip(tails, lengths, strict=True)]
        twice = Counter(labels)
        lengths = [length + (twice[label] > 1) for label, length in zip(labels, lengths, strict=True)]
    return ["/".join(tail[-length:]) for tail, length in zip(tails, lengths, strict=True)]


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
        remote.fetch(file.uri, item.file)
    except OSError as error:
        return replace(item, remote=None, problem=f"It cannot be fetched: {remote.said(error)}.")
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
