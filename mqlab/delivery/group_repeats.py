"""What the members of a group handled more than once, by their ledgers.

A message that is handled once more at another place of a log that keeps both is a copy in the log, and no repeat of the
group. Where the log lost one of the places, nothing tells which of both it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from mqlab.delivery.missing import fates
from mqlab.delivery.rows import Doubled, doubled
from mqlab.facts import Facts
from mqlab.kafka.groups import groups
from mqlab.kafka.member_ledgers import noted_records, noting
from mqlab.memo import per_facts
from mqlab.rows import too_often

INCIDENT = "reprocess-duplicates"


def handled_again(facts: Facts, place: tuple[str, str, str], own: frozenset[str]) -> Iterator[Doubled]:
    """Messages of one *place* (group, topic, queue) that the ledgers of the group, its *own*, hold too often.

    Runs count the places at which a message stands, but not those that the log lost; deliveries tell all places apart.
    """
    group, topic, queue = place
    known = fates(facts, topic, queue)
    runs = [fate for fate in known if too_often(fate, own)]
    counts = sum(fate.messages for fate in runs), sum(fate.messages * too_often(fate, own) for fate in runs)
    if not any(fate.overwritten for fate in known):
        return doubled(place, counts, INCIDENT, runs)
    where = min(counts, _by_place(facts, group, topic).get(queue, (0, 0)), key=lambda pair: pair[1])
    rest = counts[0] - where[0], counts[1] - where[1]
    lost = [fate for fate in runs if fate.overwritten]
    return chain(
        doubled(place, where, INCIDENT, [fate for fate in runs if fate not in lost] or runs),
        doubled(place, rest, None, lost, "second-place"),
    )


def copies(facts: Facts, topic: str) -> int:
    """Times that a group handled a message of *topic* at one more place of a log that lost one of them later."""
    return max((elsewhere(facts, group, topic) for group in groups(facts)), default=0)


def elsewhere(facts: Facts, group: str, topic: str) -> int:
    """Those of one *group*."""
    if not any(fate.topic == topic and fate.overwritten for fate in facts.fates):
        return 0
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
