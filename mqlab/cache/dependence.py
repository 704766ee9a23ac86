"""Which code a result depends on: only a change of that code makes the result worth nothing.

A version is a hash of the source text of some modules and of everything that they import from this package. What
becomes of the facts later on (detectors, screen, report) is in none of them. A process takes the versions once, since
it goes on with the code that it has loaded.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

import pyspark

from mqlab.loaders import LOADERS
from mqlab.sources import Reading

SCANNING = ("mqlab.material.archives", "mqlab.material.inflating", "mqlab.scan")
"""What reads the raw bytes: unpacks them where Spark cannot, and scans them."""
THINNING = (*SCANNING, "mqlab.scanning.completeness", "mqlab.intake", "mqlab.material.quoting", "mqlab.signals")
"""All of that, what recognises the files, and what makes and checks the rows that leave Spark."""

_PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(r"^[ \t]*from (mqlab[\w.]*) import (\([^)]*\)|[^\n]*)|^[ \t]*import (mqlab[\w.]*)", re.MULTILINE)


@cache
def scan_versions(package: Path = _PACKAGE) -> Mapping[Reading, str]:
    """Version of the scan's results, by how a source is read: loaders count for their own kind of reading only."""
    versions = {}
    for reading in Reading:
        others = {str(loader.__name__) for loader in LOADERS if loader.READING is not reading}  # type: ignore[attr-defined]
        versions[reading] = _version(modules(SCANNING, others, package), package)
    return versions


@cache
def rows_version(package: Path = _PACKAGE) -> str:
    """Version of what leaves Spark."""
    return _version(modules(THINNING, (), package), package)


def modules(roots: Collection[str], without: Collection[str] = (), package: Path = _PACKAGE) -> frozenset[str]:
    """Names of *roots* and of all that they import from this package, themselves or by way of others.

    *without* are left out, and so is what only they import. A package counts where a name of its own is imported.
    """
    found: set[str] = set()
    ahead = set(roots)
    while ahead:
        name = ahead.pop()
        found.add(name)
        ahead |= _imported(_file(name, package), package) - found - set(without)
    return frozenset(found)


def _imported(file: Path, package: Path) -> set[str]:
    found = set()
    for origin, names, whole in _IMPORT.findall(file.read_text(encoding="utf-8")):
        parts = [part.split(" as ")[0].strip() for part in re.sub(r"#[^\n]*", "", names).strip("()").split(",")]
        found |= {_module(origin, part, package) for part in parts if part} if origin else {whole}
    return found


def _module(origin: str, name: str, package: Path) -> str:
    inner = f"{origin}.{name}"
    return inner if _file(inner, package).exists() else origin


def _file(name: str, package: Path) -> Path:
    place = package.joinpath(*name.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def _version(names: Collection[str], package: Path) -> str:
    digest = hashlib.sha256(pyspark.__version__.encode())
    for name in sorted(names):
        digest.update(f"\n{name}\n".encode())
        digest.update(_file(name, package).read_bytes())
    return digest.hexdigest()[:16]
