"""Acknowledged messages that a dump of their partition should hold and does not.

A dump counts where it was made after they were acknowledged, from its first offset to its last. Topics that are
compacted lose old values by intent. A dump that holds messages whose place was given to others is that of a broker
whose log had not been cut yet; behind a place from which a new leader began, no dump is trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mqlab.delivery_log import durability
from mqlab.delivery_log.handovers import handovers
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.rows.messages import Fate, Part


@per_facts
def missing_from_dumps(facts: Facts, topic: str) -> Mapping[Fate, Evidence]:
    """The messages, and the dump's line after which they should stand."""
    if durability.compacted(facts, topic):
        return {}
    dumps = [p for p in facts.parts if p.role == "stored" and p.topic == topic and p.taken_at is not None]
    stale = {(f.queue, s) for f in facts.fates if f.topic == topic and f.overwritten for s in f.stored}
    trusted = [d for d in dumps if (d.queue, d.source) not in stale]
    found: dict[Fate, Evidence] = {}
    for fate in facts.fates:
        if fate.topic == topic and fate.acked and not (fate.overwritten or fate.stored or fate.offsets > 1):
            dump = _covering(facts, fate, trusted)
            if dump is not None:
                why = "the dump reaches beyond them and does not hold them"
                found[fate] = Evidence(dump.last.source, dump.last.line, dump.last.text, why)
    return found


def _covering(facts: Facts, fate: Fate, dumps: Sequence[Part]) -> Part | None:
    changes = handovers(facts).get((fate.topic, fate.queue), ())
    limit = min((one.to_offset for one in changes if one.back), default=None)
    if fate.first_offset is None or fate.last_offset is None or fate.last_at is None:
        return None
    if limit is not None and fate.last_offset >= limit:
        return None
    own = [d for d in dumps if d.queue == fate.queue and (d.keys == 0 or fate.keyed)]
    return next((d for d in own if _covers(d, fate)), None)


def _covers(dump: Part, fate: Fate) -> bool:
    first = dump.first_offset if dump.start is None else dump.start
    if first is None or dump.last_offset is None or dump.taken_at is None:
        return False
    inside = first <= (fate.first_offset or 0) and (fate.last_offset or 0) <= dump.last_offset
    return inside and dump.taken_at > (fate.last_at or 0.0)
