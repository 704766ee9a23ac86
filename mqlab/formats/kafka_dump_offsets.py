"""Records of ``__consumer_offsets`` → POSITIONS, and of group metadata CLIENTS, ASSIGNMENTS and EVENTS.

``kafka-dump-log.sh --offsets-decoder`` of all versions, and the console consumer with the formatters for offsets and
group metadata. Sample lines::

    | offset: 1 CreateTime: 1795263301773 … key: {"type":"1","data":{"group":"g","topic":"t","partition":0}} payload: …
    | offset: 1 … CreateTime: 1795262743796 … key: offset_commit::group=g,partition=t-0 payload: offset=981
     key: group_metadata::group=g payload: {"protocolType":"consumer",…,"generationId":1,"assignment":"{m=[t-0, t-1]}"}
    g::GroupMetadata(groupId=g, generation=1, protocolType=Some(consumer), currentState=Stable, members=Map(…))
    [g,t,0]::OffsetAndMetadata(offset=5, leaderEpoch=Optional.empty, metadata=, commitTimestamp=1600000000000, …)

A commit is a position without an end; of several within ten seconds the last is kept. Its moment is that of the
commit, else the record's. Tombstones, batches,
markers of transactions and the records of KIP-848 groups are noise. Dumps of other topics are not read here.

Of group metadata the event's value is the generation, its reason the number of members; its moment is that at which
the group came into its state, else the record's. The text form of dumps tells no addresses: the tool's own log lines
``Loaded member …``, which break a record in two, do. The console consumer tells no moment, and no assignments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mqlab.formats import console, documents
from mqlab.formats.base import About, Data, Head, Item, Items, Line, Lines, Noise, Reject, Spec, regex
from mqlab.formats.values import MICRO, epoch, filled, whole
from mqlab.sources import Role
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS, POSITIONS, Row

FORMAT = Spec("kafka-dump-offsets", Role.COMMAND, (POSITIONS, CLIENTS, ASSIGNMENTS, EVENTS), "kafka")

BUCKET = 10
"""Seconds of which the last commit of a partition is kept."""

_TOPIC = regex(r"^Dumping \S*__consumer_offsets-\d+/")
_SAYS_COMMIT = (
    r"\bkey: (?:offset_commit::group=(?P<group>.*),partition=(?P<topic>[\w.-]+)-"
    r"|offset::(?P<older_group>\S+):(?P<older_topic>[\w.-]+):)(?P<queue>\d+) payload: "
)
_SHOWS_COMMIT = r"^\[(?P<group>.+),(?P<topic>[\w.-]+),(?P<queue>\d+)\]::"
_COMMITS = (regex(rf"{_SAYS_COMMIT}(?!<DELETE>|NULL|null)"), regex(rf"{_SHOWS_COMMIT}\[?Offset"))
_JSON_DATA = regex(
    r'(?:\bkey: \{"(?:type|version)":"?[012]"?,.* payload: |^\{"key":\{"(?:type|version)":"?[012]"?,.*"value":)\{'
)
_KNOWN = (
    _TOPIC,
    regex(_SAYS_COMMIT),
    regex(_SHOWS_COMMIT),
    regex(r'(?:\bkey: |^\{"key":)\{"(?:type|version)":"?\d+"?,"data":\{"group(?:Id)?":'),
)
_BEFORE_KEY = regex(r"^.*?\bkey: ")
_BEFORE_VALUE = re.compile(r"(?<=\}) payload: ")
_CUT = re.compile(r',\{"memberId":(?:(?!\{"memberId":).)*…\}?$')
_CREATED = regex(r"\bCreateTime: (\d{13})")
_PARTED = re.compile(r"^(?: key: |(?:\| )?offset: (?!.* key: ))")
_OFFSET = regex(r"(?: payload: (?:offset=)?|[:(]offset=|OffsetMetadata\[)(\d+)\b")
_COMMITTED_AT = regex(r"(?:commitTimestamp(?:Ms)?=|CommitTime )(\d+)")
_NOISE = regex(
    r"^(?:\| )?(?:offset|baseOffset|endTxnMarker): |^Dumping |^(?:Log s|S)tarting offset: |^ key: |^\S+::|^\[.+\]::"
    r"|^Processed a total of \d+ messages|^Found \d+ invalid messages|^\{\"key\":"
)
_SAID = regex(
    r"\bkey: (?:group_metadata::group=(?P<group>.*)|metadata::(?P<older>.*)|\{\"metadata\":\"(?P<oldest>.*)\"\})"
    r" payload: (?!<DELETE>|NULL|null)"
)
_SHOWN = regex(r"^(?P<group>\S.*?)::\[?GroupMetadata\(")
_GENERATION = regex(r'(?:"generationId":|\bgeneration=| payload: \w*:[\w-]*:)(\d+)')
_HOLDS = regex(r"(?<=[{ ])(?P<member_id>[^\s={]+)=\[(?P<queues>[^\]]*)\]")
_MEMBER = (
    r"MemberMetadata\(memberId=(?P<member_id>[^,]*),.*?clientId=(?P<client_id>[^,]*),.*?clientHost=/?(?P<peer>[^,]*),"
)
_MEMBERS = re.compile(_MEMBER)
_LOADED = re.compile(rf"Loaded member {_MEMBER}")
_CLIENT = re.compile(r"^(.+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_LONGEST = 501
"""Characters of a record that its rows keep: one more than evidence shows."""


class Member(NamedTuple):
    """One member of a group; what its record does not tell is None."""

    member_id: str | None
    client_id: str | None
    peer: str | None = None
    subscription: str | None = None
    held: tuple[tuple[str | None, str | None], ...] = ()
    """Topics and partitions."""


class Group(NamedTuple):
    """What one record tells of a group."""

    line: Line
    at: int | None
    name: str | None
    generation: int | None
    members: tuple[Member, ...]
    counted: bool
    """The record has all members."""


class Commit(NamedTuple):
    """What one record tells of a group's position."""

    group: str | None
    topic: str | None
    queue: str | None
    committed: int | None
    at: int | None


