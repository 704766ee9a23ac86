"""What the workspace does with files, all of it: few plain operations, none of which renames a folder."""

from __future__ import annotations

import os
import shutil
import stat
import time
from pathlib import Path


def put(path: Path, content: bytes, by_way_of: Path) -> None:
    """Make *path* hold *content*, for nobody else to see: at once and as a whole, whoever reads or writes it meanwhile.

    *by_way_of* is a name that nobody else uses, on the same file system.
    """
    try:
        by_way_of.touch(mode=0o600)
        by_way_of.write_bytes(content)
        by_way_of.replace(path)
    except BaseException:
        remove(by_way_of)
        raise


def get(path: Path) -> bytes | None:
    """What *path* holds; None where there is no such file, none that can be read, or one that somebody else wrote."""
    try:
        known = path.lstat()
        own = stat.S_ISREG(known.st_mode) and known.st_uid in (os.geteuid(), 0)
        return path.read_bytes() if own else None
    except OSError:
        return None


def touch(path: Path) -> None:
    """Make *path* new again, if it is still there."""
    try:
        os.utime(path)
    except OSError:
        return


def age(path: Path) -> float | None:
    """Seconds since *path* was written or touched; None where it is gone."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return None


def sizes(folder: Path, pattern: str) -> dict[str, int]:
    """Bytes of the files in *folder* whose names match, by name."""
    return {file.name: file.stat().st_size for file in folder.glob(pattern)}


def remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it; what somebody else removed is no error."""
    try:
        path.unlink()
    except OSError:
        shutil.rmtree(path, ignore_errors=True)
