"""Whose the ledgers of MQTT receivers are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.models.topic_filters import shared
from mqlab.mqtt import copies, numbered
from mqlab.mqtt.subscriptions import subscriptions


@per_facts
def receiving_ledgers(facts: Facts) -> Mapping[str, tuple[str, ...]]:
    """Client id → its ledgers of received messages, by names; the last ledger left is the last subscriber's.

    Ledgers without the name of a client may be numbered as subscribers are that have none, or be in their folders. Of a
    client that notes what it received and what it processed, what it received.
    """
    roles = {r.source: r.role for r in facts.receipts if r.role in copies.RECEIVING}
    named = {source: copies.client_of(facts, source) for source in sorted(roles)}
    sources = [source for source, client in named.items() if client is not None or roles[source] == "received"]
    nameless = [source for source in sources if named[source] is None]
    without = sorted({s.client_id for s in subscriptions(facts) if not internal(s.filter)} - set(named.values()))
    if len(nameless) == 1 and len(without) == 1:
        named[nameless[0]] = without[0]
    named |= {**numbered.in_folders(nameless, without), **numbered.owners(nameless, without)}
    found: dict[str, list[str]] = defaultdict(list)
    for source in sorted(sources, key=lambda name: (copies.RECEIVING.index(roles[name]), name)):
        kept = found[named[source] or source]
        if not kept or roles[kept[0]] == roles[source]:
            kept.append(source)
    return {client: tuple(own) for client, own in sorted(found.items())}


def internal(name: str) -> bool:
    """The filter is for topics of the broker itself."""
    return shared(name)[1].startswith("$")
