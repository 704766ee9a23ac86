"""Other file systems by their Hadoop URI, each opened once: the plain operations, done by pyarrow.

URIs are taken as Hadoop takes them, without percent escapes. pyarrow is imported late: few runs need it.
"""

from __future__ import annotations

import re
import shutil
import socket
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from mqlab.errors import RemoteError

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
