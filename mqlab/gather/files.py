"""Files and folders copied in: what was written in the window, the newest first, until the limit is reached."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from mqlab.gather.bundle import Bundle
from mqlab.gather.schedule import Tick
from mqlab.material.streams import BROKEN, kind_of, opened
from mqlab.units import size

_COMPRESSED = ("gz", "bz2", "xz", "zst")


@dataclass(slots=True)
class Files:
    """Copies at the first tick, before anything rotates away, and at the last what was written meanwhile."""

    bundle: Bundle
    paths: Sequence[str]
    """Files, folders or globs."""
    since: float
    """Epoch seconds; a file that was last written before is left out."""
    limit: int
    """Bytes in all, as they lie there. Of a log that is larger than what is left the end is taken."""
    copied: dict[Path, tuple[int, float]] = field(default_factory=dict)
    """Size and time of what was copied."""

    def __call__(self, tick: Tick) -> None:
        """Copy what is new or has grown."""
        if not (tick.first or tick.last):
            return
        for path in self.paths:
            with self.bundle.manifest.asking(f"files {path}"):
                found = sorted(_found(path), key=lambda one: -one[1].st_mtime)
                if not found:
                    self._failed(path, path, "there is no such file")
                for file, about in found:
                    self._copied(path, file, about)

    def _copied(self, path: str, file: Path, about: os.stat_result) -> None:
        state = (about.st_size, about.st_mtime)
        if about.st_mtime < self.since or self.copied.get(file) == state:
            return
        left = self.limit - sum(size for other, (size, _) in self.copied.items() if other != file)
        try:
            with file.open("rb") as raw:
                kind = kind_of(raw.read(512))
            if about.st_size > left and (kind or left <= 0):
                self._failed(path, str(file), f"no room for it within {size(self.limit)}")
                return
            with opened(file) if kind in _COMPRESSED else file.open("rb") as content:
                if about.st_size > left:
                    _skip(content, about.st_size - left)
                    self._failed(path, str(file), f"only its last {size(left)}, of {size(about.st_size)}")
                self.bundle.copy(_name(file, kind), content, about.st_mtime)
        except BROKEN as error:
            self._failed(path, str(file), str(error))
            return
        self.copied[file] = (min(about.st_size, left), about.st_mtime)

    def _failed(self, path: str, file: str, because: str) -> None:
        self.bundle.manifest.failed(f"files {path}", because if file == path else f"{file}: {because}")


def _found(path: str) -> Iterator[tuple[Path, os.stat_result]]:
    """Regular files behind a path, never a pipe or a device, which would block."""
    for name in glob.glob(path, recursive=True):  # noqa: PTH207 - absolute and relative ones alike
        given = Path(name)
        inside = (Path(at) / one for at, _, names in os.walk(given) for one in names) if given.is_dir() else [given]
        for file in inside:
            try:
                about = file.stat()
            except OSError:
                continue
            if stat.S_ISREG(about.st_mode) and about.st_size:
                yield file, about


def _skip(content: IO[bytes], number: int) -> None:
    """To the first line that begins behind that many bytes."""
    content.seek(number)
    content.readline(1 << 20)


def _name(file: Path, kind: str | None) -> str:
    """Where it stands in the bundle: compressed files are compressed anew, since they are masked."""
    path = str(file.absolute()).lstrip("/")
    if kind is None:
        return f"files/{path}"
    return f"files/{path.removesuffix('.' + kind)}.zst"
