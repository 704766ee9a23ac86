"""Records of ``__consumer_offsets`` → POSITIONS, and of group metadata CLIENTS, ASSIGNMENTS and EVENTS.

``kafka-dump-log.sh --offsets-decoder`` of all versions, and the console consumer with the formatters for offsets and
group metadata. Sample lines::

    | offset: 1 CreateTime: 1795263301773 … key: {"type":"1","data":{"group":"g","topic":"t","partition":0}} payload: …
    | offset: 1 … CreateTime: 1795262743796 … key: offset_commit::group=g,partition=t-0 payload: offset=981
    [g,t,0]::OffsetAndMetadata(offset=5, leaderEpoch=Optional.empty, metadata=, commitTimestamp=1600000000000, …)

A commit is a position without an end; of several within ten seconds the last is kept. Its moment is that of the
commit, else the record's. What becomes of group metadata stands in ``kafka_group_records``. Tombstones, batches,
markers of transactions and the records of KIP-848 groups are noise. Dumps of other topics are not read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mqlab.formats import console, documents, kafka_group_records
from mqlab.formats.base import About, Data, Head, Item, Line, Noise, Reject, Spec
from mqlab.formats.kafka_group_records import Group
from mqlab.formats.values import MICRO, epoch, whole
from mqlab.sources import Role
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS, POSITIONS

FORMAT = Spec("kafka-dump-offsets", Role.COMMAND, (POSITIONS, CLIENTS, ASSIGNMENTS, EVENTS), "kafka")

BUCKET = 10
"""Seconds of which the last commit of a partition is kept."""

_TOPIC = re.compile(r"^Dumping \S*__consumer_offsets-\d+/", re.ASCII)
_SAYS_COMMIT = (
    r"\bkey: (?:offset_commit::group=(?P<group>.*),partition=(?P<topic>[\w.-]+)-"
    r"|offset::(?P<older_group>\S+):(?P<older_topic>[\w.-]+):)(?P<queue>\d+) payload: "
)
_SHOWS_COMMIT = r"^\[(?P<group>.+),(?P<topic>[\w.-]+),(?P<queue>\d+)\]::"
_COMMITS = (
    re.compile(rf"{_SAYS_COMMIT}(?!<DELETE>|NULL|null)", re.ASCII),
    re.compile(rf"{_SHOWS_COMMIT}\[?Offset", re.ASCII),
)
_JSON_DATA = re.compile(
    r'(?:\bkey: \{"(?:type|version)":"?[012]"?,.* payload: |^\{"key":\{"(?:type|version)":"?[012]"?,.*"value":)\{',
    re.ASCII,
)
_KNOWN = (
    _TOPIC,
    re.compile(_SAYS_COMMIT, re.ASCII),
    re.compile(_SHOWS_COMMIT, re.ASCII),
    re.compile(r'(?:\bkey: |^\{"key":)\{"(?:type|version)":"?\d+"?,"data":\{"group(?:Id)?":', re.ASCII),
)
_BEFORE_KEY = re.compile(r"^.*?\bkey: ", re.ASCII)
_BEFORE_VALUE = re.compile(r"(?<=\}) payload: ")
_CUT = re.compile(r',\{"memberId":(?:(?!\{"memberId":).)*…\}?$')
_CREATED = re.compile(r"\bCreateTime: (\d{13})", re.ASCII)
_PARTED = re.compile(r"^(?: key: |(?:\| )?offset: (?!.* key: ))")
_OFFSET = re.compile(r"(?: payload: (?:offset=)?|[:(]offset=|OffsetMetadata\[)(\d+)\b", re.ASCII)
_COMMITTED_AT = re.compile(r"(?:commitTimestamp(?:Ms)?=|CommitTime )(\d+)", re.ASCII)
_NOISE = re.compile(
    r"^(?:\| )?(?:offset|baseOffset|endTxnMarker): |^Dumping |^(?:Log s|S)tarting offset: |^ key: |^\S+::|^\[.+\]::"
    r"|^Processed a total of \d+ messages|^Found \d+ invalid messages|^\{\"key\":",
    re.ASCII,
)


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
    return not others and any(
        kafka_group_records.is_text(line) or any(known.search(line) for known in _KNOWN) for line in lines
    )


def parse(lines: Iterable[Line], about: About) -> Iterator[Item]:  # noqa: ARG001 - records tell their own moment
    """Commits and group metadata are data, all other lines of a dump noise."""
    above: int | None = None
    commits: dict[tuple[str | int | None, ...], Data] = {}
    waiting: list[Group] = []
    peers: dict[str | None, str] = {}
    for line in lines:
        plain = console.plain(line.text)
        if member := kafka_group_records.loaded(plain):
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
        yield Data(group.line, tuple(kafka_group_records.rows(group, peers)))


def _record(line: Line, plain: str, created: int | None) -> Group | Commit | Item:
    """What a line holds: of a record that a log line broke in two, its second half."""
    if _JSON_DATA.search(plain):
        record = _document(plain)
        if documents.part(record, "key", "data", "topic") is not None:
            return _written(record, created)
        if documents.part(record, "key", "data", "group") is not None:
            return _ready(kafka_group_records.written(line, plain, record, created))
        return Data(line)
    if said := next(filter(None, (commit.search(plain) for commit in _COMMITS)), None):
        return _told(said, plain, created)
    if kafka_group_records.is_text(plain):
        return _ready(kafka_group_records.told(line, plain, created))
    return Noise(line) if _NOISE.search(plain) or console.is_remark(plain) else Reject(line)


def _ready(group: Group) -> Group | Item:
    """What the record says, unless it leaves out addresses, which other lines may tell."""
    if any(member.peer is None for member in group.members):
        return group
    return Data(group.line, tuple(kafka_group_records.rows(group, {})))


def _latest(commits: dict[tuple[str | int | None, ...], Data], line: Line, found: Commit) -> Iterator[Item]:
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
