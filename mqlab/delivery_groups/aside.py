"""Records that a Kafka group could not handle and put into a topic of their own, for somebody to look at.

Spring's DeadLetterPublishingRecoverer calls that topic ``orders.DLT`` or ``orders-dlt``, others ``orders.dlq`` or
``dead-letter-orders``. They are accounted for where it holds as many records as the application says that it failed.
"""

from __future__ import annotations

import re

from mqlab.delivery_groups.offsets import place_ends
from mqlab.facts import Facts
from mqlab.memo import per_facts

_DEAD = re.compile(r"(?i)(?:^|[._-])(?:dl[tq]|dead[._-]?letters?(?:[._-]?queue)?)(?:[._-]|$)")


@per_facts
def shelf(facts: Facts, topic: str) -> str | None:
    """The topic that holds what could not be handled of *topic*; None where there is none, or too little in it."""
    failed = {
        (e.queue, e.value_max) for e in facts.of_kind("record-failed") if e.topic == topic and e.value_max is not None
    }
    named = {p.topic for p in facts.positions} | {f.topic for f in facts.fates}
    likely = sorted(name for name in named if topic in name and _DEAD.search(name.replace(topic, "")))
    return next((name for name in likely if failed and _holds(facts, name) >= len(failed)), None)


def _holds(facts: Facts, topic: str) -> int:
    """Records that were written to it, as far as its ends or dumps of it tell."""
    ends = place_ends(facts, topic)
    stored = sum(f.messages for f in facts.fates if f.topic == topic and (f.stored or f.acked))
    return max(stored, sum(ends.values()))
