"""Line shapes: what remains of a line when everything that varies is masked.

Rough shapes, with their digits masked, are made of all lines at once (``vectors.rough``); ``fine`` is asked about the
few that are left after counting::

    [2026-11-21 12:18:43,427] INFO [UnifiedLog partition=t-0, dir=/data] Rolled new log segment at offset 4711 in 3 ms.
    INFO [UnifiedLog partition=t-#, dir=/data] Rolled new log segment at offset # in # ms.
"""

from __future__ import annotations

import re
from functools import lru_cache

from mqlab.secrets import mask

_REST_OF_STAMP = r"^(?:[.,]#? ?(?:Z|UTC|[+-]#:?#)?[ \]]+|(?:Z|[+-]#:?#)?: )"
"""What stands between the seconds and the message in layouts whose fraction has any length."""
_HEX = r"[0-9a-fA-F#]"
_STEPS = tuple(
    (re.compile(pattern, re.ASCII), name)
    for pattern, name in (
        (_REST_OF_STAMP, ""),
        (rf"(?<![\w#])(?:#-)?{_HEX}{{1,8}}(?:-{_HEX}{{1,8}}){{3}}-{_HEX}{{1,12}}(?![\w#])", "<id>"),
        (rf"(?<![\w#])(?=[#-]*[a-fA-F][^ ]*#|#[#-]*[a-fA-F]){_HEX}{{1,8}}(?:-{_HEX}{{0,12}}){{0,4}}$", "<id>"),
        (
            r"(?<![\w#])(?=[A-Za-z_-]*#)(?=[a-z#_-]*[A-Z])(?=[A-Z#_-]*[a-z])(?=[\w-]*#[\w-]*#)[\w#-]{14,24}(?![\w#])",
            "<id>",
        ),
        (r"#[#.,:]*#", "#"),
    )
)
"""UUIDs, with a number before them; one that the end cuts off; 22 characters of base 64, as Kafka's topic ids;
numbers and addresses."""
_FRAME = re.compile(r"^\s+(?:at |\.\.\. )", re.ASCII)
"""A frame of a stack trace; all of them are one shape."""


@lru_cache(maxsize=1 << 14)
def fine(rough: str) -> str:
    """The shape proper of a rough one: numbers, ids and addresses masked, stack frames as one, no secret in it."""
    if _FRAME.match(rough):
        return "…"
    for pattern, name in _STEPS:
        rough = pattern.sub(name, rough)
    return mask(rough)
