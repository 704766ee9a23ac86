"""Whether all was read that is there: what stopped a reader, and bytes counted against bytes on disk."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from mqlab.material.filesystems import is_uri
from mqlab.sources import Source

_UNCOUNTED = 3
"""Bytes of a file that no line has: a byte order mark."""


def checked(sources: Sequence[Source], rows: Iterable[tuple[str, str]]) -> list[Source]:
    """*sources*, with a problem where the thinned *rows* tell of damage, or of fewer bytes than the file has."""
    counted: Counter[str] = Counter()
    damaged: dict[str, str] = {}
    for fact, payload in rows:
        if fact == "coverage":
            row = json.loads(payload)
            counted[row["source"]] += row["bytes"]
            if "damage" in row:
                damaged[row["source"]] = row["damage"]
    return [_checked(source, counted[source.link], damaged.get(source.link)) for source in sources]


def _checked(source: Source, counted: int, damage: str | None) -> Source:
    if not source.has_content or source.problem:
        return source
    if damage or source.packed:
        return replace(source, problem=damage)
    here = Path(source.location)
    size = source.size if is_uri(source.location) or not here.exists() else here.stat().st_size
    if counted >= size - _UNCOUNTED:
        return source
    told = f"Only {counted:,} of its {size:,} bytes could be read: check that every worker may read it."
    return replace(source, problem=told)
