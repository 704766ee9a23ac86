"""Which ledgers the members of a Kafka group keep: those that are named like one of its clients."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from mqlab.actors import base_name
from mqlab.facts import Facts

_HANDLED = ("received", "consumed", "processed")
"""Roles of a ledger that a consumer keeps."""


def ledgers(facts: Facts, group: str) -> frozenset[str]:
    """Ledgers that members of *group* keep: named like one of its clients, and like no longer name of another's."""
    owners = _clients(facts)
    every = {t.source for t in facts.tallies if t.role in _HANDLED}
    return frozenset(source for source in every if group in owners.get(_client_of(source, owners), ()))


def _clients(facts: Facts) -> Mapping[str, set[str]]:
    """Groups of every consumer by client id."""
    found: dict[str, set[str]] = defaultdict(set)
    pairs = [(c.client_id, c.group) for c in facts.clients if c.system == "kafka"]
    pairs += [(p.client_id, p.group) for p in facts.positions] + [(e.client_id, e.group) for e in facts.episodes]
    pairs += [(s.owner, s.value) for s in facts.settings if s.scope == "consumer" and s.key == "group.id"]
    for client, group in pairs:
        if client and group:
            found[client].add(group)
    return found


def _client_of(source: str, clients: Collection[str]) -> str:
    """The longest client id with which the name of the ledger or of its folder begins; empty without one."""
    names = (base_name(source), source.rpartition("/")[0].rpartition("/")[2])
    fitting = [c for c in clients for name in names if name == c or (name.startswith(c) and not name[len(c)].isalnum())]
    return max(sorted(fitting), key=len, default="")
