"""Which users and client ids of MQTT a ledger or a client may be: what access rules are evaluated for."""

from __future__ import annotations

import re

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.mqtt import copies, lives
from mqlab.questions.actors import base_name

Party = tuple[str | None, str]
"""User name, None for a client without one, and client id."""
_WORD = re.compile(r"[A-Za-z0-9]+")
_ROLES = frozenset({"published", "sent", "acked", "received", "forwarded", "ledger", "messages"})


@per_facts
def parties(facts: Facts) -> tuple[Party, ...]:
    """Every user and client id that brokers saw connect."""
    return tuple(sorted({(c.user, c.client_id) for c in lives.connections(facts) if c.told_by == "broker"}, key=_key))


@per_facts
def of_ledger(facts: Facts, ledger: str) -> tuple[Party, ...]:
    """Who may have written *ledger*: the client that it is named after, else all that connected."""
    client = client_of(facts, ledger)
    return of_client(facts, client) if client is not None else parties(facts)


def of_client(facts: Facts, client: str) -> tuple[Party, ...]:
    """The users with which *client* connected; all that connected where no broker tells of it."""
    own = tuple(party for party in parties(facts) if party[1] == client)
    return own or parties(facts)


@per_facts
def client_of(facts: Facts, ledger: str) -> str | None:
    """The client id that a ledger is named after, also where words of the id are left out: only one may fit."""
    named = copies.client_of(facts, ledger)
    if named is not None:
        return named
    words = {w.lower() for w in _WORD.findall(base_name(ledger))} - _ROLES
    ids = sorted({client for _, client in parties(facts)})
    fitting = [i for i in ids if words and words <= {w.lower() for w in _WORD.findall(i)}]
    return fitting[0] if len(fitting) == 1 else None


def name_of(facts: Facts, ledger: str) -> str:
    """The client id behind a ledger, else the ledger's own name."""
    return client_of(facts, ledger) or base_name(ledger)


def _key(party: Party) -> tuple[str, str]:
    return (party[0] or "", party[1])
