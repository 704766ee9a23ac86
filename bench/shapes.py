"""A line's shape, as plain patterns: what mqlab makes of a message, for Polars, DuckDB and the tests.

The patterns use nothing that Rust's and Google's regular expressions lack. When mqlab masks otherwise, this is the one
place to follow it.
"""

from __future__ import annotations

import re

HEADER = 26
"""Characters of ``[2026-01-01 00:00:00,000] ``; the shape begins with the level."""
LENGTH = 80
"""Characters that are looked at."""
FRAME = r"^\s+(?:at |\.\.\. )"
"""A frame of a stack trace; all of them are one shape."""
ANY_FRAME = "…"
MASKS = (
    (r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{2,12}", "<id>"),
    (r"[0-9]+(?:[.,:]+[0-9]+)*", "#"),
)
"""Identifiers, then numbers and addresses."""
ROUGH = ("[0-9]+", "0")
"""What makes few shapes of many; digits stay digits, so that identifiers can still be told."""
FINE = (
    (r"\b(?:0-)?[0-9a-fA-F]{1,8}(?:-[0-9a-fA-F]{1,8}){3}-[0-9a-fA-F]{1,12}\b", "<id>"),
    (r"0(?:[.,:]+0)*", "#"),
)
"""``MASKS`` for rough shapes. A number before an identifier goes with it: nobody can tell the two apart."""


def shape(line: str) -> str:
    """The shape of *line*, dated or not."""
    if re.search(FRAME, line):
        return ANY_FRAME
    start = HEADER if line.startswith("[2") else 0
    text = line[start : start + LENGTH]
    for pattern, name in MASKS:
        text = re.sub(pattern, name, text)
    return text
