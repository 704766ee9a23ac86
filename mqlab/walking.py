"""The files behind the paths of a command line: folders walked, globs expanded, nothing read."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mqlab.errors import NoSuchPathError

STDIN = "-"
_SKIPPED_FOLDERS = frozenset({".git"})
_SKIPPED_FILES = frozenset({".DS_Store"})
_NOTES = "incident.yml"


@dataclass(frozen=True, slots=True)
class Found:
    """One file, and the path that evidence cites for it; ``problem`` where it is not to be read."""

    path: str
    file: Path
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class _Argument:
    root: Path
    """What the cited paths are relative to."""
    files: tuple[Found, ...]
    """With paths relative to ``root``."""
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
            real = os.path.realpath(file.file)
            if real not in seen:
                seen.add(real)
                path = label if argument.is_file else f"{label}/{file.path}"
                found.append(Found(shown(path if several else file.path), file.file, file.problem))
    return found


def shown(name: str) -> str:
    """The name as text: bytes that are not UTF-8 become escapes such as ``xff`` after a backslash."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _argument(path: str, scratch: Path) -> _Argument:
    given = Path(path)
    if given.is_dir():
        return _Argument(given, tuple(_tree(given, scratch)), is_file=False)
    if given.exists():
        return _Argument(given, (Found(given.name, given),), is_file=True)
    matches = sorted(glob.glob(path, recursive=True, include_hidden=True))  # noqa: PTH207
    if not matches:
        raise NoSuchPathError(shown(path))
    root = _root_of(path)
    return _Argument(root, tuple(_matched(matches, root, scratch)), is_file=False)


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
    tails = [Path(os.path.abspath(argument.root)).parts[1:] or ("root",) for argument in arguments]  # noqa: PTH100
    lengths = [1] * len(tails)
    for _ in range(max(map(len, tails), default=0)):
        labels = ["/".join(tail[-length:]) for tail, length in zip(tails, lengths, strict=True)]
        twice = Counter(labels)
        lengths = [length + (twice[label] > 1) for label, length in zip(labels, lengths, strict=True)]
    return ["/".join(tail[-length:]) for tail, length in zip(tails, lengths, strict=True)]
