"""What the members of a group handled more than once where it stood, by their ledgers.

A message that is handled once more at another place is a copy in the log, whether or not the log loses it later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mqlab.delivery.missing import fates
from mqlab.delivery.rows import Doubled, doubled
from mqlab.facts import Facts
from mqlab.kafka.groups import groups
from mqlab.kafka.member_ledgers import noted_records, noting
from mqlab.memo import per_facts
from mqlab.rows import too_often

INCIDENT = "reprocess-duplicates"


def handled_again(facts: Facts, place: tuple[str, str, str], own: frozenset[str]) -> Iterator[Doubled]:
    """Messages of one *place* (group, topic, queue) that the ledgers of the group, its *own*, hold too often."""
    runs = [fate for fate in fates(facts, *place[1:]) if too_often(fate, own)]
    return doubled(place, again(facts, place, own), INCIDENT, runs)


def again(facts: Facts, place: tuple[str, str, str], own: frozenset[str]) -> tuple[int, int]:
    """Messages that the ledgers *own* hold too often, and how many times too many in all.

    Runs count the places at which a message stands, but not those that the log lost; deliveries tell all places apart.
    """
    group, topic, queue = place
    known = fates(facts, topic, queue)
    runs = [(fate.messages, too_often(fate, own)) for fate in known if too_often(fate, own)]
    by_id = sum(messages for messages, _ in runs), sum(messages * extra for messages, extra in runs)
    if not any(fate.overwritten for fate in known):
        return by_id
    return min(by_id, _by_place(facts, group, topic).get(queue, (0, 0)), key=lambda counts: counts[1])


def copies(facts: Facts, topic: str) -> int:
    """Times that a group handled a message of *topic* at one more place of a log that lost one of them later."""
    if not any(fate.topic == topic and fate.overwritten for fate in facts.fates):
        return 0
    return max((_copies(facts, group, topic) for group in groups(facts)), default=0)


def _copies(facts: Facts, group: str, topic: str) -> int:
    own, by_place = noting(facts, group, topic), _by_place(facts, group, topic)
    by_id = sum(fate.messages * too_often(fate, own) for fate in facts.fates if fate.topic == topic)
    return max(0, by_id - sum(extra for _, extra in by_place.values()))


@per_facts
def _by_place(facts: Facts, group: str, topic: str) -> Mapping[str, tuple[int, int]]:
    """Records that the group's ledgers hold more than once, and how many times too many, by partition."""
    found: dict[str, tuple[int, int]] = {}
    for delivery, noted in noted_records(facts, topic, noting(facts, group, topic)):
        if len(noted) > 1:
            records, extra = found.get(delivery.queue, (0, 0))
            found[delivery.queue] = records + delivery.messages, extra + delivery.messages * (len(noted) - 1)
    return found