def recognise(head: Head) -> bool:
    """True for a dump of the topic, or for records of groups however they were printed."""
    lines = console.plain_lines(head)
    others = any(line.startswith("Dumping ") and not _TOPIC.search(line) for line in lines)
    return not others and any(_is_group(line) or any(known.search(line) for known in _KNOWN) for line in lines)


def parse(lines: Lines, about: About) -> Items:  # noqa: ARG001 - records tell their own moment
    """Commits and group metadata are data, all other lines of a dump noise."""
    above: int | None = None
    commits: dict[tuple[str | int | None, ...], Data] = {}
    waiting: list[Group] = []
    peers: dict[str | None, str] = {}
    for line in lines:
        plain = console.plain(line.text)
        if member := _loaded(plain):
            peers[member[0]] = min(member[1], peers.get(*member))
        created = _moment(_CREATED, plain)
        if _PARTED.search(plain):
            created = above = above if created is None else created
        found = _record(line, plain, created)
        if isinstance(found, Group):
            waiting.append(found)
        elif isinstance(found, Commit):
            yield from _latest(commits, line, found)
        else:
            yield found
    yield from commits.values()
    for group in waiting:
        yield Data(group.line, tuple(_group_rows(group, peers)))


def _record(line: Line, plain: str, created: int | None) -> Group | Commit | Item:
    """What a line holds: of a record that a log line broke in two, its second half."""
    if _JSON_DATA.search(plain):
        record = _document(plain)
        if documents.part(record, "key", "data", "topic") is not None:
            return _written(record, created)
        if documents.part(record, "key", "data", "group") is not None:
            return _ready(_group_written(line, plain, record, created))
        return Data(line)
    if said := next(filter(None, (commit.search(plain) for commit in _COMMITS)), None):
        return _told(said, plain, created)
    if _is_group(plain):
        return _ready(_group_told(line, plain, created))
    return Noise(line) if _NOISE.search(plain) or console.is_remark(plain) else Reject(line)


def _ready(group: Group) -> Group | Item:
    """What the record says, unless it leaves out addresses, which other lines may tell."""
    if any(member.peer is None for member in group.members):
        return group
    return Data(group.line, tuple(_group_rows(group, {})))


def _latest(commits: dict[tuple[str | int | None, ...], Data], line: Line, found: Commit) -> Items:
    """Put the commit where others of its partition and its ten seconds go; what it takes the place of has no rows."""
    if found.committed is None or found.committed < 0:
        yield Data(line)
        return
    bucket = -line.number if found.at is None else found.at // (BUCKET * MICRO)
    place = (found.group, found.topic, found.queue, bucket)
    if place in commits:
        yield Data(commits.pop(place).line)
    commits[place] = Data(line, (POSITIONS.row(**found._asdict()),))


def _document(plain: str) -> object:
    """Key and value of a record as one object, as the console consumer prints it; a cut one ends behind a member."""
    if not plain.startswith("{"):
        plain = f"""{{"key":{_BEFORE_VALUE.sub(',"value":', _BEFORE_KEY.sub("", plain), count=1)}}}"""
    return documents.first(_CUT.sub("]}}}", plain) if "…" in plain else plain)[0]


