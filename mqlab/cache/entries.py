"""Entries: what recognition and thinning made of some paths, so that the same paths need no Spark a second time.

An entry is one compressed file: a line that says for which state of the files it holds and in which batches their rows
stand, and a line with all the rest. It is named after the paths and the code, so that material that grows has one
entry, not one for each of its states. ``checked`` says beforehand whether all was read: bytes counted against bytes on
disk.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from glob import glob
from pathlib import Path
from typing import Any

from mqlab import notes
from mqlab.cache import storage, workspace
from mqlab.cache.batches import Places
from mqlab.material import remote
from mqlab.material.remote import is_uri
from mqlab.material.walking import STDIN
from mqlab.sources import Envelope, Reading, Source

_UNCOUNTED = 3
"""Bytes of a file that no line has: a byte order mark."""


def checked(sources: Sequence[Source], rows: Iterable[tuple[str, str]]) -> list[Source]:
    """*sources*, with a problem where the thinned *rows* tell of damage, of fewer bytes than the file has, or of doubt.

    Doubt is whether some rows of a ledger are those of another one.
    """
    counted: Counter[str] = Counter()
    damaged: dict[str, str] = {}
    paths = {source.link: source.path for source in sources}
    for fact, payload in rows:
        if fact == "overlaps" and (row := json.loads(payload))["open"]:
            damaged[row["source"]] = (
                f"Some of its rows are also in {paths[row['other']]}. Whether it is a copy or another process noted "
                "the same cannot be told, so they count once."
            )
        if fact == "coverage":
            row = json.loads(payload)
            counted[row["source"]] += row["bytes"]
            if "damage" in row:
                damaged[row["source"]] = row["damage"]
    return [_checked(source, counted[source.link], damaged.get(source.link)) for source in sources]


def _checked(source: Source, counted: int, damage: str | None) -> Source:
    if not source.has_content or source.problem:
        return source
    if damage or source.packed or source.part:
        return replace(source, problem=damage)
    here = Path(source.location)
    size = source.size if is_uri(source.location) or not here.exists() else here.stat().st_size
    if counted >= size - _UNCOUNTED:
        return source
    told = f"Only {counted:,} of its {size:,} bytes could be read: check that every worker may read it."
    return replace(source, problem=told)


_PREFIX, _SUFFIX = "material-", ".json.gz"
_BROKEN = (OSError, EOFError, ValueError, KeyError, TypeError)
"""What reading an entry raises that is not one of ours."""

State = Mapping[str, tuple[int, int]]
"""Size in bytes and time in nanoseconds of each file, by its absolute path."""


@dataclass(frozen=True)
class Material:
    """Some paths as they were read."""

    sources: tuple[Source, ...]
    rows: tuple[tuple[str, str], ...]
    """(fact, payload) as Spark handed them over."""
    places: Places


def state(paths: Sequence[str]) -> State | None:
    """How the files behind *paths* are now; None for standard input and pipes, which nobody can read twice."""
    if STDIN in paths or any(_is_stream(path) for path in paths):
        return None
    found: dict[str, tuple[int, int]] = {}
    for path in paths:
        if remote.is_uri(path):
            found |= {file.uri: (file.size, round((file.modified or 0) * 1e9)) for file in remote.found(path)[1]}
        else:
            found |= {str(file): known for file in _files(path) if (known := _state_of(file))}
    return found


def place(cache: Path, paths: Sequence[str], version: str) -> Path:
    """Where the entry of *paths* stands, as read by code of this *version*."""
    absolute = [path if remote.is_uri(path) else os.path.abspath(path) for path in paths]  # noqa: PTH100
    named = repr((version, list(zip(paths, absolute, strict=True))))
    return cache / f"{_PREFIX}{_digest(named)}{_SUFFIX}"


def load(file: Path, wanted: State) -> Material | None:
    """The material in the entry *file*, if it is there and was read in the *wanted* state."""
    content = storage.get(file)
    try:
        with gzip.open(io.BytesIO(content or b"")) as lines:
            if json.loads(lines.readline())["state"] != _digest(repr(sorted(wanted.items()))):
                return None
            found = json.loads(lines.readline())
            return Material(
                tuple(_source(known) for known in found["sources"]),
                tuple((fact, payload) for fact, payload in found["rows"]),
                Places(found["places"], found["alone"], frozenset(found["cut"]), found["files"]),
            )
    except _BROKEN:
        return None


def store(cache: Path, file: Path, known: State, material: Material) -> None:
    """Keep *material*, read in the state *known*, as the entry *file*."""
    places = material.places
    head = {"state": _digest(repr(sorted(known.items()))), "batches": places.batches}
    body = {
        "sources": [asdict(source) for source in material.sources],
        "rows": material.rows,
        "places": places.by_link,
        "alone": places.alone,
        "cut": sorted(places.cut),
        "files": dict(places.files),
    }
    content = f"{json.dumps(head)}\n{json.dumps(body)}\n".encode()
    workspace.put(cache, file, gzip.compress(content, 1, mtime=0))


def files(cache: Path) -> list[Path]:
    """Every entry."""
    return sorted(cache.glob(f"{_PREFIX}*{_SUFFIX}"))


def batches_of(file: Path) -> frozenset[str]:
    """Names of the batches that the entry *file* refers to; none where it cannot be read."""
    try:
        with gzip.open(io.BytesIO(storage.get(file) or b"")) as lines:
            return frozenset(json.loads(lines.readline())["batches"])
    except _BROKEN:
        return frozenset()


def _source(known: dict[str, Any]) -> Source:
    return Source(**known | {"reading": Reading(known["reading"]), "envelope": Envelope(known["envelope"])})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:24]


def _files(path: str) -> Iterator[Path]:
    """The files behind *path*, without the user's notes: those are read every time."""
    for found in [path] if os.path.lexists(path) else glob(path, recursive=True, include_hidden=True):  # noqa: PTH207
        if not Path(found).is_dir():
            yield Path(found).absolute()
            continue
        own = Path(found, notes.NAME).absolute()
        for folder, _, names in os.walk(found):
            yield from (file for name in names if (file := Path(folder, name).absolute()) != own)


def _state_of(file: Path) -> tuple[int, int] | None:
    try:
        known = file.stat()
    except OSError:
        return (0, 0) if file.is_symlink() else None
    return known.st_size, known.st_mtime_ns


def _is_stream(path: str) -> bool:
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
