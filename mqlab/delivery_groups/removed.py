"""Records that a Kafka group left out because somebody had removed its committed offset.

A member that finds none goes where auto.offset.reset says. librdkafka does not say where that was: then the ledger
tells, which breaks off at the removed offset and goes on further behind.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.delivery_groups.missing import fates, times
from mqlab.delivery_groups.offsets import Offsets, before
from mqlab.delivery_groups.ranges import Skip, Why
from mqlab.facts import Facts
from mqlab.kafka.ledgers import noting
from mqlab.questions.configured import consumer_value


def removed(facts: Facts, known: Offsets) -> Iterator[Skip]:
    """What lies between such an offset and what the group noted next; nothing where it is told to begin anew."""
    own = noting(facts, known.group, known.topic)
    noted = [f.first_offset or 0 for f in fates(facts, known.topic, known.queue) if times(f, own)]
    for line in facts.of_kind("offsets-removed"):
        if (line.group, line.topic) != (known.group, known.topic) or line.queue not in (None, known.queue):
            continue
        stood = before(known.committed, line.first_at or 0.0)
        behind = min((offset for offset in noted if stood is not None and offset > stood.offset), default=None)
        if stood is not None and behind is not None and _to_end(facts, known.group, line.first_at):
            yield Skip(Why.RESET, stood.offset, behind, line.first_at or 0.0, (stood.place, line.first))


def _to_end(facts: Facts, group: str, at: float | None) -> bool:
    """A setting of the group's members says so."""
    named = [s for s in facts.settings if (s.scope, s.key, s.value) == ("consumer", "group.id", group)]
    members = sorted({setting.owner for setting in named if setting.owner})
    told = [consumer_value(facts, member, "auto.offset.reset", at) for member in members]
    return any(
        one is not None and one.setting is not None and one.value in ("latest", "largest", "end") for one in told
    )
