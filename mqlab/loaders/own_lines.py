"""Lines that are a broker's only in its own files: their words say too little to be looked for anywhere else.

``1795264903: Client concentrator disconnected.`` may be any server's line, ``viewer 1 grid/#`` anybody's. In a file of
mosquitto they are read as a whole: what stands behind the moment must fit from its first word to its last.
"""

from __future__ import annotations

from mqlab.loaders import mosquitto_log
from mqlab.loaders.base import Signature
from mqlab.loaders.mosquitto_lines import PREFIX, SIGNATURES
from mqlab.sql import group, matches, quoted, replaced

FAR = 4000
"""Characters up to which such a line may reach; a longer one is counted only."""
TRACE = r" PUBLISH (?:to|from) .* \(d\d, q\d, r\d, m\d+, '"
"""A line that the broker writes for one message."""
_VARIES = r", m\d+, '|\(\d+ bytes\)\)\s*$"
_SAID = "|".join(s.begins for s in SIGNATURES if not s.unless)


def is_file(link: str) -> str:
    """SQL: true where the link of a source (``Source.link``) is that of a file of mosquitto."""
    return f"contains({link}, {quoted(f'.{mosquitto_log.FORMAT}.')})"


def is_own(link: str, line: str) -> str:
    """SQL: true for a line that the broker itself wrote: behind its own moment, or without one but in its words."""
    return f"({is_file(link)} AND {matches(_near(line), f'^(?:{PREFIX}|{_SAID})')})"


def message(line: str) -> str:
    """SQL: what stands behind the moment."""
    return group(line, f"^(?:{PREFIX})?(.*)$")


def kept(line: str) -> str:
    """SQL: true for a line that one of the signatures fits."""
    whole = matches(_near(line), f"^(?:{PREFIX})?(?:{_SAID})")
    vague = [f"({fits(message(_near(line)), s)})" for s in SIGNATURES if s.unless]
    return f"({whole} OR ({matches(_near(line), f'^{PREFIX}')} AND ({' OR '.join(vague)})))"


def traced(line: str) -> str:
    """SQL: what lines about messages of one client, topic and QoS with the same flags have in common."""
    return replaced(message(_near(line)), _VARIES, "#")


def fits(said: str, signature: Signature) -> str:
    """SQL: true where *said*, a line behind its moment, is of *signature*."""
    told = matches(said, f"^(?:{signature.begins})")
    return f"{told} AND NOT {matches(said, f'^(?:{signature.unless})')}" if signature.unless else told


def _near(line: str) -> str:
    return f"substring({line}, 1, {FAR})"
