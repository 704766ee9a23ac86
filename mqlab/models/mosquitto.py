"""What mosquitto's configuration makes of topics: bridges to other brokers, and access rules.

Bridges (mosquitto.conf): a broker with a bridge is a client of the other one. A line ``topic PATTERN DIRECTION QOS
LOCAL REMOTE`` sends LOCAL + PATTERN of this broker to REMOTE + PATTERN of the other one (out, the default), takes it
from there (in), or both. A broker does not send a message back on the connection that brought it to the broker that
opened it (``bridge__new``); over another connection it goes.

Access (``src/security_default.c``): the rules of the user, else of nobody, are tried in their order, those that deny
first; then the patterns, which hold for everybody. The first that matches and gives the access allows; what no rule
allows is denied. A topic that begins with ``$`` is matched only by a rule that does. SUBSCRIBE is never refused:
deliveries are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab.models.mqtt import common, matches

ROUNDS = 3
"""Times that a topic must be able to come round; prefixes that are added each time make it stop fitting at once."""
_DIRECTIONS = ("out", "in", "both")


@dataclass(frozen=True, slots=True)
class TopicRule:
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
    rules: tuple[TopicRule, ...]


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


def topic_rule(text: str) -> TopicRule | None:
    """The rule that the value of a ``topic`` line writes; None where its direction is none. ``""`` is no prefix."""
    words = ["" if word == '""' else word for word in text.split()]
    direction = words[1] if len(words) > 1 else "out"
    if not words or direction not in _DIRECTIONS:
        return None
    local, remote = (*words[3:5], "", "")[:2]
    return TopicRule(words[0], direction, local, remote)


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


READ, WRITE, BOTH, DENY = "read", "write", "readwrite", "deny"
_DANGEROUS = frozenset("+#/")


@dataclass(frozen=True, slots=True)
class AccessRule:
    """One line of an ACL file."""

    user: str | None
    """Of the line ``user`` above it; None above the first of them, where rules are for clients without a user name."""
    access: str
    """read, write, readwrite or deny."""
    filter: str
    pattern: bool = False
    """For everybody; ``%u`` and ``%c`` stand for user name and client id."""


def allowed(rules: Sequence[AccessRule], access: str, topic: str, user: str | None, client: str) -> bool:
    """*access* (read or write) to *topic* is allowed to *client* of *user* (None: without a user name)."""
    own = [rule for rule in rules if not rule.pattern and rule.user == user]
    told = _verdict([(rule.access, rule.filter) for rule in own], access, topic)
    if told is not None:
        return told
    patterns = [rule for rule in rules if rule.pattern]
    if patterns and (_DANGEROUS & set(user or "") or _DANGEROUS & set(client)):
        return False
    return _verdict(list(_filled(patterns, user, client)), access, topic) is True


def _filled(patterns: Sequence[AccessRule], user: str | None, client: str) -> Iterator[tuple[str, str]]:
    for rule in patterns:
        if "%u" not in rule.filter or user is not None:
            yield rule.access, "".join(_words(rule.filter, user, client))


def _words(text: str, user: str | None, client: str) -> Iterator[str]:
    """*text* with both words put in at once: what a user name holds is not replaced again."""
    for number, piece in enumerate(text.split("%")):
        if number == 0:
            yield piece
        elif piece[:1] == "c":
            yield client + piece[1:]
        elif piece[:1] == "u" and user is not None:
            yield user + piece[1:]
        else:
            yield f"%{piece}"


def _verdict(rules: Sequence[tuple[str, str]], access: str, topic: str) -> bool | None:
    for given, name in sorted(rules, key=lambda rule: rule[0] != DENY):
        if topic.startswith("$") and not name.startswith("$"):
            continue
        if matches(name, topic):
            if given == DENY:
                return False
            if given in (access, BOTH):
                return True
    return None
