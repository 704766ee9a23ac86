"""Lines made whole: what one source is made of where its file holds several things, or its lines were cut or glued.

They lie in a file of their own beside the material, one JSON list a line; evidence cites the material's own lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from mqlab.material import remote


class Whole(NamedTuple):
    """One line as its program wrote it."""

    number: int
    """Of the line of the file in which it begins, from 1."""
    lines: int
    """Lines of the file that it takes up: none where it begins within the line of the one before."""
    bytes: int
    text: str
    """As evidence shows it."""
    inner: str
    """As readers of logs know it: without envelope, its moment and level in the common way."""
    clock: int | None = None
    """The moment that its envelope shows, in microseconds since 1970."""


def written(wholes: Iterable[Whole]) -> bytes:
    """The content of the file that keeps *wholes*."""
    return b"".join(json.dumps(one, ensure_ascii=True, separators=(",", ":")).encode() + b"\n" for one in wholes)


@lru_cache(maxsize=8)
def load(place: str) -> Sequence[Whole]:
    """What ``written`` made; nothing where the file is gone."""
    try:
        with remote.opened(place) if remote.is_uri(place) else Path(place).open("rb") as file:
            return [Whole(*json.loads(line)) for line in file]
    except OSError:
        return ()
