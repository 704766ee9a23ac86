"""The workspace: a cache folder that keeps what was read, so that nothing is read twice.

===========================  ====================================================================================
``scan-<random>/``           a batch: the rows of the files that one run scanned (``batches``)
``material-<hash>.json.gz``  an entry: what recognition and thinning made of some paths (``entries``)
``preparing-<process>-…``    what a run is working on: unpacked archives, standard input, links to the sources,
                             temporary files of its Spark and its notebooks
``using-<process>-…/``       which batches a process looks at, one empty file each
===========================  ====================================================================================

A batch counts from the moment its index is written, which is done last; an entry is one file that is put in place as a
whole. So a run may be killed at any moment, and any number of runs may share a workspace. What is named after a process
that no longer lives is removed by the next run; nothing that a living one uses is.
Only what was masked is ever kept in a batch or an entry. Nobody but the user can look into a folder that was made here,
and a workspace into which somebody else can write is refused.
"""

from __future__ import annotations

import os
import secrets
import socket
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mqlab.cache import storage
from mqlab.cache.owner import home, objection
from mqlab.errors import RemoteError, WorkspaceError
from mqlab.material import remote
from mqlab.material.remote_path import RemotePath

_PREPARING, _USING = "preparing-", "using-"
_STALE = 2 * 86400
"""Seconds after which what a process of another machine is working on is taken for left behind."""


def cache_folder(chosen: str | None = None) -> Path:
    """The folder of the user's choice, else ``$MQLAB_WORKSPACE``, else one below the user's cache.

    Raises:
        WorkspaceError: it cannot be made or written, or is not this user's alone.
    """
    given = chosen or os.environ.get("MQLAB_WORKSPACE")
    if given and remote.is_uri(given):
        return _elsewhere(given)
    folder = Path(given) if given else home()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _ensure_own(folder)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise WorkspaceError(str(folder), error.strerror or str(error)) from error
    return folder.resolve()


def _ensure_own(folder: Path) -> None:
    if because := objection(folder):
        raise WorkspaceError(str(folder), because)


def local_folder(cache: Path | None = None) -> Path:
    """*cache*, without it the one of the environment, where it is on this machine; else that below the user's cache.

    Raises:
        WorkspaceError: it cannot be made or written.
    """
    known = cache or cache_folder()
    return cache_folder(str(home())) if isinstance(known, RemotePath) else known


def temporary(cache: Path | None = None) -> Path:
    """A new folder of our own on this machine, below *cache* if that is here.

    Whoever asks for it removes it, or a later run should this one be killed.

    Raises:
        WorkspaceError: it cannot be made.
    """
    folder = _own(local_folder(cache), _PREPARING)
    try:
        folder.mkdir(mode=stat.S_IRWXU)
    except OSError as error:
        raise WorkspaceError(str(folder.parent), error.strerror or str(error)) from error
    return folder


@contextmanager
def scratch(cache: Path | None = None) -> Iterator[Path]:
    """A folder of our own that is removed when the block ends, or by a later run should this one be killed.

    It is on this machine; the folder of the same name in *cache*, if that is elsewhere, goes with it.

    Raises:
        WorkspaceError: there is no place for it.
    """
    cache = cache or cache_folder()
    named = _own(cache, _PREPARING)
    folder = local_folder(cache) / named.name
    folder.mkdir(mode=stat.S_IRWXU)
    try:
        yield folder
    finally:
        storage.remove(folder)
        if named != folder:
            storage.remove(named)


def put(cache: Path, path: Path, content: bytes) -> None:
    """Write a file of the workspace as a whole or not at all."""
    storage.put(path, content, by_way_of=_own(cache, _PREPARING))


@dataclass
class Hold:
    """Keeps batches from being removed for as long as we look at them."""

    cache: Path
    temporary: set[Path] = field(default_factory=set)
    """Folders that go when the hold ends."""
    _folder: Path | None = None

    def add(self, *names: str) -> None:
        """Hold the batches with these names."""
        if self._folder is None:
            self._folder = _own(self.cache, _USING)
            self._folder.mkdir(mode=stat.S_IRWXU)
        for name in names:
            (self._folder / name).touch()

    def only(self, names: Iterable[str]) -> None:
        """Let go of all batches but those with these names."""
        for file in self._folder.iterdir() if self._folder else ():
            if file.name not in set(names):
                storage.remove(file)

    def release(self) -> None:
        """Let go of everything."""
        for folder in (*self.temporary, *((self._folder,) if self._folder else ())):
            storage.remove(folder)


def held(cache: Path) -> frozenset[str]:
    """Names of the batches that processes look at."""
    return frozenset(file.name for folder in cache.glob(f"{_USING}*") for file in folder.glob("*"))


def bury(cache: Path) -> None:
    """Remove what processes that no longer live were working on."""
    for left in [path for prefix in (_PREPARING, _USING) for path in cache.glob(f"{prefix}*")]:
        host, _, process = left.name.partition("-")[2].rpartition("-")[0].rpartition("-")
        dead = host == _host() and process.isdigit() and not _lives(int(process))
        if dead or (storage.age(left) or 0) > _STALE:
            storage.remove(left)


def _elsewhere(uri: str) -> Path:
    folder = RemotePath(uri)
    probe = _own(folder, _PREPARING)
    try:
        if uri.startswith("file://"):
            here = Path(uri.removeprefix("file://"))
            here.mkdir(parents=True, exist_ok=True, mode=stat.S_IRWXU)
            _ensure_own(here)
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except (OSError, RemoteError) as error:
        raise WorkspaceError(uri, remote.said(error)) from error
    return folder


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _own(cache: Path, prefix: str) -> Path:
    """A name that nobody else uses and that says whose it is."""
    return cache / f"{prefix}{_host()}-{os.getpid()}-{secrets.token_hex(6)}"


def _host() -> str:
    return "".join(c for c in socket.gethostname() if c.isalnum() or c == ".") or "host"
