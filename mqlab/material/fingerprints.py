"""What a file is known by in the workspace: its content, not its name, so that a rotated log is not read again."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from os import SEEK_END
from pathlib import Path

from mqlab.sources import Source

ENDS = 64 << 10
"""Bytes at the beginning and at the end that are looked at."""


def fingerprint(file: Path, modified: float | None) -> str:
    """16 hex digits for the content of *file*: its size, its time and both its ends.

    Args:
        file: the bytes as they were gathered, compressed where they were.
        modified: epoch seconds; an archive member's own time.
    """
    with file.open("rb") as raw:
        size = raw.seek(0, SEEK_END)
        raw.seek(0)
        head = raw.read(ENDS)
        raw.seek(max(0, size - ENDS))
        return digest(repr((size, modified)).encode(), head, raw.read(ENDS))


def digest(*parts: bytes) -> str:
    """16 hex digits for *parts*."""
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.hexdigest()[:16]


def told_apart(sources: Sequence[Source]) -> list[Source]:
    """*sources* with a key each of its own: the second of two copies, in this order, is counted separately."""
    seen: Counter[str] = Counter()
    found = []
    for source in sources:
        copy = seen[source.key]
        seen[source.key] += 1
        found.append(replace(source, key=digest(source.key.encode(), str(copy).encode())) if copy else source)
    return found
