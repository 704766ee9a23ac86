"""What makes rebalances cheaper and is not in force for a group, by the last settings that its members printed."""

from __future__ import annotations

from mqlab import words
from mqlab.facts import Facts
from mqlab.shared import actors
from mqlab.shared.configured import consumer_value
from mqlab.words import Text

say = words.room("advised")

_COOPERATIVE = "cooperative"
_PROTOCOL = "consumer"
"""Of KIP-848: it moves partitions one by one, whatever the assignor."""


def gentler(facts: Facts, group: str) -> tuple[Text, ...]:
    """Static membership and a cooperative assignor, each unless every known member has it."""
    members = sorted(client for client, its in actors.groups(facts).items() if group in its)
    ways = {"static": _is_static, "cooperative": _is_cooperative}
    return tuple(say(key) for key, has in ways.items() if not members or not all(has(facts, one) for one in members))


def is_dynamic(facts: Facts, group: str) -> bool:
    """Some member is not known to be a static one."""
    return say("static") in gentler(facts, group)


def _is_static(facts: Facts, client: str) -> bool:
    return (_printed(facts, client, "group.instance.id") or "null") != "null"


def _is_cooperative(facts: Facts, client: str) -> bool:
    """The members of a group use what all their assignors can do, so one that is not cooperative spoils it."""
    if _printed(facts, client, "group.protocol") == _PROTOCOL:
        return True
    names = list((_printed(facts, client, "partition.assignment.strategy") or "").strip("[]").split(","))
    return all(_COOPERATIVE in name.lower() for name in names)


def _printed(facts: Facts, client: str, key: str) -> str | None:
    value = consumer_value(facts, client, key, None)
    return value.value if value is not None else None