def _written(record: object, created: int | None) -> Commit:
    key = documents.part(record, "key", "data")
    data = documents.part(record, "value", "data")
    at = epoch(documents.number(data, "commitTimestamp"))
    return Commit(
        documents.word(key, "group"),
        documents.word(key, "topic"),
        documents.word(key, "partition"),
        documents.number(data, "offset"),
        created if at is None else at,
    )


def _told(said: re.Match[str], plain: str, created: int | None) -> Commit:
    """A commit in one of the text forms."""
    key, offset = said.groupdict(), _OFFSET.search(plain)
    at = _moment(_COMMITTED_AT, plain)
    return Commit(
        key["group"] or key.get("older_group"),
        key["topic"] or key.get("older_topic"),
        key["queue"],
        whole(offset[1]) if offset else None,
        created if at is None else at,
    )


def _moment(pattern: re.Pattern[str], plain: str) -> int | None:
    found = pattern.search(plain)
    return epoch(found[1]) if found else None


def _is_group(plain: str) -> bool:
    """True for group metadata in its text forms."""
    return _SAID.search(plain) is not None or _SHOWN.search(plain) is not None


def _loaded(plain: str) -> tuple[str, str] | None:
    """Id and address of the member that the tool says it loaded."""
    found = _LOADED.search(plain) if "Loaded member " in plain else None
    return (found["member_id"], found["peer"]) if found and found["peer"] else None


def _group_written(line: Line, plain: str, record: object, created: int | None) -> Group:
    """The group of a *record* that is printed as JSON."""
    data = documents.part(record, "value", "data")
    at, generation = epoch(documents.number(data, "currentStateTimestamp")), documents.number(data, "generation")
    return Group(
        line,
        created if at is None else at,
        documents.word(record, "key", "data", "group"),
        _generation(plain) if generation is None else generation,
        tuple(_member(member) for member in documents.entries(data, "members")),
        isinstance(documents.part(data, "members"), list) and not plain.endswith("…"),
    )


def _group_told(line: Line, plain: str, created: int | None) -> Group:
    """The group of a record in one of the text forms."""
    shown, said = _SHOWN.search(plain), _SAID.search(plain)
    name = next(filter(None, said.groups()), None) if said else None
    if shown:
        members = tuple(Member(one["member_id"], one["client_id"], one["peer"]) for one in _MEMBERS.finditer(plain))
    else:
        members = tuple(_holding(one) for one in _HOLDS.finditer(plain))
    return Group(
        line, created, name or (shown["group"] if shown else None), _generation(plain), members, not plain.endswith("…")
    )


def _group_rows(group: Group, peers: Mapping[str | None, str]) -> Iterator[Row]:
    """An event of the *group*, its members and what they hold; *peers* are addresses by the ids of members."""
    text = group.line.text[:_LONGEST]
    generation = None if group.generation is None else float(group.generation)
    count = str(len(group.members)) if group.counted else None
    yield EVENTS.row(
        at=group.at, system="kafka", kind="group-metadata", group=group.name, value=generation, reason=count, text=text
    )
    for member in group.members:
        peer = peers.get(member.member_id) if member.peer is None else member.peer
        who = {"at": group.at, "group": group.name, "client_id": member.client_id, "peer": peer, "text": text}
        yield CLIENTS.row(system="kafka", subscription=member.subscription, **who)
        for topic, queue in member.held:
            yield ASSIGNMENTS.row(member_id=member.member_id, topic=topic, queue=queue, **who)


def _generation(plain: str) -> int | None:
    found = _GENERATION.search(plain)
    return whole(found[1]) if found else None


def _member(member: object) -> Member:
    topics = documents.part(member, "subscription", "topics")
    host = documents.word(member, "clientHost")
    return Member(
        documents.word(member, "memberId"),
        documents.word(member, "clientId"),
        host.rpartition("/")[2] if host is not None else None,
        ";".join(sorted(filter(None, map(documents.word, topics)))) if isinstance(topics, list) else None,
        tuple(
            (documents.word(part, "topic"), documents.word(queue))
            for part in documents.entries(member, "assignment", "assignedPartitions")
            for queue in documents.entries(part, "partitions")
        ),
    )


def _holding(found: re.Match[str]) -> Member:
    """A member that is told by its id and its partitions, ``m=[t-0, t-1]``."""
    client = _CLIENT.search(found["member_id"])
    held = (queue.rpartition("-") for queue in found["queues"].split(", ") if queue)
    return Member(
        found["member_id"],
        client[1] if client else None,
        held=tuple((filled(topic), queue) for topic, _, queue in held),
    )
