"""Lines that are a broker's only in its own files: their words say too little to be looked for anywhere else.

``1795264903: Client concentrator disconnected.`` may be any server's line, ``viewer 1 grid/#`` anybody's. In a file of
mosquitto they are read as a whole: what stands behind the moment must fit from its first word to its last.
"""

from __future__ import annotations

from mqlab.formats.base import regex
from mqlab.formats.mosquitto_log import PREFIX
from mqlab.formats.signatures import BUILT_IN, FAR, Found, compiled

TRACE = r" PUBLISH (?:to|from) .* \(d\d, q\d, r\d, m\d+, '"
"""A line that the broker writes for one message."""
VARIES = r", m\d+, '|\(\d+ bytes\)\)\s*$"
"""What lines about messages of one client, topic and QoS with the same flags differ in."""

_OWN = tuple((n, s) for n, s in enumerate(BUILT_IN) if s.only)
_SURE = tuple((n, s) for n, s in _OWN if not s.unless)
_SAID = regex("|".join(f"(?:{s.unnamed})" for _, s in _SURE))
_PREFIX = regex(PREFIX)


def message(line: str) -> str | None:
    """What stands behind the moment of a line that the broker itself wrote; None for a line of somebody else's."""
    near = line[:FAR]
    if dated := _PREFIX.match(near):
        return line[dated.end() :]
    return line if _SAID.match(near) else None


def select(line: str, said: str) -> Found | None:
    """The signature that the *message* of the *line* fits; those that could be anybody's words only behind a moment."""
    near, start = said[:FAR], len(line) - len(said)
    tried = _OWN if start else _SURE
    chosen = next((number for number, s in tried if _fits(near, s.begins, s.unless)), None)
    return None if chosen is None else Found(chosen, start)


def _fits(said: str, begins: str, unless: str) -> bool:
    if unless and compiled(unless).match(said):
        return False
    return compiled(begins).match(said) is not None
