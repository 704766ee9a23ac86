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

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.sql import filled, group, matches, quoted, replaced
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS, Table

MEMBERS = (
    "array<struct<memberId string, clientId string, clientHost string, subscription struct<topics array<string>>, "
    "assignment struct<assignedPartitions array<struct<topic string, partitions array<string>>>>>>"
)
"""Type of the members in a record that is printed as JSON; where it is not written out, a part is null."""

_SAID = (
    r"\bkey: (?:group_metadata::group=(.*)|metadata::(.*)|\{\"metadata\":\"(.*)\"\}) payload: (?!<DELETE>|NULL|null)"
)
_SHOWN = r"^(\S.*?)::\[?GroupMetadata\("
RECORD = f"{_SAID}|{_SHOWN}"
"""Group metadata in its text forms."""

_GENERATION = r'(?:"generationId":|\bgeneration=| payload: \w*:[\w-]*:)(\d+)'
_HOLDS = r"(?<=[{ ])([^\s={]+)=\[([^\]]*)\]"
_MEMBER = r"MemberMetadata\(memberId=([^,]*),.*?clientId=([^,]*),.*?clientHost=/?([^,]*),"
_LOADED = rf"Loaded member {_MEMBER}"
_UUID = r"^(.+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
_PARTITION = r"^(.+)-(\d+)$"
_CUT = r',\{"memberId":(?:(?!\{"memberId":).)*…\}?$'
_LONGEST = 501
"""Characters of a record that its rows keep: one more than evidence shows."""


def closed(document: str) -> str:
    """SQL: a *document* that was cut because of its length, with an end behind the last member that is whole."""
    return f"CASE WHEN contains({document}, '…') THEN {replaced(document, _CUT, ']}}}')} ELSE {document} END"


def tables(records: DataFrame, rows: DataFrame) -> Mapping[Table, DataFrame]:
    """Rows of the three tables; *records* have created and record (JSON, parsed), *rows* are all lines of the dumps."""
    groups = records.where(
        f"{matches('plain', RECORD)} OR (record.key.data.topic IS NULL AND record.key.data.`group` IS NOT NULL)"
    ).selectExpr(
        "source", "line", f"substring(text, 1, {_LONGEST}) AS text", f"{_group()} AS `group`",
        "coalesce(timestamp_millis(record.value.data.currentStateTimestamp), created) AS at",
        f"coalesce(record.value.data.generation, {_number(group('plain', _GENERATION))}) AS generation",
        f"{_members()} AS members",
        "endswith(plain, '…') AS cut",
    )  # fmt: skip
    each = groups.selectExpr("source", "line", "text", "`group`", "at", "inline(members)")
    members = each.join(F.broadcast(_loaded(rows)), ["source", "member_id"], "left").selectExpr(
        "* EXCEPT (peer, loaded)", "coalesce(peer, loaded) AS peer"
    )
    queues = members.selectExpr("* EXCEPT (held)", "inline(held)")
    who = {name: name for name in ("at", "client_id", "peer")} | {"group": "`group`"}
    held = who | {name: name for name in ("member_id", "topic", "queue")}
    event = {"at": "at", "group": "`group`", "system": "'kafka'", "kind": "'group-metadata'", "value": "generation",
             "reason": "CASE WHEN NOT cut THEN size(members) END"}  # fmt: skip
    return {
        CLIENTS: CLIENTS.rows(members, who | {"system": "'kafka'", "subscription": "subscription"}),
        ASSIGNMENTS: ASSIGNMENTS.rows(queues, held),
        EVENTS: EVENTS.rows(groups, event),
    }


def _loaded(rows: DataFrame) -> DataFrame:
    """Addresses of the members that the tool says it loaded."""
    lines = rows.where("contains(plain, 'Loaded member ')").selectExpr(
        "source", f"{group('plain', _LOADED)} AS member_id", f"{filled(group('plain', _LOADED, 3))} AS peer"
    )
    return lines.groupBy("source", "member_id").agg(F.expr("min(peer) AS loaded"))


def _group() -> str:
    said = ", ".join(filled(group("plain", _SAID, part)) for part in (1, 2, 3))
    return f"coalesce(record.key.data.`group`, {said}, {filled(group('plain', _SHOWN))})"


def _number(text: str) -> str:
    return f"try_cast({text} AS BIGINT)"


def _members() -> str:
    """SQL: array of structs (member_id, client_id, peer, subscription, held), from whichever form the record has."""
    return f"""CASE
        WHEN record IS NOT NULL THEN {_written()}
        WHEN {matches("plain", _SHOWN)} THEN {_shown()}
        ELSE {_held()} END"""


def _struct(member_id: str, client_id: str, peer: str, subscription: str, held: str) -> str:
    null = "CAST(NULL AS {})".format
    return f"""named_struct('member_id', {member_id}, 'client_id', {client_id}, 'peer', {peer or null("STRING")},
        'subscription', {subscription or null("STRING")},
        'held', {held or null("ARRAY<STRUCT<topic: STRING, queue: STRING>>")})"""


def _written() -> str:
    queues = "transform(part.partitions, queue -> named_struct('topic', part.topic, 'queue', queue))"
    held = f"flatten(transform(member.assignment.assignedPartitions, part -> {queues}))"
    peer, topics = (
        "substring_index(member.clientHost, '/', -1)",
        "array_join(sort_array(member.subscription.topics), ';')",
    )
    one = _struct("member.memberId", "member.clientId", peer, topics, held)
    return f"transform(record.value.data.members, member -> {one})"


def _shown() -> str:
    names = ", ".join(f"regexp_extract_all(plain, {quoted(_MEMBER)}, {part})" for part in (1, 2, 3))
    one = _struct("member.`0`", "member.`1`", "member.`2`", "", "")
    return f"transform(arrays_zip({names}), member -> {one})"


def _held() -> str:
    ids, lists = (f"regexp_extract_all(plain, {quoted(_HOLDS)}, {part})" for part in (1, 2))
    topic, queue = (group("one", _PARTITION, part) for part in (1, 2))
    held = f"""transform(filter(split(list, ', '), one -> one != ''),
        one -> named_struct('topic', {topic}, 'queue', {queue}))"""
    return f"zip_with({ids}, {lists}, (id, list) -> {_struct('id', filled(group('id', _UUID)), '', '', held)})"
