"""What became of messages on their way from an MQTT broker over a bridge to a log: how many are where, how known.

Where ledgers share ids every message is followed; else counters and offsets are compared over the time that all of
them cover. Where there is no bridge, the way ends at the receivers of MQTT.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mqlab.bridging import counts, logs, parties, queues
from mqlab.bridging import ids as chain_ids
from mqlab.bridging.ids import Row
from mqlab.bridging.parties import Rows
from mqlab.bridging.rows import Chain, Gap, Share
from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.models.topic_filters import matches
from mqlab.mqtt.copies import client_of
from mqlab.mqtt.subscriptions import subscriptions


@per_facts
def chains(facts: Facts) -> tuple[Chain, ...]:
    """One for each topic of a log whose readers handle what was published to MQTT; by topic."""
    far = parties.log_ledgers(facts)
    topics = {far[source] for flow in facts.flows for source, _ in flow.received if source in far}
    found = [_chain(facts, topic) for topic in sorted(topics)]
    return tuple(found) if found else counts.chains(facts)


@per_facts
def within_mqtt(facts: Facts) -> Chain | None:
    """The way from publishers to receivers of MQTT; None where no publisher's ledger notes ids.

    Receivers that share messages have a stage together, others one each.
    """
    if not any(flow.sender for flow in facts.flows):
        return None
    far = set(parties.log_ledgers(facts))
    rows = tuple(_without(row, far) for row in facts.flows)
    stages, gaps = list(chain_ids.stages(facts, rows, (), {})), list(chain_ids.refused(facts.flows))
    for takers in parties.sharing(rows):
        own = tuple(_without(row, far) for row in _bridged(facts, takers, ()))
        stages.append(chain_ids.taken(facts, own, takers))
        gone = chain_ids.missing(own, lambda _: True, takers)
        gaps += queues.whereabouts(facts, gone, takers)
    return Chain(None, None, (), "ids", tuple(stages), tuple(gaps), _notes(rows, rows, chain_ids.receivers(rows)))


@per_facts
def ways(facts: Facts) -> tuple[Chain, ...]:
    """Every chain, and the way within MQTT where some receiver has no part in a chain."""
    over = chains(facts)
    inside = within_mqtt(facts)
    known = {share.place for chain in over for stage in chain.stages for share in stage.shares}
    told = {s.place for s in _shares(inside)} if inside else set()
    return (*over, inside) if inside and (not over or told - known) else over


def _shares(chain: Chain) -> list[Share]:
    return [share for stage in chain.stages for share in stage.shares]


def _chain(facts: Facts, topic: str) -> Chain:
    readers = parties.readers(facts, topic)
    far = [source for own in readers.values() for source in own]
    bridge = parties.bridges(facts, facts.flows, far)
    rows = _bridged(facts, bridge, far)
    stages = chain_ids.stages(facts, rows, bridge, readers)
    system = "rocketmq" if any("/" in t.queue for t in facts.tallies if t.topic == topic) else "kafka"
    gaps = _gaps(facts, rows, topic, bridge, readers)
    notes = _notes(rows, facts.flows, (*bridge, *far))
    return Chain(system, topic, parties.names(facts, bridge), "ids", stages, gaps, notes)


def _bridged(facts: Facts, bridge: Sequence[str], far: Sequence[str]) -> tuple[Row, ...]:
    """Messages that are the bridge's to take: of topics that match its filters, else of topics of which it took any."""
    ids = {client for source in bridge if (client := client_of(facts, source))}
    filters = {one.filter for one in subscriptions(facts) if one.client_id in ids}
    rows = facts.topic_flows
    known = {row.topic for row in rows if chain_ids.noted(row, (*bridge, *far))}
    own = {
        row.topic for row in rows
        if row.topic is None or row.topic in known or any(matches(name, row.topic) for name in filters)
    }  # fmt: skip
    if all(row.topic in own for row in facts.topic_flows):
        return facts.flows
    return tuple(row for row in facts.topic_flows if row.topic in own)


def _gaps(
    facts: Facts, rows: Rows, topic: str, bridge: Sequence[str], readers: Mapping[str, Sequence[str]]
) -> tuple[Gap, ...]:
    far = [source for own in readers.values() for source in own]
    takers = (*bridge, *far)
    found = [*chain_ids.refused(rows)]
    found += queues.whereabouts(facts, chain_ids.missing(rows, lambda _: True, takers), bridge or far)
    for reader in readers.items() if bridge else ():
        unread = chain_ids.missing(rows, lambda row: chain_ids.noted(row, takers) > 0, reader[1])
        found += logs.whereabouts(facts, unread, topic, reader, bridge)
    return tuple(found)


def _without(row: Row, ledgers: set[str]) -> Row:
    return replace(row, received=tuple((source, n) for source, n in row.received if source not in ledgers))


def _notes(rows: Rows, every: Rows, takers: Sequence[str]) -> tuple[str, ...]:
    """What the stages leave out: messages that only receivers note, and topics of which nobody took any."""
    beside = sum(row.messages for row in rows if row.sender is None and chain_ids.noted(row, takers))
    other = chain_ids.count(r for r in every if r.sender) - chain_ids.count(r for r in rows if r.sender)
    found = []
    if beside:
        found.append(f"{beside:,} more are noted by receivers only: no publisher's ledger has them")
    if other:
        found.append(f"{other:,} more were published on topics of which the bridge took nothing")
    return tuple(found)
