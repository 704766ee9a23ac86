"""The lines about a Kafka group: kinds, what their words say, and which belong to one group.

They are those of its coordinators and the own log of each of its clients. Texts of GroupCoordinator.scala 0.9-3.9,
GroupMetadataManager.java 3.7-4.x and of client reasons (KIP-800).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from mqlab.facts import Episode, Facts
from mqlab.kafka.rows import Trigger
from mqlab.memo import per_facts
from mqlab.shared.actors import base_name

COORDINATOR = frozenset(
    {
        "rebalance-started", "rebalance-stabilized", "rebalance-assigned", "group-emptied", "member-expired",
        "member-dropped", "member-left", "member-joined", "group-epoch-bumped", "target-assigned", "group-loaded",
        "group-unloaded", "static-member-replaced", "group-metadata",
    }
)  # fmt: skip
CLIENT = frozenset(
    {
        "join-started", "join-requested", "join-completed", "sync-completed", "partitions-assigned",
        "partitions-revoked", "partitions-lost", "assignment-made", "poll-timeout", "leave-sent", "heartbeat-failed",
        "generation-reset", "coordinator-lost", "coordinator-found", "session-timeout", "commit-failed",
        "commit-deferred", "offset-set", "offset-missing", "subscribed",
    }
)  # fmt: skip
STARTS = frozenset({"settings-printed", "app-started", "process-started"})
STOPS = frozenset({"app-stopping", "consumer-closed", "leave-sent"})
PROCESS = STARTS | STOPS | {"process-exit", "client-version"}


_RANDOM = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
_MEMBER = re.compile(r"(?<!\S)\S*[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_CLIENT_REASON = re.compile(r"client reason: (.*?)\.?$", re.DOTALL)
_STATIC = re.compile(
    r"(?:instance ?id |groupInstanceId=|[Ss]tatic member (?=Some\(|\S+ of group))(?:Some\()?([^\s(),;]+)"
)
_NOBODY = frozenset({"None", "null", "Optional.empty"})

POLL_TIMEOUT = "poll timeout"
CLOSED = ("being closed", "unsubscribed from all topics")
"""What a client says that leaves because its application wants to."""
FOLLOW_UP = "need to revoke partitions and re-join"
UNTOLD = frozenset({"", "not provided"})
"""Client reasons that are none: of clients before 3.2 and of librdkafka."""

_MOVED = re.compile(r"NotCoordinator|CoordinatorNotAvailable|CoordinatorLoad|NOT_COORDINATOR|COORDINATOR_")
_CHANGED = ("metadata has changed", "subscription has changed", "does not match the current subscription")
_BEGUN = (
    (re.compile(r"heartbeat expiration|session expired"), Trigger.HEARTBEAT_EXPIRY),
    (re.compile(r"selectedProtocol will change because static"), Trigger.STATIC_FENCED),
    (re.compile(r"\bLeaveGroup\b"), Trigger.LEAVE),
    (re.compile(r"Adding new (?:\w+ )?member|new member"), Trigger.JOIN),
)  # fmt: skip


def client_of(member_id: str | None) -> str | None:
    """Client id in a member id of the classic protocol, which is ``CLIENT-UUID``; None where it names none.

    Of a static member it is the group.instance.id that stands there (GroupCoordinator, KIP-345).
    """
    if member_id is None:
        return None
    cut = _RANDOM.sub("", member_id)
    return cut if cut and cut != member_id else None


def members_in(text: str | None) -> tuple[str, ...]:
    """Member ids in *text*, in their order."""
    return tuple(one.strip("(){},[]") for one in _MEMBER.findall(text or ""))


def client_reason(reason: str | None) -> str:
    """What the client itself said, without the coordinator's words; empty where it said nothing."""
    found = _CLIENT_REASON.search(reason or "")
    said = found[1].strip() if found else ""
    return "" if said in UNTOLD else said


def static_of(text: str | None) -> str | None:
    """The group.instance.id that *text* names."""
    for found in _STATIC.finditer(text or ""):
        if found[1] not in _NOBODY:
            return found[1]
    return None


def trigger_of(reason: str | None) -> Trigger:
    """What the words after ``reason:`` say; UNKNOWN for those that name a member that was there before and no more.

    Source: GroupCoordinator.prepareRebalance and its callers.
    """
    words = reason or ""
    said = client_reason(words) or words
    for begun, trigger in _BEGUN:
        if begun.search(words):
            told = POLL_TIMEOUT in said and trigger is Trigger.LEAVE
            return Trigger.POLL_TIMEOUT if told else trigger
    if FOLLOW_UP in said:
        return Trigger.FOLLOW_UP
    if any(word in said for word in _CHANGED):
        return Trigger.SUBSCRIPTION
    return Trigger.COORDINATOR_MOVE if _MOVED.search(said) else Trigger.UNKNOWN


def rejoined(reason: str | None) -> bool:
    """A member that was in the group joined again, without saying why: metadata, subscription or a follow-up."""
    return bool(re.search(r"Updating metadata for member|joining group during|re-joining group", reason or ""))


def member_of(line: Episode) -> str | None:
    """The member that *line* is about."""
    if line.member_id:
        return line.member_id
    found = members_in(line.reason)
    return found[0] if found else None


def timed_out(line: Episode) -> float:
    """When the time between two polls was up, of a line about that, in epoch seconds.

    Java's KIP-848 client says it a second time with the next poll, and by how much it was too late
    (ConsumerHeartbeatRequestManager.resetPollTimer); what librdkafka tells is from the moment itself.
    """
    late = 0.0 if line.value_max is None or "MAXPOLL" in line.first.text else line.value_max
    return (line.first_at or 0.0) - late


def number(line: Episode) -> int | None:
    """Generation, epoch or count that *line* tells."""
    return None if line.value_max is None else int(line.value_max)


def count_told(line: Episode) -> int | None:
    """Number of members that a line about a stable group tells (2.8 and later)."""
    words = line.reason or ""
    found = re.search(r"(\d+) members|^(\d+)$", words) or re.search(r"(?:with|has) (\d+) members", line.first.text)
    return int(next(part for part in found.groups() if part)) if found else None


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
        """Lines of the client's own log, by time; of these kinds only, where some are given."""
        own = self.clients.get(client_id or "", ())
        return tuple(line for line in own if line.kind in kinds) if kinds else own


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
