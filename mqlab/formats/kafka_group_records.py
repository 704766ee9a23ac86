"""Group metadata as ``__consumer_offsets`` keeps it → CLIENTS, ASSIGNMENTS, and EVENTS of kind ``group-metadata``.

Sample lines::

    | offset: 0 CreateTime: 1795263298671 … key: {"type":"2","data":{"group":"g"}} payload: {"version":"3","data":{…}}
     key: group_metadata::group=g payload: {"protocolType":"consumer",…,"generationId":1,"assignment":"{m=[t-0, t-1]}"}
    g::GroupMetadata(groupId=g, generation=1, protocolType=Some(consumer), currentState=Stable, members=Map(…))

An event's value is the generation, its reason the number of members; its moment is that at which the group came into
its state, else the record's. The text form of dumps tells no addresses: the tool's own log lines ``Loaded member …``,
which break a record in two, do. The console consumer tells no moment, and no assignments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mqlab.formats import documents
from mqlab.formats.base import Line
from mqlab.formats.values import epoch, filled, whole
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS, Row

_SAID = re.compile(
    r"\bkey: (?:group_metadata::group=(?P<group>.*)|metadata::(?P<older>.*)|\{\"metadata\":\"(?P<oldest>.*)\"\})"
    r" payload: (?!<DELETE>|NULL|null)",
    re.ASCII,
)
_SHOWN = re.compile(r"^(?P<group>\S.*?)::\[?GroupMetadata\(", re.ASCII)
_GENERATION = re.compile(r'(?:"generationId":|\bgeneration=| payload: \w*:[\w-]*:)(\d+)', re.ASCII)
_HOLDS = re.compile(r"(?<=[{ ])(?P<member_id>[^\s={]+)=\[(?P<queues>[^\]]*)\]", re.ASCII)
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


def is_text(plain: str) -> bool:
    """True for group metadata in its text forms."""
    return _SAID.search(plain) is not None or _SHOWN.search(plain) is not None


def loaded(plain: str) -> tuple[str, str] | None:
    """Id and address of the member that the tool says it loaded."""
    found = _LOADED.search(plain) if "Loaded member " in plain else None
    return (found["member_id"], found["peer"]) if found and found["peer"] else None


def written(line: Line, plain: str, record: object, created: int | None) -> Group:
    """The group of a *record* that is printed as JSON."""
    data = documents.part(record, "value", "data")
    at, generation = epoch(documents.number(data, "currentStateTimestamp")), documents.number(data, "generation")
    return Group(
        line,
        created if at is None else at,
        documents.word(record, "key", "data", "group"),
        _generation(plain) if generation is None else generation,
        tuple(_written(member) for member in documents.entries(data, "members")),
        isinstance(documents.part(data, "members"), list) and not plain.endswith("…"),
    )


def told(line: Line, plain: str, created: int | None) -> Group:
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


def rows(group: Group, peers: Mapping[str | None, str]) -> Iterator[Row]:
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


def _written(member: object) -> Member:
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
