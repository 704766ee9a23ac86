"""Files made readable for Spark: decompressed, transcoded or given an honest name, always in the scratch folder."""

from __future__ import annotations

import codecs
import shutil
from collections.abc import Callable
from pathlib import Path

from mqlab.errors import WorkspaceError
from mqlab.material import filesystems, streams
from mqlab.material.recognition import UTF16
from mqlab.material.remote_path import RemotePath

_IN_PLACE = {"gz": ".gz", "bz2": ".bz2"}
_CHECKED = {"gz": 64 << 20, "bz2": 16 << 20}
"""Compressed bytes up to which a file is read through once to see whether it is whole."""
_LIMITS = {"total": 1 << 40, "ratio": 1000}


def settle(file: Path, start: bytes, target: Path) -> tuple[Path, str | None]:
    """Where Spark can read *file*, itself or *target*, and what is wrong with its content.

    Args:
        file: a regular file that is no archive.
        start: its first bytes, decompressed.
        target: a path in the scratch folder that does not exist, without suffix.

    Raises:
        GrowthError: the content grows beyond what a log can.
    """
    kind = streams.kind_of(_first_bytes(file))
    kind = None if kind in ("zip", "tar") else kind
    text = target.with_suffix(".txt")
    if start.startswith(UTF16):
        return text, _copied(file, text, _to_utf8())
    if kind is None:
        misnamed = file.name.endswith(tuple(_IN_PLACE.values()))
        return (aliased(file, text), None) if misnamed else (file, None)
    in_place = file.name.endswith(_IN_PLACE.get(kind, "\0"))
    if in_place and (file.stat().st_size > _CHECKED[kind] or _through(file, lambda _: None) is None):
        return file, None
    return text, _copied(file, text, bytes)


def aliased(file: Path, link: Path) -> Path:
    """*link*, made to lead to *file*: a symbolic link, or a copy where the file system has none or is elsewhere."""
    if isinstance(link, RemotePath):
        filesystems.put(file, str(link))
        return link
    link.unlink(missing_ok=True)
    try:
        link.symlink_to(file.absolute())
    except OSError:
        shutil.copyfile(file, link)
    return link


def _first_bytes(file: Path) -> bytes:
    with file.open("rb") as raw:
        return raw.read(512)


def _copied(file: Path, target: Path, change: Callable[[bytes], bytes]) -> str | None:
    with target.open("wb") as out:

        def write(block: bytes) -> None:
            try:
                out.write(change(block))
            except OSError as error:
                raise WorkspaceError(str(target), str(error)) from error

        return _through(file, write)


def _through(file: Path, take: Callable[[bytes], None]) -> str | None:
    meter = streams.Meter(file.stat().st_size, **_LIMITS)
    try:
        with streams.opened(file) as stream:
            for block in streams.blocks(stream):
                meter.add(len(block))
                take(block)
    except streams.GrowthError:
        raise
    except streams.BROKEN as error:
        return f"Its end is missing or damaged ({error}); {meter.bytes:,} bytes before that were read."
    return None


def _to_utf8() -> Callable[[bytes], bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    return lambda block: decoder.decode(block).encode("utf-8")
