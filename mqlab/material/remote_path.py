"""A workspace on another file system: a path that does over there what the workspace asks of a path here.

Only what the workspace uses is there. Other operations see a path that does not exist.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from fnmatch import fnmatchcase
from pathlib import PosixPath
from typing import Any

from mqlab.material import remote


class RemotePath(PosixPath):
    """A file or folder by its URI, which must name a host or bucket except for ``file://``."""

    def __str__(self) -> str:
        scheme, _, rest = super().__str__().partition(":/")
        return f"file:///{rest}" if scheme == "file" else f"{scheme}://{rest}"

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Kind, size and time of modification; the epoch where the file system does not say."""
        del follow_symlinks
        info = remote.info(str(self))
        if info.type.name == "NotFound":
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self))
        kind = stat.S_IFREG if info.is_file else stat.S_IFDIR
        at = (info.mtime_ns or 0) // 10**9
        return os.stat_result((kind, 0, 0, 0, 0, 0, info.size or 0, at, at, at))

    def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        """Make the folder and those above it; who may see it is settled where it is."""
        del mode, parents, exist_ok
        system, path = remote.placed(str(self))
        system.create_dir(path, recursive=True)

    def touch(self, mode: int = 0o666, exist_ok: bool = True) -> None:
        """Make an empty file."""
        del mode, exist_ok
        self.write_bytes(b"")

    def read_bytes(self) -> bytes:
        """All that the file holds."""
        return remote.read(str(self))

    def write_bytes(self, data: Any) -> int:
        """Write the file as a whole."""
        system, path = remote.placed(str(self))
        with system.open_output_stream(path, compression=None) as out:
            return int(out.write(bytes(data)) or len(data))

    def replace(self, target: str | os.PathLike[str]) -> RemotePath:
        """Give the file another name, that of an older one too."""
        system, path = remote.placed(str(self))
        _, there = remote.placed(str(target))
        system.move(path, there)
        return RemotePath(target)

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove the file, or the folder with all that is in it."""
        system, path = remote.placed(str(self))
        kind = remote.info(str(self)).type.name
        if kind == "Directory":
            system.delete_dir(path)
        elif kind == "File" or not missing_ok:
            system.delete_file(path)

    def iterdir(self) -> Generator[RemotePath, None, None]:
        """What lies in the folder."""
        for name in remote.names(str(self)):
            yield self / name

    def glob(self, pattern: str) -> Generator[RemotePath, None, None]:
        """What lies in the folder under names that match *pattern*, in no further one."""
        return (path for path in self.iterdir() if fnmatchcase(path.name, pattern))

    def rglob(self, pattern: str) -> Generator[RemotePath, None, None]:
        """All files below the folder whose names match *pattern*."""
        _, files = remote.found(str(self))
        return (RemotePath(file.uri) for file in files if fnmatchcase(file.uri.rsplit("/", 1)[-1], pattern))
