"""Classes that cannot have made messages go missing here: brokers' counters, logs and settings say so."""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.facts import Facts
from mqlab.mqtt import brokers
from mqlab.mqtt.accounting import Account, accounts
from mqlab.mqtt.brokers import SKEW
from mqlab.mqtt.explained import unheard
from mqlab.mqtt.sessions import Session, sessions
from mqlab.sources import Role

MISSING = "messages-missing"
"""The symptom that is no sign of these classes."""
_DROPS = ("mqtt.publish_dropped", "mqtt.queue_full_dropped")
_RULES = ("acl", "auth_opt", "auth_plugin", "include_dir", "plugin")
"""How keys of mosquitto.conf begin that bring rules, or what is not read here."""


def ruled_out(facts: Facts) -> frozenset[str]:
    """Slugs of these classes."""
    lacking = [account for account in accounts(facts) if set(account.lost) - set(unheard(facts, account))]
    found = {"acl-silent-drop"} if _without_rules(facts) else set()
    if lacking and all(_kept_whole(facts, account) for account in lacking):
        found.add("session-queue-drop")
    return frozenset(found)


def _without_rules(facts: Facts) -> bool:
    """The settings of every broker are there, all of mosquitto, and name no rules."""
    known = [broker.name for broker in brokers.brokers(facts)]
    files = {s.source for s in facts.settings if s.scope == "broker" and s.origin == "file"}
    own = {name: [source for source in files if brokers.broker_of(facts, source) == name] for name in known}
    named = any(s.scope == "acl" or (s.source in files and s.key.startswith(_RULES)) for s in facts.settings)
    return bool(known) and not named and all(own[n] and brokers.software(facts, n) == "mosquitto" for n in known)


def _kept_whole(facts: Facts, account: Account) -> bool:
    """No queue of a client of *account* dropped anything: each broker's counter stood at zero, or sessions were clean.

    A broker's log tells when the queue of a client drops that is connected.
    """
    own = [session for session in sessions(facts) if session.client_id in account.clients]
    told = {e.client_id for e in facts.of_kind("session-queue-dropping")} | {
        row.client_id for row in facts.clients if row.dropped
    }
    if not own or told & {*account.clients, None}:
        return False
    return all(_stood(facts, session, account) or _clean(facts, session) for session in own)


def _clean(facts: Facts, session: Session) -> bool:
    product = brokers.software(facts, session.broker)
    return session.connections[-1].persistent is False and bool(product and facts.logs_of(product, Role.BROKER_LOG))


def _stood(facts: Facts, session: Session, account: Account) -> bool:
    """The broker's counter of drops is 0 in all samples, from its start or before to behind what is missing."""
    mine = [s for s in facts.series if s.points and brokers.broker_of(facts, s.source) == session.broker]
    counters = [s for s in mine if s.name in _DROPS]
    until = max((s.points[-1][0] for s in mine if s.name.startswith("mqtt.")), default=0.0)
    last = max(row.last_at for row in account.lost)
    first = min(row.first_at for row in account.lost)
    again = any(first <= at <= last + SKEW for at in _starts(facts, session.broker))
    zero = all(value == 0 for series in counters for _, value in series.points)
    return bool(counters) and zero and until >= last and not again


def _starts(facts: Facts, broker: str | None) -> Iterator[float]:
    for line in facts.of_kind("broker-starting"):
        if line.first_at is not None and brokers.broker_of(facts, line.source) == broker:
            yield line.first_at
