"""Files on other file systems by their Hadoop URI: ``s3a://``, ``hdfs://``, ``abfs://``, ``gs://``, ``file://``.

URIs are taken as Hadoop takes them, without percent escapes. pyarrow is imported late: few runs need it. Files are
listed, and read where they lie, but for archives, which are fetched.
"""

from __future__ import annotations

import io
import re
import shutil
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import IO, Any, cast

from mqlab.errors import RemoteError
from mqlab.material import streams

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://([^/]*)(.*)", re.DOTALL)
_ARROW = {"s3a": "s3", "s3n": "s3"}
_WAIT = 5.0


def is_uri(path: str) -> bool:
    """True for a URI, false for a path of this machine."""
    return _URI.match(path) is not None


def parts(uri: str) -> tuple[str, str, str]:
    """Scheme, host or bucket, and path of *uri*."""
    match = cast("re.Match[str]", _URI.match(uri))
    return match[1].lower(), match[2], match[3]


def placed(uri: str) -> tuple[Any, str]:
    """The file system of pyarrow for *uri*, and the path on it.

    Raises:
        RemoteError: the file system cannot be reached.
    """
    scheme, authority, path = parts(uri)
    system, base = _system(scheme, authority)
    return system, f"{base}{path}" or "/"


def info(uri: str) -> Any:
    """What pyarrow knows about *uri*.

    Raises:
        RemoteError: the file system cannot be reached.
    """
    system, path = placed(uri)
    try:
        return system.get_file_info(path)
    except OSError as error:
        raise RemoteError(uri, said(error)) from error


def names(uri: str) -> list[str]:
    """Names of what lies in the folder *uri*; none where there is no such folder.

    Raises:
        RemoteError: the file system cannot be reached.
    """
    return sorted(str(found.base_name) for found in listed(uri, recursive=False))


def listed(uri: str, *, recursive: bool) -> Sequence[Any]:
    """What pyarrow knows about all that lies in the folder *uri*; nothing where there is no such folder.

    Raises:
        RemoteError: the file system cannot be reached.
    """
    from pyarrow import fs

    system, path = placed(uri)
    try:
        return cast(
            "Sequence[Any]", system.get_file_info(fs.FileSelector(path, recursive=recursive, allow_not_found=True))
        )
    except OSError as error:
        raise RemoteError(uri, said(error)) from error


def read(uri: str, count: int | None = None, *, end: bool = False) -> bytes:
    """The first *count* bytes of a file, the last ones with *end*, all of them without *count*.

    Raises:
        OSError: it cannot be read.
    """
    system, path = placed(uri)
    with system.open_input_file(path) as file:
        if end and count is not None:
            file.seek(max(0, file.size() - count))
        return cast("bytes", file.read(count))


def fetch(uri: str, target: Path) -> None:
    """Copy a file to *target*.

    Raises:
        OSError: it cannot be read.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    system, path = placed(uri)
    with system.open_input_stream(path, compression=None) as source, target.open("wb") as out:
        shutil.copyfileobj(source, out, 1 << 20)


def put(file: Path, uri: str) -> None:
    """Copy *file* of this machine to *uri*.

    Raises:
        OSError: it cannot be read, or not be written there.
    """
    system, path = placed(uri)
    with file.open("rb") as source, system.open_output_stream(path, compression=None) as out:
        shutil.copyfileobj(source, out, 1 << 20)


def said(error: BaseException) -> str:
    """What went wrong, in one line without a full stop."""
    text = str(error)
    if "libjvm" in text or "libhdfs" in text:
        return (
            "Hadoop's libhdfs was not found; set JAVA_HOME and HADOOP_HOME, and CLASSPATH to `hadoop classpath --glob`"
        )
    return " ".join(text.split())[:300].rstrip(".") or type(error).__name__


@cache
def _system(scheme: str, authority: str) -> tuple[Any, str]:
    from pyarrow import fs

    where = f"{scheme}://{authority}"
    try:
        _ensure_name_node(scheme, authority)
        system, base = fs.FileSystem.from_uri(f"{_ARROW.get(scheme, scheme)}://{authority}/")
    except (OSError, ValueError, ImportError) as error:
        raise RemoteError(where, said(error)) from error
    return system, base.rstrip("/")


def _ensure_name_node(scheme: str, authority: str) -> None:
    host, _, port = authority.rpartition(":")
    if scheme == "hdfs" and host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=_WAIT).close()


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
