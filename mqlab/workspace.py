"""The workspace: a cache folder in which each material's scan is kept, so that nothing is read twice.

An entry is named after its material (path, size and time of every file) and after the code that read it. It is
prepared under a name of its own and renamed when whole: an interrupted run leaves nothing that a later one could
mistake for a result, and two runs at once do no harm.
"""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from glob import glob
from pathlib import Path

from mqlab import __version__
from mqlab.errors import WorkspaceError
from mqlab.sources import Envelope, Reading, Source

_READERS = ("*.py", "loaders/*.py")


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
    for found in [path] if os.path.lexists(path) else glob(path, recursive=True):
        if not os.path.isdir(found):
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
def preparing(cache: Path, name: str | None) -> Iterator[Entry]:
    """A new entry, put in place when the block ends well; without a *name* it is removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="preparing-", dir=cache))
    os.chmod(folder, stat.S_IRWXU)
    try:
        yield Entry(folder)
        if name:
            _place(folder, cache / f"material-{name}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _place(folder: Path, final: Path) -> None:
    try:
        folder.rename(final)
    except OSError:
        if not (final / "rows.json.gz").exists():
            shutil.rmtree(final, ignore_errors=True)
            folder.rename(final)
