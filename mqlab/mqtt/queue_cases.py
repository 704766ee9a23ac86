"""Queues of MQTT sessions of which something says that they were full, client by client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.mqtt import gauges, lists, software
from mqlab.mqtt.account import Account
from mqlab.mqtt.accounting import accounts
from mqlab.mqtt.diversion import diversions
from mqlab.mqtt.queue_case import QueueCase
from mqlab.mqtt.sessions import END, sessions
from mqlab.mqtt.untold import untold


@per_facts
def queue_cases(facts: Facts) -> tuple[QueueCase, ...]:
    """Every client with a queue of which something says that it dropped, or that misses messages; by client id.

    Members of share groups of which one was away are left out: what these miss went another way.
    """
    diverted = {client for one in diversions(facts) for client in one.group.clients}
    diverted |= {session.client_id for one in untold(facts) if one.dealt for session in one.sessions}
    return tuple(case for case in _cases(facts) if case.client_id not in diverted)


def _cases(facts: Facts) -> Iterator[QueueCase]:
    lines: dict[str, list[Episode]] = {}
    for line in facts.of_kind("session-queue-dropping"):
        if line.client_id:
            lines.setdefault(line.client_id, []).append(line)
    listed = {client: own[-1] for client, own in lists.rows(facts).items() if own[-1].dropped}
    known = _by_client(facts)
    for client in sorted({*lines, *listed, *known}):
        own = [s for s in sessions(facts) if s.client_id == client]
        broker = own[-1].broker if own and own[-1].last.told_by == "broker" else None
        counter = gauges.gauge(facts, "mqtt.publish_dropped", broker)
        yield QueueCase(
            client,
            broker,
            software.queue(facts, broker),
            tuple(lines.get(client, ())),
            listed.get(client),
            known.get(client),
            own[-1] if own else None,
            gauges.increase(counter, 0.0, END),
        )


def _by_client(facts: Facts) -> Mapping[str, Account]:
    """The account of each client: its own, else that of the group that it shares with others."""
    every = sorted(accounts(facts), key=lambda a: (a.group is None, a.name))
    return {client: account for account in every for client in account.clients}
