"""JSON documents as hosts and tools print them: any part may be missing, of another kind, or cut off."""

from __future__ import annotations

import json
import re

_BLANKS = re.compile(r"\s*")
_DECODER = json.JSONDecoder()
_LARGE = 1 << 62
"""Beyond any offset or moment; two numbers below it have a sum of 64 bits."""


def first(text: str, start: int = 0) -> tuple[object, int]:
    """The document that begins at *start*, and where it ends; None, and the end of the text, where it is none."""
    blanks = _BLANKS.match(text, start)
    try:
        return _DECODER.raw_decode(text, blanks.end() if blanks else start)
    except (ValueError, RecursionError):
        return None, len(text)


def part(document: object, *names: str) -> object:
    """What stands under these names, one in the other; None where one is missing."""
    for name in names:
        document = document.get(name) if isinstance(document, dict) else None
    return document


def entries(document: object, *names: str) -> list[object]:
    """Entries of the list under these names; empty where there is none."""
    found = part(document, *names)
    return found if isinstance(found, list) else []


def number(document: object, *names: str) -> int | None:
    """The whole number under these names; None for anything else."""
    found = part(document, *names)
    return found if type(found) is int and abs(found) < _LARGE else None


def word(document: object, *names: str) -> str | None:
    """The text under these names, of a number its digits; None for anything else."""
    found = part(document, *names)
    if not isinstance(found, str | int | float) or isinstance(found, bool):
        return None
    return str(found).encode(errors="replace").decode()  # JSON can write half a character, \ud800
