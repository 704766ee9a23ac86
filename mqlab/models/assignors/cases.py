"""Cases of a replay: one group that rebalances once or several times, as JSON.

A case names its ``assignor``, may give ``group_instance_ids`` and lists ``rounds``; a round has
``partitions_per_topic``, ``subscriptions``, ``owned`` as lists of ``[topic, partition]``, and the ``generation`` of
all who own something.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mqlab.errors import MqlabError
from mqlab.models.assignors.group import DEFAULT_GENERATION, Group, Partition


class BadCaseError(MqlabError, ValueError):
    """A case cannot be replayed."""

    def __init__(self, because: str) -> None:
        super().__init__(
            f"The case cannot be replayed: {because}. Give assignor and rounds with partitions_per_topic, "
            "subscriptions and owned."
        )


def groups(case: Mapping[str, Any]) -> list[Group]:
    """Return the group as each round of *case* finds it; raise ``BadCaseError`` where something is not as expected."""
    instances = _table(case.get("group_instance_ids") or {}, "group_instance_ids")
    for name in instances.values():
        _expect(isinstance(name, str), f"the instance id {name!r} is no text")
    return [_group(each, instances) for each in _list(case.get("rounds"), "rounds")]


def _group(each: Any, instances: Mapping[str, str]) -> Group:
    given = _table(each, "a round")
    subscriptions = {
        member: _topics(topics) for member, topics in _table(given.get("subscriptions"), "subscriptions").items()
    }
    _expect(bool(subscriptions), "a round has no member")
    owned = {
        member: [_partition(pair) for pair in _list(pairs, f"owned by {member}")]
        for member, pairs in _table(given.get("owned") or {}, "owned").items()
    }
    generation = _whole(given.get("generation", DEFAULT_GENERATION), "generation", DEFAULT_GENERATION)
    return Group(
        {
            topic: _whole(count, f"the partitions of {topic}")
            for topic, count in _table(given.get("partitions_per_topic"), "partitions_per_topic").items()
        },
        subscriptions,
        owned,
        {member: generation for member, pairs in owned.items() if pairs},
        instances,
    )


def _topics(given: Any) -> list[str]:
    topics = _list(given, "a subscription")
    _expect(all(isinstance(topic, str) for topic in topics), f"the subscription {given!r} holds more than names")
    return list(topics)


def _partition(pair: Any) -> Partition:
    _expect(isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str), f"{pair!r} is no partition")
    return pair[0], _whole(pair[1], f"the partition of {pair[0]}")


def _table(given: Any, name: str) -> Mapping[str, Any]:
    _expect(isinstance(given, Mapping), f"{name} is no table of names")
    _expect(all(isinstance(key, str) for key in given), f"{name} is no table of names")
    return dict(given)


def _list(given: Any, name: str) -> Sequence[Any]:
    _expect(isinstance(given, list | tuple), f"{name} is no list")
    return list(given)


def _whole(given: Any, name: str, least: int = 0) -> int:
    _expect(isinstance(given, int) and not isinstance(given, bool) and given >= least, f"{name} is {given!r}")
    return int(given)


def _expect(right: bool, otherwise: str) -> None:
    if not right:
        raise BadCaseError(otherwise)
