"""Who is who on the way from MQTT to a log: ledgers of log consumers, the bridge's ledgers, its client ids.

A bridge is known by ledgers that say that they forward, by the ids that it shares with what the log's consumers
handled, or as a client that connects to MQTT and produces to the log in one process.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.mqtt.copies import client_of
from mqlab.questions.actors import base_name
from mqlab.rows.mqtt import Flow, TopicFlow

FORWARDED = re.compile(r"(?i)(?:^|[^a-z])forwarded(?![a-z])")
"""A ledger whose name says that what it notes was handed on (formats of ledgers: published, received, forwarded)."""
_HANDLING = ("received", "consumed", "processed")
_MQTT = ("client-configured", "connection-made")
_PRODUCING = ("record-too-large", "record-expired", "send-failed", "produce-retry", "request-timeout", "batch-split")

Rows = Sequence[Flow | TopicFlow]


@per_facts
def log_ledgers(facts: Facts) -> Mapping[str, str]:
    """Ledgers of those who read a log, and its topic: their rows have a partition or queue, which MQTT has not."""
    found = {p.source: p.topic for p in facts.parts if p.role in _HANDLING and p.topic and p.queue}
    found |= {t.source: t.topic for t in facts.tallies if t.role in _HANDLING and t.topic and t.queue}
    return dict(sorted(found.items()))


def readers(facts: Facts, topic: str) -> Mapping[str, tuple[str, ...]]:
    """Ledgers of the readers of *topic* by group, else by whose ledger it is, else by its name."""
    parts = {p.source: p.group or p.party for p in facts.parts if p.topic == topic}
    found: dict[str, list[str]] = defaultdict(list)
    for source, own in log_ledgers(facts).items():
        if own == topic:
            found[parts.get(source) or base_name(source)].append(source)
    return {who: tuple(sources) for who, sources in sorted(found.items())}


def bridges(facts: Facts, rows: Rows, readers: Iterable[str]) -> tuple[str, ...]:
    """Ledgers of the bridge among the receivers of *rows* whose messages *readers* of the log note, too.

    Those that say so, or a client's that is a producer, unless they feed another topic only; else the only receivers
    that share no message with each other; of receivers that do, the only one that has everything that the log has.
    Empty where that does not tell.
    """
    far, logs = set(readers), set(log_ledgers(facts))
    behind = [{source for source, _ in row.received} for row in rows]
    passed = [here - logs for here in behind if here & far]
    found = sorted({source for here in passed for source in here})
    elsewhere = {source for here in behind if here & (logs - far) for source in here} - set(found)
    told = [source for source in sorted({s for here in behind for s in here} - logs - elsewhere)
            if FORWARDED.search(base_name(source)) or _produces(facts, source)]  # fmt: skip
    if told:
        return tuple(told)
    if not any({a, b} <= here for here in passed for a, b in combinations(found, 2)):
        return tuple(found)
    whole = [source for source in found if all(source in here for here in passed)]
    return (whole[0],) if len(whole) == 1 else ()


def sharing(rows: Rows) -> tuple[tuple[str, ...], ...]:
    """Ledgers of receivers in sets of which no two note the same message, as members of a share group do; by name."""
    together = {pair for row in rows for pair in combinations([source for source, _ in row.received], 2)}
    found: list[list[str]] = []
    for source in sorted({source for row in rows for source, _ in row.received}):
        own = next((s for s in found if not any((one, source) in together for one in s)), None)
        if own is None:
            found.append([source])
        else:
            own.append(source)
    return tuple(tuple(own) for own in found)


def _produces(facts: Facts, ledger: str) -> bool:
    client = client_of(facts, ledger)
    return client is not None and client in producers(facts)


@per_facts
def producers(facts: Facts) -> frozenset[str]:
    """MQTT client ids of processes that are producers of a log, too: same id, or one log that tells of both."""
    own = {s.owner for s in facts.settings if s.scope == "producer" and s.owner}
    logs = {s.source for s in facts.settings if s.scope == "producer" and s.origin == "printed"}
    for episode in facts.of_kind(*_PRODUCING):
        own.add(episode.client_id or "")
        logs.add(episode.source)
    clients = facts.of_kind(*_MQTT)
    return frozenset(e.client_id for e in clients if e.client_id and (e.client_id in own or e.source in logs))


def names(facts: Facts, ledgers: Iterable[str]) -> tuple[str, ...]:
    """Client ids of ledgers, else what the ledgers are called; sorted."""
    return tuple(sorted({client_of(facts, source) or base_name(source) for source in ledgers}))
