"""Line shapes: what remains of a line when everything that varies is masked.

``rough`` runs on every line and is cheap; ``fine`` runs on the few rough shapes that are left after grouping::

    [2026-11-21 12:18:43,427] INFO [UnifiedLog partition=t-0, dir=/data] Rolled new log segment at offset 4711 in 3 ms.
    INFO [UnifiedLog partition=t-#, dir=/data] Rolled new log segment at offset # in # ms.
"""

from __future__ import annotations

from mqlab.sql import quoted

LENGTH = 80
"""Bytes of a line, behind its date, that make its shape."""

_REST_OF_STAMP = r"^(?:[.,]#? ?(?:Z|UTC|[+-]#:?#)?[ \]]+|(?:Z|[+-]#:?#)?: )"
"""What stands between the seconds and the message in layouts whose fraction has any length."""
_HEX = r"[0-9a-fA-F#]"
_IDS = (
    (rf"(?<![\w#])(?:#-)?{_HEX}{{1,8}}(?:-{_HEX}{{1,8}}){{3}}-{_HEX}{{1,12}}(?![\w#])", "<id>"),
    (rf"(?<![\w#])(?=[#-]*[a-fA-F][^ ]*#|#[#-]*[a-fA-F]){_HEX}{{1,8}}(?:-{_HEX}{{0,12}}){{0,4}}$", "<id>"),
    (r"(?<![\w#])(?=[A-Za-z_-]*#)(?=[a-z#_-]*[A-Z])(?=[A-Z#_-]*[a-z])(?=[\w-]*#[\w-]*#)[\w#-]{14,24}(?![\w#])", "<id>"),
    (r"#[#.,:]*#", "#"),
)
"""UUIDs, with a number before them; one that the end cuts off; 22 characters of base 64, as Kafka's topic ids;
numbers and addresses."""
_FRAME = r"^\s+(?:at |\.\.\. )"
"""A frame of a stack trace; all of them are one shape."""


def rough(line: str) -> str:
    """SQL: the beginning of *line*, which may be bytes, with its digits masked."""
    return f"regexp_replace(CAST({line} AS STRING), '[0-9]+', '#')"


def fine(rough: str) -> str:
    """SQL: the shape proper of a rough one: numbers, ids and addresses masked, stack frames as one."""
    shape = f"CASE WHEN {rough} RLIKE {quoted(_FRAME)} THEN '…' ELSE {rough} END"
    for pattern, name in ((_REST_OF_STAMP, ""), *_IDS):
        shape = f"regexp_replace({shape}, {quoted(pattern)}, {quoted(name)})"
    return shape
