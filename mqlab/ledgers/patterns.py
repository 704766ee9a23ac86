r"""Patterns of the user's map: regexes whose named groups say what stands where in lines of a log.

Sample::

    pattern = 'did (?P<key>\S+) from (?P<topic>[\w.-]+)/(?P<partition>\d+)/(?P<offset>\d+)'

A pattern is looked for anywhere in a line. Python checks it and Rust reads it where it can, so it may hold only what
both read alike: no lookaround, no back references, no braces or brackets that stand for themselves without a backslash.
"""

from __future__ import annotations

import re

from mqlab.ledgers.layout import LineShape

GROUPS = {
    "time": "time", "topic": "topic", "partition": "queue", "offset": "offset", "key": "key", "status": "status",
    "qos": "qos", "dup": "dup", "retained": "retained", "place": "place",
}  # fmt: skip
"""Fields that a group may hold, by the names of the groups; ``place`` is topic and partition in one, ``orders-0``."""
_NAMED = re.compile(r"\(\?P<\w+>")
_FOREIGN = re.compile(r"\(\?(?!:|P<|i:|i\))|\\(?:[1-9]|[ZNUv])|[*+?}]\+|\\$")
_CLASS = re.compile(r"\[\^?(\]?[^\]]*)\]")
_REPEATS = re.compile(r"\{\d+(?:,\d*)?\}")


def wrong(pattern: str) -> str | None:
    """What is wrong with a pattern, to be said after the number of its entry; None where nothing is."""
    if _FOREIGN.search(pattern.replace("\\\\", "")) or _is_loose(pattern):
        return "has a pattern that not every engine reads: without lookaround, back references and bare [, { in it"
    try:
        groups = re.compile(pattern).groupindex
    except (re.error, RecursionError, OverflowError) as error:
        return f"has a pattern that is no regex ({error})"
    unknown = sorted(set(groups) - set(GROUPS))
    if unknown:
        return f"has a pattern with unknown groups {', '.join(map(repr, unknown))}; known are {', '.join(GROUPS)}"
    placed = "offset" in groups and ("partition" in groups or "place" in groups)
    return None if placed or "key" in groups else "needs a group for key in its pattern, or for partition and offset"


def shape(pattern: str, role: str, fixed: dict[str, str]) -> LineShape:
    """The lines that a pattern fits; *fixed* are facts that the map tells of all of them."""
    groups = {GROUPS[name]: number for name, number in re.compile(pattern).groupindex.items()}
    return LineShape(_NAMED.sub("(", pattern), groups, role, "map", fixed)


def _is_loose(pattern: str) -> bool:
    """Whether brackets or braces stand for themselves, which Rust takes for a class in a class and for a repetition."""
    bare = re.sub(r"\\.", "", pattern)
    classes = _CLASS.findall(bare)
    outside = _REPEATS.sub("", _CLASS.sub("", bare))
    return any("[" in inside or "&&" in inside or inside.startswith("]") for inside in classes) or "{" in outside
