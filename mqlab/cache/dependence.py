"""Which code a result depends on: a change of that code makes the result worth nothing.

What becomes of the facts later on (detectors, screen, report) does not count. A process takes the version once, since
it goes on with the code that it has loaded.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path

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
THINNING = (*READING, "signals.py", "intake.py", "cache/entries.py")
"""All of that, and what makes facts of all sources."""

_PACKAGE = Path(__file__).parents[1]


def version(parts: tuple[str, ...], package: Path = _PACKAGE) -> str:
    """A hash of these files and folders of the *package*, of the libraries that they work with, and of plug-ins."""
    return own(parts, package) + plugins.version()


@cache
def own(parts: tuple[str, ...], package: Path) -> str:
    """The same without plug-ins."""
    digest = hashlib.sha256(f"{metadata.version('pyspark')} {metadata.version('polars')}".encode())
    for part in parts:
        place = package / part
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(f"\n{file.relative_to(package)}\n".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
