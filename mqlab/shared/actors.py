"""Who is who: the client behind a line, the host behind a client, the hosts of the brokers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from math import inf

from mqlab.facts import Episode, Facts
from mqlab.shared import counters

PRODUCING = frozenset(
    {"batch-split", "produce-retry", "request-timeout", "record-too-large", "record-expired", "buffer-exhausted"}
)
"""Events of which only a producer's log can tell."""


def client_of(facts: Facts, episode: Episode) -> str:
    """The producer of an event; by the line, else the only one of its file, else the file's base name."""
    if episode.client_id:
        return episode.client_id
    here = [s for s in facts.settings if s.source == episode.source and s.scope == "producer" and s.owner]
    named = facts.named_clients(episode.source)
    owners = {s.owner for s in here} or {client for kind, client in named if kind in PRODUCING}
    only = next(iter(owners)) if len(owners) == 1 else None
    return only or base_name(episode.source)


_VERSION = re.compile(r"[_-]v?\d+\.\d+\.\d+(?!\.?\d).*")


def base_name(source: str) -> str:
    """The name of a file up to its first dot or version: ``bridge`` of ``clients/bridge_4.6.1.log``; else ``stdin``."""
    return "stdin" if source == "-" else _VERSION.sub("", source.rsplit("/", 1)[-1]).split(".")[0]


def span(episodes: Iterable[Episode]) -> tuple[float | None, float | None]:
    """First and last moment that is known of *episodes*."""
    every = tuple(episodes)
    first = min((one.first_at for one in every if one.first_at is not None), default=None)
    return first, max((one.last_at for one in every if one.last_at is not None), default=None)


def gaps(episodes: Iterable[Episode]) -> list[float]:
    """Seconds between the lines of *episodes*: within each row, on average, and from the end of one to the next."""
    rows = sorted((e.first_at, e.last_at or e.first_at, e.count) for e in episodes if e.first_at is not None)
    within = [(last - first) / (count - 1) for first, last, count in rows if count > 1 and last > first]
    return within + [max(0.0, b[0] - a[1]) for a, b in pairwise(rows)]


def latest(episodes: Iterable[Episode]) -> Episode:
    """The one whose last line comes last."""
    return max(episodes, key=lambda one: (-inf if one.last_at is None else one.last_at, one.last.line or 0))


def log_end(facts: Facts, sources: Collection[str]) -> float | None:
    """The last moment that these logs are known to cover."""
    dated = [c.last_at for c in facts.coverage if c.source in sources and c.last_at is not None]
    dated += [e.last_at for e in facts.episodes if e.source in sources and e.last_at is not None]
    return max(dated, default=None)


GIVEN_UP = 60.0
"""Seconds after which a producer has sent again, or given up, what got no answer: two requests that time out
(request.timeout.ms 30000)."""


def goes_on(facts: Facts, sources: Collection[str], last: float | None) -> bool:
    """True where these logs end too soon after *last* to show that it was over."""
    return last is not None and (log_end(facts, sources) or last) < last + GIVEN_UP


def by_client(facts: Facts, episodes: Sequence[Episode]) -> dict[str, list[Episode]]:
    """Events by client, clients in order of their first event."""
    found: dict[str, list[Episode]] = {}
    for episode in episodes:
        found.setdefault(client_of(facts, episode), []).append(episode)
    return found


def producers_told(facts: Facts) -> bool:
    """True where some producer's log is in the material: only its lines say why a send failed."""
    printed = any(s.scope == "producer" and s.origin == "printed" for s in facts.settings)
    return printed or bool(facts.of_kind(*PRODUCING))


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
    others = sorted(carded - broker_hosts(facts) - _hosts_of_others(facts, client_id))
    return others[0] if len(others) == 1 and not own else None


def _hosts_of_others(facts: Facts, client_id: str) -> set[str]:
    return {s.host for s in facts.series if s.host and s.labels.get("client_id") not in (None, "", client_id)}


def hosts_with_card(facts: Facts) -> frozenset[str]:
    """Hosts whose network counters are in the material."""
    sending = (s.host for s in facts.named("host.transmit_bytes") if s.host)
    return frozenset(host for host in sending if counters.card(facts, host, "receive"))


def groups(facts: Facts) -> dict[str, frozenset[str]]:
    """Groups of each consumer's client id, as far as snapshots, printed settings and log lines name both."""
    pairs = [(p.client_id, p.group) for p in facts.positions]
    pairs += [(e.client_id, e.group) for e in facts.episodes]
    pairs += [(s.owner, s.value) for s in facts.settings if s.scope == "consumer" and s.key == "group.id"]
    found: dict[str, set[str]] = {}
    for client, group in pairs:
        if client and group:
            found.setdefault(client, set()).add(group)
    return {client: frozenset(own) for client, own in found.items()}


def sole_producer(facts: Facts, client_id: str, topic: str) -> bool:
    """True where no other producer of the material can have sent to *topic*."""
    producing = [s for s in facts.series if s.name.startswith("producer.")]
    others = {s.labels.get("client_id") for s in producing}
    others |= {s.owner for s in facts.settings if s.scope == "producer" and s.origin == "printed"}
    others |= {e.client_id for e in facts.of_kind(*PRODUCING)}
    sent_to: dict[str | None, set[str | None]] = {}
    for series in producing:
        if series.name.startswith("producer.topic_"):
            sent_to.setdefault(series.labels.get("client_id"), set()).add(series.labels.get("topic"))
    return all(sent_to.get(o) and topic not in sent_to[o] for o in others - {None, "", client_id})


def folder(source: str) -> str:
    """Where a log lies: rotated files of one process share it."""
    return source.rpartition("/")[0] or source
