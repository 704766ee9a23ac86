"""The lines about one Kafka group: those of its coordinators, and the own log of each of its clients."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.questions.actors import base_name
from mqlab.rebalances.kinds import CLIENT, COORDINATOR, PROCESS
from mqlab.rebalances.lines import client_of, member_of

_NAME = re.compile(r"#(?:consumer|producer)-\d+$")
"""What librdkafka appends to a client id to name one client."""
_at = attrgetter("first_at")


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines about one group, by time; all have a moment."""

    group: str
    coordinator: tuple[Episode, ...]
    clients: Mapping[str, tuple[Episode, ...]]
    """The own log of each client, by client id; the log's name where it tells of no id."""

    def of(self, client_id: str | None, *kinds: str) -> tuple[Episode, ...]:
        """Lines of these kinds in the client's own log."""
        return tuple(e for e in self.clients.get(client_id or "", ()) if e.kind in kinds)


def between(lines: Sequence[Episode], since: float, until: float) -> Sequence[Episode]:
    """Those of *lines*, which are by time, from *since* up to and including *until*."""
    return lines[bisect_left(lines, since, key=_at) : bisect_right(lines, until, key=_at)]


def following(lines: Sequence[Episode], at: float) -> Iterator[Episode]:
    """Those of *lines*, which are by time, after *at*."""
    for place in range(bisect_right(lines, at, key=_at), len(lines)):
        yield lines[place]


@per_facts
def lines(facts: Facts, group: str) -> Lines:
    """Lines about *group*."""
    own = _by_group(facts).get(group, ())
    coordinator = tuple(e for e in own if e.kind in COORDINATOR)
    clients: dict[str, list[Episode]] = defaultdict(list)
    members = _members(facts, group, own)
    for source, ids in sorted(_logs(facts, own, members).items()):
        everybody = ids | {_plain(name) for kind, name in facts.named_clients(source) if kind in CLIENT}
        for line in _by_source(facts).get(source, ()):
            if line.group in (None, group):
                for client in _whose(line, ids, everybody):
                    clients[client].append(line)
    for line in _unsigned(facts):
        whose = line.reason if line.reason in clients and line.system == "os" else base_name(line.source)
        for client in _named(line, members) or {whose} & {*members, *clients}:
            clients[client].append(line)
    return Lines(group, coordinator, {c: _sorted(these) for c, these in sorted(clients.items())})


@per_facts
def homes(facts: Facts, group: str) -> Mapping[str, str]:
    """Logs that one client of *group* alone writes → that client."""
    writers: dict[str, set[str]] = defaultdict(set)
    for client, these in lines(facts, group).clients.items():
        for line in these:
            writers[line.source].add(client)
    return {source: min(clients) for source, clients in writers.items() if len(clients) == 1}


def _logs(facts: Facts, own: Iterable[Episode], known: Iterable[str]) -> Mapping[str, set[str]]:
    """Logs of clients of the group, and the ids of those that write there."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in own:
        if line.kind in CLIENT:
            found[line.source].add(_plain(line.client_id) if line.client_id else _writer(facts, line.source))
    for client in known:
        for source in _naming(facts).get(client, ()):
            found[source].add(client)
    return found


def _members(facts: Facts, group: str, own: Iterable[Episode]) -> Sequence[str]:
    """Client ids that the coordinator or a snapshot names, sorted."""
    found = {client for e in own if e.kind in COORDINATOR and (client := client_of(member_of(e)))}
    found |= {a.client_id for a in facts.assignments if a.group == group and a.client_id}
    return sorted(found | {c.client_id for c in facts.clients if c.group == group and c.client_id})


def _named(line: Episode, clients: Iterable[str]) -> set[str]:
    """Those of *clients* whose name stands in the line as a word."""
    text = line.first.text
    return {
        one for one in clients if one in text and re.search(rf"(?<![\w.-]){re.escape(one)}(?![\w-])", text) is not None
    }


@per_facts
def _unsigned(facts: Facts) -> tuple[Episode, ...]:
    """Lines about processes in logs where no line names a client id by itself."""
    signed = {source for sources in _naming(facts).values() for source in sources}
    return tuple(
        line
        for source, these in sorted(_by_source(facts).items())
        if source not in signed and not any(line.kind in CLIENT for line in these)
        for line in these
        if line.kind in PROCESS
    )


def _whose(line: Episode, ids: set[str], everybody: set[str]) -> Iterable[str]:
    """Which of the clients *ids* of a log a line of it is about; one about the process is about all."""
    if line.client_id:
        return {_plain(line.client_id)} & ids
    if len(everybody) == 1:
        return ids
    told = _named(line, everybody)
    if told:
        return sorted(told & ids)
    return sorted(ids) if line.kind in PROCESS else ()


@per_facts
def _writer(facts: Facts, source: str) -> str:
    """The client that writes a log whose lines name none: the one whose settings it prints, else the log's name."""
    owners = {s.owner for s in facts.settings if s.source == source and s.scope == "consumer" and s.owner}
    return owners.pop() if len(owners) == 1 else base_name(source)


@per_facts
def _by_group(facts: Facts) -> Mapping[str, tuple[Episode, ...]]:
    found: dict[str, list[Episode]] = defaultdict(list)
    for line in facts.episodes:
        if line.group and line.first_at is not None and (line.kind in COORDINATOR or line.kind in CLIENT):
            found[line.group].append(line)
    return {group: _sorted(these) for group, these in found.items()}


@per_facts
def _by_source(facts: Facts) -> Mapping[str, tuple[Episode, ...]]:
    found: dict[str, list[Episode]] = defaultdict(list)
    for line in facts.episodes:
        if line.first_at is not None and (line.kind in CLIENT or line.kind in PROCESS):
            found[line.source].append(line)
    return {source: tuple(these) for source, these in found.items()}


@per_facts
def _naming(facts: Facts) -> Mapping[str, tuple[str, ...]]:
    """Client id → logs with lines that name it."""
    found: dict[str, set[str]] = defaultdict(set)
    for source, these in _by_source(facts).items():
        for line in these:
            if line.client_id:
                found[_plain(line.client_id)].add(source)
    return {client: tuple(sorted(sources)) for client, sources in found.items()}


def _plain(client_id: str) -> str:
    return _NAME.sub("", client_id)


def _sorted(these: Iterable[Episode]) -> tuple[Episode, ...]:
    return tuple(sorted(these, key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0, e.kind)))
