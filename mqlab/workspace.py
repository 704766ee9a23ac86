"""The workspace: a cache folder in which each material's scan is kept, so that nothing is read twice.

An entry is named after its material (path, size and time of every file) and after the code that read it. It is
prepared under a name of its own and renamed when whole: an interrupted run leaves nothing that a later one could
mistake for a result, and two runs at once do no harm. What a killed run left behind is removed by the next one.
Only what was masked stays: unpacked archives, standard input and the links go before an entry is put in place.
"""

from __future__ import annotations

import atexit
import dataclasses
import gzip
import hashlib
import json
import os
import secrets
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from glob import glob
from pathlib import Path

from mqlab import __version__
from mqlab.errors import WorkspaceError
from mqlab.sources import Envelope, Reading, Source

_PREPARING = "preparing-"
_READERS = ("*.py", "loaders/*.py")
_STALE = 2 * 86400
"""Seconds after which an unfinished entry of another machine is taken for left behind."""


def cache_folder(chosen: str | None = None) -> Path:
    """The folder of the user's choice, else ``$MQLAB_WORKSPACE``, else one below the user's cache.

    Raises:
        WorkspaceError: it cannot be made or written.
    """
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(chosen or os.environ.get("MQLAB_WORKSPACE") or Path(home) / "mqlab")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise WorkspaceError(str(folder), error.strerror or str(error)) from error
    return folder.resolve()


def key(paths: Sequence[str]) -> str | None:
    """A name for the material behind *paths* as it is now; None for standard input, which is never the same."""
    if "-" in paths:
        return None
    digest = hashlib.sha256(_code().encode())
    for path in paths:
        digest.update(repr(("argument", path)).encode("utf-8", "surrogateescape"))
        for file in sorted(_files(path)):
            known = file.lstat()
            digest.update(repr((str(file), known.st_size, known.st_mtime_ns)).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:24]


def _files(path: str) -> Iterator[Path]:
    for found in [path] if os.path.lexists(path) else glob(path, recursive=True, include_hidden=True):  # noqa: PTH207
        if not Path(found).is_dir():
            yield Path(found).absolute()
            continue
        for folder, _, names in os.walk(found):
            yield from (Path(folder, name).absolute() for name in names)


def _code() -> str:
    package = Path(__file__).parent
    digest = hashlib.sha256(__version__.encode())
    for pattern in _READERS:
        for module in sorted(package.glob(pattern)):
            digest.update(module.read_bytes())
    return digest.hexdigest()


@dataclasses.dataclass(frozen=True)
class Entry:
    """One material's folder in the workspace."""

    folder: Path

    @property
    def tagged(self) -> Path:
        """The Parquet that the scan writes."""
        return self.folder / "tagged"

    @property
    def links(self) -> Path:
        """Links to the sources, under names that Spark can read."""
        return self.folder / "links"

    @property
    def scratch(self) -> Path:
        """Unpacked archives."""
        return self.folder / "unpacked"

    def store(self, sources: Sequence[Source], rows: Iterable[tuple[str, str]]) -> None:
        """Keep what was recognised and what Spark handed over."""
        _write(self.folder / "sources.json.gz", [dataclasses.asdict(s) for s in sources])
        _write(self.folder / "rows.json.gz", list(rows))

    def sources(self) -> list[Source]:
        """What intake recognised."""
        known = json.loads(gzip.decompress((self.folder / "sources.json.gz").read_bytes()))
        return [Source(**s | {"reading": Reading(s["reading"]), "envelope": Envelope(s["envelope"])}) for s in known]

    def rows(self) -> list[tuple[str, str]]:
        """(fact, payload) rows as Spark handed them over."""
        return [(f, p) for f, p in json.loads(gzip.decompress((self.folder / "rows.json.gz").read_bytes()))]


def _write(path: Path, content: object) -> None:
    path.write_bytes(gzip.compress(json.dumps(content).encode("utf-8", "surrogateescape"), 1, mtime=0))


def existing(cache: Path, name: str | None) -> Entry | None:
    """The whole entry called *name*, if there is one."""
    entry = Entry(cache / f"material-{name}")
    return entry if name and (entry.folder / "rows.json.gz").exists() else None


@contextmanager
def scratch(cache: Path) -> Iterator[Path]:
    """A folder of our own that is removed when the block ends, or by the next run should this one be killed."""
    _tidy(cache)
    folder = Path(tempfile.mkdtemp(prefix=_unfinished(), dir=cache))
    folder.chmod(stat.S_IRWXU)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def keep(entry: Entry, cache: Path, name: str | None) -> Entry:
    """Put *entry* in place under *name*, for good; without a name only until this process ends.

    Nothing that was not masked is kept: neither unpacked archives nor standard input.
    """
    for unmasked in (entry.scratch, entry.links):
        shutil.rmtree(unmasked, ignore_errors=True)
    if name:
        kept = Entry(cache / f"material-{name}")
    else:
        kept = Entry(cache / f"{_unfinished()}{secrets.token_hex(4)}")
        atexit.register(shutil.rmtree, kept.folder, ignore_errors=True)
    _place(entry.folder, kept.folder)
    return kept


def _place(folder: Path, final: Path) -> None:
    try:
        folder.rename(final)
    except OSError:
        if not (final / "rows.json.gz").exists():
            shutil.rmtree(final, ignore_errors=True)
            folder.rename(final)


def _tidy(cache: Path) -> None:
    """Remove what runs that no longer live were preparing."""
    for folder in cache.glob(f"{_PREPARING}*"):
        host, _, rest = folder.name.removeprefix(_PREPARING).rpartition("-")[0].rpartition("-")
        try:
            old = time.time() - folder.stat().st_mtime > _STALE
        except OSError:
            continue
        if old or (host == _host() and rest.isdigit() and not _lives(int(rest))):
            shutil.rmtree(folder, ignore_errors=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _unfinished() -> str:
    """What the name of an unfinished folder begins with: whose it is."""
    return f"{_PREPARING}{_host()}-{os.getpid()}-"


def _host() -> str:
    return "".join(c for c in socket.gethostname() if c.isalnum() or c == ".") or "host"
