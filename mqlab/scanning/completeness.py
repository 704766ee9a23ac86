"""Whether Spark read all that is there: bytes counted against bytes on disk.

Spark passes over what it cannot read, so that one damaged file does not end a run. What it passed over is seen here.
"""

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
    """*sources*, with a problem where the thinned *rows* count fewer bytes than an uncompressed file has."""
    counted: Counter[str] = Counter()
    for fact, payload in rows:
        if fact == "coverage":
            row = json.loads(payload)
            counted[row["source"]] += row["bytes"]
    return [_checked(source, counted[source.link]) for source in sources]


def _checked(source: Source, counted: int) -> Source:
    if not source.has_content or source.problem or source.location.endswith((".gz", ".bz2")):
        return source
    here = Path(source.location)
    size = source.size if is_uri(source.location) or not here.exists() else here.stat().st_size
    if counted >= size - _UNCOUNTED:
        return source
    told = f"Only {counted:,} of its {size:,} bytes could be read: check that every worker may read it."
    return replace(source, problem=told)
