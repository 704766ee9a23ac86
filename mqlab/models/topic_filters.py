"""Topic filters of MQTT: which topics a filter matches, and which filters have a topic in common (MQTT 5.0 §4.7, §4.8).

A filter of a share group is written ``$share/GROUP/FILTER``; brokers of the EMQX family also know ``$queue/FILTER``.
"""

from __future__ import annotations

QUEUE = "$queue"
"""Name of the group that ``$queue/FILTER`` stands for."""
_WILD = ("+", "#")


def shared(name: str) -> tuple[str | None, str]:
    """(share group, the filter itself) of the filter *name*; the group is None where it is not shared."""
    first, _, rest = name.partition("/")
    if first == QUEUE and rest:
        return QUEUE, rest
    group, _, inner = rest.partition("/")
    return (group, inner) if first == "$share" and group and inner else (None, name)


def valid(name: str) -> bool:
    """``#`` stands alone at the end, ``+`` alone in its level, and the filter is not empty (§4.7.1)."""
    levels = shared(name)[1].split("/")
    lone = all(level in _WILD or not set(level) & set(_WILD) for level in levels)
    return bool(name) and lone and "#" not in levels[:-1]


def matches(name: str, topic: str) -> bool:
    """The filter *name*, shared or not, matches *topic*; a leading wildcard never a ``$`` topic (§4.7.2)."""
    levels, parts = shared(name)[1].split("/"), topic.split("/")
    if topic.startswith("$") and levels[0] in _WILD:
        return False
    for place, level in enumerate(levels):
        if level == "#":
            return True
        if place >= len(parts) or level not in ("+", parts[place]):
            return False
    return len(levels) == len(parts)


def overlap(one: str, other: str) -> bool:
    """Some topic is matched by both filters, shared or not."""
    mine, yours = shared(one)[1].split("/"), shared(other)[1].split("/")
    if mine[0] != yours[0] and any(a.startswith("$") and b in _WILD for a, b in _both(mine[0], yours[0])):
        return False
    for place in range(max(len(mine), len(yours))):
        here, there = mine[place : place + 1], yours[place : place + 1]
        if ["#"] in (here, there):
            return True
        if not here or not there:
            return False
        if here != there and ["+"] not in (here, there):
            return False
    return True


def _both(one: str, other: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return (one, other), (other, one)
