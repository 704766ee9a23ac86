"""At which broker a bridge of MQTT ends: where its client id connects, else the one that its address is named after."""

from __future__ import annotations

import re
from collections.abc import Collection

from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.mqtt.brokers import broker_of, brokers

_WORD = re.compile(r"[A-Za-z]+\d*|\d+")


def came(facts: Facts, ids: Collection[str], name: str, there: str) -> tuple[Episode, ...]:
    """Lines with which the other broker lets a bridge in, where that of the broker that opens it is not there."""
    if not several(facts):
        return ()
    lines = [e for e in facts.of_kind("client-connected") if _of_bridge(e.client_id or "", ids, name)]
    return tuple(e for e in lines if broker_of(facts, e.source) == there)


def entered(facts: Facts, ids: Collection[str], name: str, here: str) -> str | None:
    """The only other broker at which a bridge's client id connected, where there are logs of several.

    Without a directive the id is the host's name and that of the bridge, ``host.name`` (``bridge__new``, mosquitto).
    """
    if not several(facts):
        return None
    lines = [e for e in facts.of_kind("client-connected") if _of_bridge(e.client_id or "", ids, name)]
    names = {told for e in lines for told in (broker_of(facts, e.source),) if told and told != here}
    return names.pop() if len(names) == 1 else None


def _of_bridge(client: str, ids: Collection[str], name: str) -> bool:
    return client in ids if ids else client.endswith(f".{name}")


def end(facts: Facts, address: str, here: str) -> str:
    """The broker at an address: that which listens there, else whose sources are named after it; else the address."""
    host = address.split(" ")[0].rsplit(":", 1)[0]
    listening = {_node(facts, s.source) for s in facts.settings if s.key == "listener" and host in s.value.split()[1:]}
    if len(listening) == 1:
        return listening.pop()
    words = _places(facts)
    every = [word for own in words.values() for word in own]
    told = {
        name: sum(1 for word in own & _words(host) if every.count(word) == 1) for name, own in sorted(words.items())
    }
    best = [name for name, count in told.items() if count and count == max(told.values())]
    return best[0] if len(best) == 1 and best[0] != here else address


def _node(facts: Facts, source: str) -> str:
    return (broker_of(facts, source) if several(facts) else None) or source


@per_facts
def _places(facts: Facts) -> dict[str, frozenset[str]]:
    """Broker → words of the names of its sources: its logs, else the files that configure bridges."""
    if several(facts):
        return {b.name: _words(" ".join(b.sources)) for b in brokers(facts)}
    return {s.source: _words(s.source) for s in facts.settings if s.key == "bridge"}


def several(facts: Facts) -> bool:
    """Brokers are known by their logs or statistics; the only one of which there are any may be either end."""
    return len(brokers(facts)) > 1


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))
