"""What goes from the workspace: leftovers of runs that were killed, and what nobody has used for a month."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from mqlab.cache import batches, entries, storage, workspace

UNUSED = 30 * 86400
"""Seconds after which what was not used is removed."""


def tidy(cache: Path) -> None:
    """Remove what is left behind or was not used for 30 days; nothing that a running process looks at."""
    workspace.bury(cache)
    for file in entries.files(cache):
        if (storage.age(file) or 0) > UNUSED:
            storage.remove(file)
    whole = {name: batches.age(cache, name) for name in batches.names(cache)}
    unneeded(cache, [name for name, age in whole.items() if age is None or age > UNUSED])


def unneeded(cache: Path, names: Collection[str]) -> None:
    """Remove those of these batches that no entry refers to."""
    if names:
        needed = {name for file in entries.files(cache) for name in entries.batches_of(file)}
        for name in names:
            if name not in needed:
                batches.remove(cache, name)
