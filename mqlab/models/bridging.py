"""Bridges between MQTT brokers: which topics cross them under which name, and whether they come back (mosquitto.conf).

A broker with a bridge is a client of the other one. A line ``topic PATTERN DIRECTION QOS LOCAL REMOTE`` sends
LOCAL + PATTERN of this broker to REMOTE + PATTERN of the other one (out, the default), takes it from there (in), or
both. A broker does not send a message back on the connection that brought it to the broker that opened it
(``bridge__new``, mosquitto); over another connection it goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

ROUNDS = 3
"""Times that a topic must be able to come round; prefixes that are added each time make it stop fitting at once."""
_DIRECTIONS = ("out", "in", "both")


@dataclass(frozen=True, slots=True)
class Rule:
    """One topic line of a bridge."""

    pattern: str
    direction: str
    local: str = ""
    remote: str = ""


@dataclass(frozen=True, slots=True)
class Bridge:
    """One connection between brokers, with the broker that opened it first."""

    name: str
    here: str
    there: str
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """What one rule carries from one broker to another one."""

    bridge: Bridge
    sender: str
    receiver: str
    filter: str
    """Topics of the sender that it carries."""
    taken: str
    """Prefix that the topic loses on the way."""
    given: str
    """Prefix that it gets instead."""


@dataclass(frozen=True, slots=True)
class Circle:
    """Two ways on which a message goes round for ever."""

    out: Way
    back: Way
    topics: str
    """Filter of the topics that come round, as they come back to the first broker."""


def rule(text: str) -> Rule | None:
    """The rule that the value of a ``topic`` line writes; None where its direction is none. ``""`` is no prefix."""
    words = ["" if word == '""' else word for word in text.split()]
    direction = words[1] if len(words) > 1 else "out"
    if not words or direction not in _DIRECTIONS:
        return None
    local, remote = (*words[3:5], "", "")[:2]
    return Rule(words[0], direction, local, remote)


def ways(bridge: Bridge) -> Iterator[Way]:
    """What a bridge carries, one way after the other."""
    for one in bridge.rules:
        local, remote = one.local + one.pattern, one.remote + one.pattern
        if one.direction in ("out", "both"):
            yield Way(bridge, bridge.here, bridge.there, local, one.local, one.remote)
        if one.direction in ("in", "both"):
            yield Way(bridge, bridge.there, bridge.here, remote, one.remote, one.local)


def circles(bridges: Sequence[Bridge]) -> tuple[Circle, ...]:
    """Pairs of ways of two connections between the same brokers on which topics come round again and again."""
    every = [way for bridge in bridges for way in ways(bridge)]
    found = []
    for place, out in enumerate(every):
        for back in every[place + 1 :]:
            ends = out.bridge != back.bridge and (out.sender, out.receiver) == (back.receiver, back.sender)
            topics = _round(out, back) if ends else None
            if topics is not None:
                found.append(Circle(out, back, topics))
    return tuple(found)


def _round(out: Way, back: Way) -> str | None:
    """The topics that come back after a round; None where nothing goes on coming back."""
    rounds: list[str] = []
    topics = out.filter
    for _ in range(ROUNDS):
        there = _carried(topics, out)
        again = _carried(there, back) if there is not None else None
        if again is None or common(again, out.filter) is None:
            return None
        rounds.append(again)
        topics = again
    return rounds[0]


def _carried(topics: str, way: Way) -> str | None:
    """What becomes of *topics* on *way*; None where it carries none of them."""
    shared = common(topics, way.filter)
    return way.given + shared.removeprefix(way.taken) if shared is not None else None


def common(one: str, other: str) -> str | None:
    """The filter of the topics that both filters match (MQTT 5.0 §4.7.1); None where there is none."""
    mine, yours, found = one.split("/"), other.split("/"), list[str]()
    for place in range(max(len(mine), len(yours))):
        here, there = mine[place : place + 1], yours[place : place + 1]
        if here == ["#"]:
            return "/".join([*found, *yours[place:]])
        if there == ["#"]:
            return "/".join([*found, *mine[place:]])
        if not here or not there or (here != there and "+" not in (here[0], there[0])):
            return None
        found.append(there[0] if here == ["+"] else here[0])
    return "/".join(found)
