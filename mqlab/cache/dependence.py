"""Which code a result depends on: a change of that code makes the result worth nothing.

What becomes of the facts later on (detectors, screen, report) does not count. A process takes the version once, since
it goes on with the code that it has loaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib import metadata, resources
from importlib.resources.abc import Traversable

from mqlab import plugins

READING = (
    "formats",
    "kernel",
    "thinning",
    "ledgers",
    "material",
    "sources.py",
    "tables.py",
    "factors.py",
    "secrets",
    "canonical.py",
    "known_errors.py",
    "known_errors.toml",
    "commands.py",
    "plugins/__init__.py",
    "plugins/entries.py",
)
"""What makes rows of bytes, and facts of the rows of one source."""
THINNING = (*READING, "signals.py", "intake.py", "units.py", "cache/entries.py")
"""All of that, and what makes facts of all sources."""

_PACKAGE = resources.files("mqlab")


def version(parts: tuple[str, ...], package: Traversable = _PACKAGE) -> str:
    """A hash of these files and folders of the *package*, of the libraries that they work with, and of plug-ins."""
    return own(parts, package) + plugins.version()  # type: ignore[arg-type]


@cache
def own(parts: tuple[str, ...], package: Traversable) -> str:
    """The same without plug-ins."""
    digest = hashlib.sha256(f"{metadata.version('pyspark')} {metadata.version('polars')}".encode())
    for part in parts:
        for name, content in _files(package.joinpath(part), part):
            digest.update(f"\n{name}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def _files(place: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    """A file, or the code below a folder; workers may have it in an archive."""
    if place.is_file():
        yield name, place.read_bytes()
        return
    for one in sorted(place.iterdir(), key=lambda one: one.name):
        if one.is_dir() or one.name.endswith(".py"):
            yield from _files(one, f"{name}/{one.name}")
