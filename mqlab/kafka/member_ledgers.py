"""Which ledgers the members of a Kafka group keep, and which records they note there.

A ledger belongs to the group that a map or a column of it names, then to the client that is its party, then to the one
that its name, its folder or a log of the same name stands for. A ledger of which nothing tells whose it is belongs to
the only group that reads its topics. Only ledgers of one group count together: two applications that read one topic
handle everything twice between them. A record is (topic, partition, offset), so that a copy which a producer stored at
another offset is another record, and so is a message to which the log gave the place of one that it had lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from mqlab.facts import Facts
from mqlab.kafka.groups import groups
from mqlab.kafka.log_lines import homes
from mqlab.memo import per_facts
from mqlab.rows import Delivery
from mqlab.shared.actors import base_name

_STAGES = ("received", "consumed", "processed")
"""Roles of a ledger that a consumer keeps, the last one is the end of its work."""


def ledgers(facts: Facts, group: str) -> frozenset[str]:
    """Ledgers that members of *group* keep: of a member that keeps several, those of the last stage of its work."""
    return frozenset(kept(facts, group))


@per_facts
def kept(facts: Facts, group: str) -> Mapping[str, str]:
    """Ledger → client id of the member that keeps it; empty where it is not known to be that of one member."""
    roles = _roles(facts)
    own = {source: client for source in roles for who, client in (_owner(facts, source),) if group in who}
    last: dict[str, int] = defaultdict(int)
    for source, client in own.items():
        last[client] = max(last[client], roles[source])
    return {source: client for source, client in own.items() if roles[source] == last[client]}


@per_facts
def noting(facts: Facts, group: str, topic: str) -> frozenset[str]:
    """Those of the ledgers that note which messages of *topic* were handled."""
    noted = {source for fate in facts.fates if fate.topic == topic for source in fate.handled}
    return ledgers(facts, group) & noted


@per_facts
def readers(facts: Facts, topic: str) -> frozenset[str]:
    """Groups that the material shows to read *topic*."""
    told = {p.group for p in facts.positions if p.topic == topic}
    told |= {a.group for a in facts.assignments if a.topic == topic}
    told |= {e.group for e in facts.of_kind("subscribed") if topic in (e.reason or "").split(", ")}
    return frozenset(name for name in told if name)


@per_facts
def _roles(facts: Facts) -> Mapping[str, int]:
    """Stage of every ledger of a consumer, by source."""
    told = [(t.source, t.role) for t in facts.tallies] + [(p.source, p.role) for p in facts.parts]
    found: dict[str, int] = {}
    for source, role in told:
        if role in _STAGES:
            found[source] = max(found.get(source, 0), _STAGES.index(role))
    return dict(sorted(found.items()))


@per_facts
def _owner(facts: Facts, source: str) -> tuple[frozenset[str], str]:
    """Groups and the client that a ledger belongs to."""
    owners, parts = _clients(facts), [p for p in facts.parts if p.source == source]
    parties = [p.party for p in parts if p.party in owners]
    client = parties[0] or "" if parties else _client_of(source, owners)
    named = {p.group for p in parts if p.group}
    if named:
        return frozenset(named), client
    if client:
        return frozenset(owners[client]), client
    home = _homes(facts)
    log = _client_of(source, home)
    if log:
        return home[log]
    reading = frozenset(group for topic in {p.topic for p in parts if p.topic} for group in readers(facts, topic))
    return (reading if len(reading) == 1 else frozenset()), ""


@per_facts
def _clients(facts: Facts) -> Mapping[str, set[str]]:
    """Groups of every consumer by client id."""
    pairs: Iterable[tuple[str | None, str | None]] = (
        *((c.client_id, c.group) for c in facts.clients if c.system == "kafka"),
        *((p.client_id, p.group) for p in facts.positions),
        *((e.client_id, e.group) for e in facts.episodes),
        *((s.owner, s.value) for s in facts.settings if s.scope == "consumer" and s.key == "group.id"),
    )
    found: dict[str, set[str]] = defaultdict(set)
    for client, group in pairs:
        if client and group:
            found[client].add(group)
    return found


@per_facts
def _homes(facts: Facts) -> Mapping[str, tuple[frozenset[str], str]]:
    """Name of a log that one client alone writes → its group and that client."""
    found: dict[str, tuple[frozenset[str], str]] = {}
    for group in groups(facts):
        for source, client in sorted(homes(facts, group).items()):
            known = found.get(base_name(source), (frozenset(), client))
            found[base_name(source)] = (known[0] | {group}, known[1] if known[1] == client else "")
    return found


def _client_of(source: str, names: Collection[str]) -> str:
    """The longest of *names* with which the name of the ledger or of its folder begins; empty without one."""
    places = (base_name(source), source.rpartition("/")[0].rpartition("/")[2])
    fitting = [n for n in names for p in places if p == n or (p.startswith(n) and not p[len(n)].isalnum())]
    return max(sorted(fitting), key=len, default="")


def noted_records(facts: Facts, topic: str, sources: frozenset[str]) -> list[tuple[Delivery, list[str]]]:
    """Records with the ledgers among *sources* that note them, one as often as it does."""
    rows = [(d, [s for s in d.sources if s in sources]) for d in facts.deliveries if d.topic == topic]
    return [(delivery, noted) for delivery, noted in rows if noted]
