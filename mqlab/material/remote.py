"""Sources on other file systems: ``s3a://``, ``hdfs://``, ``abfs://``, ``gs://``, ``file://``.

The driver lists them, reads their beginnings and fetches what Spark cannot read where it lies; all the rest stays in
place.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Any

from mqlab.material import streams
from mqlab.material.filesystems import info, is_uri, listed, parts, placed, read

_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file; ``modified`` is epoch seconds, None where the file system does not say."""

    uri: str
    size: int
    modified: float | None


def tail(uri: str) -> tuple[str, ...]:
    """Host or bucket and folders of *uri*, from the outside in."""
    _, authority, path = parts(uri)
    return tuple(part for part in (authority, *path.split("/")) if part)


def found(uri: str) -> tuple[str, list[RemoteFile]]:
    """The files behind *uri*, a file, folder or glob, by name, and the URI that their names are relative to.

    For a file that is itself. Nothing is found where nothing has that name, or the folder is empty.

    Raises:
        RemoteError: the file system cannot be reached.
    """
    uri = uri.rstrip("/") if tail(uri) else uri
    known = info(uri)
    if known.is_file:
        return uri, [_file(uri, known)]
    wild = _WILD.search(uri)
    if known.type.name == "Directory" or not wild:
        return uri, list(_tree(uri))
    root = uri[: uri.rindex("/", 0, wild.start())]
    pattern = uri[len(root) + 1 :].split("/")
    return root, [file for file in _tree(root) if _fits(file.uri[len(root) + 1 :].split("/"), pattern)]


def is_missing(uri: str) -> bool:
    """True where nothing has that name.

    Raises:
        RemoteError: the file system cannot be reached.
    """
    return str(info(uri).type.name) == "NotFound"


def beside(uri: str, name: str) -> bytes | None:
    """What the file *name* holds in the folder *uri*, or beside the file *uri*; None where there is none.

    Raises:
        RemoteError: the file system cannot be reached.
    """
    folder = uri.rstrip("/") if str(info(uri).type.name) == "Directory" else uri.rpartition("/")[0]
    candidate = f"{folder}/{name}"
    return read(candidate) if info(candidate).is_file else None


def opened(location: str) -> IO[bytes]:
    """The content of a file here or elsewhere as a stream, decompressed where it is compressed.

    Raises:
        OSError: it cannot be read.
    """
    if not is_uri(location):
        return streams.opened(Path(location))
    system, path = placed(location)
    return streams.unpacked(io.BufferedReader(system.open_input_file(path), streams.BLOCK))


def is_there(location: str) -> bool:
    """True where the file can still be read, here or elsewhere.

    Raises:
        RemoteError: its file system cannot be reached.
    """
    return not is_missing(location) if is_uri(location) else Path(location).exists()


def in_place(raw: bytes) -> bool:
    """True where a file that begins like this is read where it lies; archives have to be fetched."""
    return streams.kind_of(raw[:512]) not in ("zip", "tar")


def for_spark(location: str) -> str:
    """*location* as Spark reads it: with a scheme, and with characters that mean something in globs escaped."""
    placed_here = location if is_uri(location) else f"file://{location}"
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", placed_here)


def _file(uri: str, known: Any) -> RemoteFile:
    if known.mtime_ns is None:
        return RemoteFile(uri, known.size or 0, None)
    seconds, nanos = divmod(known.mtime_ns, 10**9)
    return RemoteFile(uri, known.size or 0, seconds + 1e-9 * nanos)


def _tree(uri: str) -> Iterator[RemoteFile]:
    base, root = uri.rstrip("/"), placed(uri)[1].rstrip("/")
    for found in sorted(listed(uri, recursive=True), key=lambda found: str(found.path)):
        if found.is_file:
            yield _file(f"{base}/{found.path[len(root) + 1 :]}", found)


def _fits(parts: list[str], pattern: list[str]) -> bool:
    """True where *parts*, or the folders that they begin with, match *pattern*; ``**`` is any number of folders."""
    if not pattern:
        return True
    if pattern[0] == "**":
        return any(_fits(parts[n:], pattern[1:]) for n in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])
