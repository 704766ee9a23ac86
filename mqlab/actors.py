"""Who is who: the client behind a line, the host behind a client, the hosts of the brokers."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab import traffic
from mqlab.facts import Episode, Facts


def client_of(facts: Facts, episode: Episode) -> str:
    """The client id of an event; where the line has none, that of its file, else the file's base name."""
    if episode.client_id:
        return episode.client_id
    owners = {s.owner for s in facts.settings if s.source == episode.source and s.scope == "producer" and s.owner}
    owners |= {e.client_id for e in facts.episodes if e.source == episode.source and e.client_id}
    return owners.pop() if len(owners) == 1 else episode.source.rsplit("/", 1)[-1].split(".")[0]


def by_client(facts: Facts, episodes: Sequence[Episode]) -> dict[str, list[Episode]]:
    """Events by client, clients in order of their first event."""
    found: dict[str, list[Episode]] = {}
    for episode in episodes:
        found.setdefault(client_of(facts, episode), []).append(episode)
    return found


def broker_hosts(facts: Facts) -> frozenset[str]:
    """Hosts on which brokers run, from their metrics and what they advertise."""
    hosts = {s.host for s in facts.series if s.name.startswith("broker.") and s.host}
    for setting in facts.settings:
        if setting.scope == "broker" and setting.key in ("advertised.listeners", "listeners"):
            hosts |= {part.rsplit("://", 1)[-1].rsplit(":", 1)[0] for part in setting.value.split(",")}
    return frozenset(h for h in hosts if h)


def host_of(facts: Facts, client_id: str) -> str | None:
    """The host a client runs on: from its own metrics, else the only host with a card that is no broker."""
    own = sorted({s.host for s in facts.series if s.labels.get("client_id") == client_id and s.host})
    carded = hosts_with_card(facts)
    for host in own:
        if host in carded:
            return host
    others = sorted(carded - broker_hosts(facts))
    return others[0] if len(others) == 1 and not own else None


def hosts_with_card(facts: Facts) -> frozenset[str]:
    """Hosts whose network counters are in the material."""
    return frozenset(s.host for s in facts.named("host.transmit_bytes") if s.host and traffic.card(facts, s.host, "receive"))


def groups(facts: Facts) -> dict[str, str]:
    """Group of each consumer's client id, as far as snapshots, printed settings and log lines name both."""
    pairs = [(p.client_id, p.group) for p in facts.positions]
    pairs += [(e.client_id, e.group) for e in facts.episodes]
    printed = [s for s in facts.settings if s.scope == "consumer" and s.key == "group.id" and s.value]
    pairs += [(s.owner, s.value) for s in printed]
    return {client: group for client, group in pairs if client and group}


def sole_producer(facts: Facts, topic: str) -> bool:
    """True when the material knows of at most one client that produces to *topic*."""
    named = {
        s.labels.get("client_id")
        for s in facts.series
        if s.name.startswith("producer.topic_") and s.labels.get("topic") == topic
    }
    named |= {e.client_id for e in facts.of_kind("batch-split", "produce-retry") if e.topic == topic and e.client_id}
    return len(named) <= 1
