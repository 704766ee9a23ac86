"""The settings audit of the delivery path: what acks, replicas, commits, resets and retention may lose or double.

Rows, not findings: with the defaults of most releases something is always possible, and nothing of it says that it
happened. ``settings_audit`` makes notices of the few that are about to do damage.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mqlab.delivery_risks.consumers import consumer_risks
from mqlab.delivery_risks.producers import producer_risks
from mqlab.delivery_risks.retention import retention_risks
from mqlab.delivery_risks.rows import Risk, listed, shown
from mqlab.delivery_risks.topics import topic_risks
from mqlab.facts import Facts
from mqlab.memo import per_facts


@per_facts
def risks(facts: Facts) -> tuple[Risk, ...]:
    """Rows along the path, producers first; what is the same for several owners is one row with all their names."""
    rows = (*producer_risks(facts), *topic_risks(facts), *consumer_risks(facts), *retention_risks(facts))
    return tuple(_together(rows))


def _together(rows: Iterable[Risk]) -> Iterable[Risk]:
    alike: dict[Risk, list[Risk]] = {}
    for row in rows:
        kind = row.owner.partition(" ")[0]
        alike.setdefault(replace(row, owner=kind, evidence=()), []).append(row)
    for key, same in alike.items():
        names = [row.owner.partition(" ")[2] for row in same]
        places = shown([place for row in same for place in row.evidence])
        yield replace(key, owner=f"{key.owner} {listed([n for n in names if n])}".strip(), evidence=places)
