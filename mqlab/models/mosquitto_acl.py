"""mosquitto's access rules: may this user and client publish to, or get, this topic (``src/security_default.c``).

The rules of the user, else of nobody, are tried in their order, those that deny first; then the patterns, which hold
for everybody. The first that matches and gives the access allows; what no rule allows is denied. A topic that begins
with ``$`` is matched only by a rule that does. SUBSCRIBE is never refused: deliveries are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab.models.mqtt import matches

READ, WRITE, BOTH, DENY = "read", "write", "readwrite", "deny"
_DANGEROUS = frozenset("+#/")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ACL file."""

    user: str | None
    """Of the line ``user`` above it; None above the first of them, where rules are for clients without a user name."""
    access: str
    """read, write, readwrite or deny."""
    filter: str
    pattern: bool = False
    """For everybody; ``%u`` and ``%c`` stand for user name and client id."""


def allowed(rules: Sequence[Rule], access: str, topic: str, user: str | None, client: str) -> bool:
    """*access* (read or write) to *topic* is allowed to *client* of *user* (None: without a user name)."""
    own = [rule for rule in rules if not rule.pattern and rule.user == user]
    told = _verdict([(rule.access, rule.filter) for rule in own], access, topic)
    if told is not None:
        return told
    patterns = [rule for rule in rules if rule.pattern]
    if patterns and (_DANGEROUS & set(user or "") or _DANGEROUS & set(client)):
        return False
    return _verdict(list(_filled(patterns, user, client)), access, topic) is True


def _filled(patterns: Sequence[Rule], user: str | None, client: str) -> Iterator[tuple[str, str]]:
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
