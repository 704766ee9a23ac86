"""What RocketMQ's ``mqadmin`` prints, 4.x and 5.x → POSITIONS, CLIENTS, ASSIGNMENTS, METRICS, SETTINGS, EVENTS.

Sample lines of consumerProgress, consumerConnection, consumerStatus, brokerStatus and updateTopic::

    #Topic         #Broker Name  #QID  #Broker Offset  #Consumer Offset  #Client IP  #Diff  #LastTime
    ORDER_EVENTS   broker-a      11    383             353               N/A         30     2026-11-21 11:41:07
    172.17.0.1@9                         192.168.50.21:38114    JAVA       V4_8_0
    1          10.20.0.24@9                             V4_8_0               1795261277547/10.20.0.24@9
    commitLogDiskRatio              : 0.16
    TopicConfig [topicName=ORDER_EVENTS, readQueueNums=16, writeQueueNums=16, perm=RW-, order=false]

Also statsAll, topicStatus, brokerConsumeStats, clusterList, topicRoute -l, getBrokerConfig, producerConnection, and the
files that consumerStatus writes. One file may hold the answers of several commands. Of a queue without a committed
offset, ``#Consumer Offset`` is 0 and not empty.

consumerConnection prints a row a connection: the same ``#ClientId`` with another ``#ClientAddr`` is another process;
consumerStatus does, too, but asks each id once only. A queue is ``<broker>/<number>``, as each broker counts its own;
in ``#Consumer MQ Detail#`` one that the consumer is about to lose is none. Rates are messages a second, sizes bytes,
times milliseconds. Of the three averages that brokerStatus prints the first is taken, that of the last ten seconds. The
total of brokerConsumeStats, which is that of all groups, is none. Secrets are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mqlab.formats import console
from mqlab.formats import rocketmq_lines as shapes
from mqlab.formats.base import About, Data, Head, Item, Items, Lines, Noise, Reject, Spec, regex
from mqlab.formats.values import epoch, real, whole
from mqlab.sources import Role
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS, METRICS, POSITIONS, SETTINGS, Row

FORMAT = Spec("rocketmq-admin", Role.COMMAND, (POSITIONS, CLIENTS, ASSIGNMENTS, METRICS, SETTINGS, EVENTS), "rocketmq")

_STATUS = regex(r"^(?:\S+\s+)?(?:brokerVersionDesc|bootTimestamp|msgPutTotalTodayNow)\s*: ")
_PROOF = (
    shapes.HEADER, shapes.PROPERTIES, shapes.SERVER, shapes.CONFIRMED, shapes.MISMATCH, shapes.RUNNING, shapes.PRODUCER,
    _STATUS,
)  # fmt: skip
_SAID = r"^(?!\[?\d{4}-).*(?:rocketmq\.tools\b|SubCommand|\bmqadmin\b)"
"""A line without a date: with one it is a log's."""
_NAMED = (
    r"(?i)^(?:consumer[-_]?(?:progress|connection|status)|topic[-_]?(?:status|route)|stats[-_]?all|broker[-_]?(?:status"
    r"|consume[-_]?stats)|cluster[-_]?list|producer[-_]?connection|update[-_]?(?:topic|sub[-_]?group))(?![a-z])"
)
_KNOWN = (
    shapes.QUEUE, shapes.DETAIL, shapes.SPEED, shapes.SUBSCRIBED, shapes.MEMBERS, shapes.CONNECTION, shapes.STATS,
    shapes.UNREAD, shapes.CLUSTER, shapes.ROUTE, shapes.BROKER_PAIR, shapes.FOOTER, shapes.CONFIRMED, shapes.PAIR,
    shapes.SUBSCRIPTION,
)  # fmt: skip
"""Rows and pairs that say something, also where no table holds it."""
_NOISE = (shapes.HEADER, shapes.SECTION, shapes.SERVER, shapes.REMARK)


def recognise(head: Head) -> bool:
    """True for a table, a section or a confirmation of ``mqadmin``, also where it prints nothing but an error."""
    proven = any(proof.search(line) for line in console.plain_lines(head) for proof in _PROOF)
    return proven or console.only_errors(head, _SAID, _NAMED)


def parse(lines: Lines, about: About) -> Items:
    """Everything that the answers tell; headers, titles and conclusions are noise."""
    for one, place in shapes.placed(console.shown(lines, about), about):
        rows = [row for rows_of in _READERS for row in rows_of(place)]
        if one.error:
            rows.append(one.error)
        yield Data(one.line, rows) if rows else _without_rows(one, place)


def _without_rows(one: console.Shown, place: shapes.Place) -> Item:
    remark = console.remark(one)
    if not isinstance(remark, Reject):
        return remark
    if any(shape.search(place.plain) for shape in _NOISE):
        return Noise(one.line)
    return Data(one.line) if any(shape.search(place.plain) for shape in _KNOWN) else remark


_SECRET = re.compile(r"(?i)password|passwd|secret|accesskey|token|credential")
_FIELD = regex(r"(?P<key>[\w.]+)=(?P<value>[^,\[\]{}]*)")
_OWNER = regex(r"\b(?:topicName|groupName)=(?P<name>[^,\]}]+)")


class _Setting(NamedTuple):
    scope: str
    owner: str | None
    key: str
    value: str | None
    origin: str = "describe"


def _value_rows(place: shapes.Place) -> Iterator[Row]:
    """One row a value."""
    for setting in _settings(place):
        if not _SECRET.search(setting.key):
            yield SETTINGS.row(at=place.at, **setting._asdict())


def _settings(place: shapes.Place) -> Iterator[_Setting]:
    if model := shapes.MODEL.search(place.plain):
        key = model["key"]
        yield _Setting("consumer", place.group, key[0].lower() + key[1:], model["value"], "printed")
    elif confirmed := shapes.CONFIRMED.search(place.plain):
        yield from _confirmed(confirmed)
    elif place.kind == "Consumer Properties":
        if pair := shapes.PAIR.search(place.plain):
            yield _Setting("consumer", place.client, pair["key"], pair["value"] or "", "printed")
    elif place.kind == "routes" and (route := shapes.ROUTE.search(place.plain)):
        for key in ("readQueueNums", "writeQueueNums", "perm"):
            yield _Setting("topic", place.topic, f"{route['broker']}.{key}", route[key])
    else:
        yield from _of_broker(place)


def _confirmed(confirmed: re.Match[str]) -> Iterator[_Setting]:
    """Every ``key=value`` of what is confirmed, owned by the topic or group that it names."""
    owner = _OWNER.search(confirmed["fields"])
    scope = "topic" if confirmed["what"] == "Topic" else "group"
    for key, value in _FIELD.findall(confirmed["fields"]):
        yield _Setting(scope, owner["name"] if owner else None, key, value)


def _of_broker(place: shapes.Place) -> Iterator[_Setting]:
    """What getBrokerConfig lists, and the version that brokerStatus and clusterList tell."""
    pair = shapes.PAIR.search(place.plain)
    if place.section is None and pair and pair["key"] == "brokerVersionDesc":
        yield _Setting("broker", pair["address"] or place.broker, "brokerVersion", pair["value"] or "")
    elif place.kind == "clusters" and (listed := shapes.CLUSTER.search(place.plain)) and listed["version"]:
        yield _Setting("broker", listed["broker"], "brokerVersion", listed["version"])
    elif place.kind is None and (pair := shapes.BROKER_PAIR.search(place.plain)):
        yield _Setting("broker", place.broker, pair["key"], pair["value"] or "")


_SELF = regex(r"^PROP_CLIENT_VERSION\s*: (?P<version>\S+)")


def _client_rows(place: shapes.Place) -> Iterator[Row]:
    """The client that a line lists, or what consumerStatus concludes of the group."""
    client = _listed(place) or _own(place)
    if client:
        yield client
    if shapes.MISMATCH.search(place.plain):
        yield EVENTS.row(at=place.at, system="rocketmq", kind="subscription-different", group=place.group)
    elif stuck := shapes.STUCK.search(place.plain):
        yield _stuck(stuck, place)


def _listed(place: shapes.Place) -> Row | None:
    """Of a producer the group is not told."""
    connection = shapes.CONNECTION.search(place.plain) if place.kind == "connections" else None
    listed = connection or shapes.PRODUCER.search(place.plain)
    if not listed:
        return None
    return CLIENTS.row(
        at=place.at,
        system="rocketmq",
        group=place.group if connection else None,
        client_id=listed["client"],
        peer=listed["peer"],
        connected="true",
        subscription=place.subscription if connection else None,
        version=listed["version"],
    )


def _own(place: shapes.Place) -> Row | None:
    """A consumer that consumerStatus asked, or the one whose own words these are."""
    running, own = shapes.RUNNING.search(place.plain), _SELF.search(place.plain)
    if running:
        asked = epoch(running["millis"]) if place.at is None else place.at
        return CLIENTS.row(
            at=asked, system="rocketmq", group=place.group, client_id=running["client"], connected="true",
            version=running["version"],
        )  # fmt: skip
    if own:
        return CLIENTS.row(
            at=place.at, system="rocketmq", group=place.group, client_id=place.client, connected="true",
            subscription=place.subscription, version=own["version"],
        )  # fmt: skip
    return None


def _stuck(stuck: re.Match[str], place: shapes.Place) -> Row:
    """The value is milliseconds, or how often unlocking was tried."""
    return EVENTS.row(
        at=place.at,
        system="rocketmq",
        kind="queue-stuck",
        group=place.group,
        topic=stuck["topic"],
        queue=f"{stuck['broker']}/{stuck['number']}",
        client_id=stuck["client"],
        value=real(stuck["value"]),
    )


_LOST = regex(r"\bdrop{1,2}ed=true")
_REACHED = regex(r"\bcommitOffset=(?P<offset>\d+)")
"""What the consumer has handled without a gap, and commits within five seconds."""


def _queue_rows(place: shapes.Place) -> Iterator[Row]:
    """The position or the assignment that a line tells."""
    if place.kind in ("queues", "topic") and shapes.QUEUE.search(place.plain):
        yield _position(place)
    elif place.kind == "details" and (held := shapes.DETAIL.search(place.plain)) and not _LOST.search(place.plain):
        queue = f"{held['broker']}/{held['number']}"
        whose = {
            "at": place.at,
            "group": place.group,
            "topic": held["topic"],
            "queue": queue,
            "client_id": place.client,
        }
        yield ASSIGNMENTS.row(**whose)
        if (reached := _REACHED.search(place.plain)) is not None:
            yield POSITIONS.row(**whose, committed=whole(reached["offset"]))


def _position(place: shapes.Place) -> Row:
    cells = place.cells
    of_group = place.kind == "queues"
    broker, number, peer = (cells.get(name) for name in ("Broker Name", "QID", "Client IP"))
    return POSITIONS.row(
        at=place.at,
        group=cells.get("Group", place.group) if of_group else None,
        topic=cells.get("Topic") if of_group else place.topic,
        queue=f"{broker}/{number}" if broker and number else None,
        committed=whole(cells.get("Consumer Offset")),
        end=whole(cells.get("Broker Offset") or cells.get("Max Offset")),
        start=whole(cells.get("Min Offset")),
        peer=None if peer == "N/A" else peer,
    )


STATUS = {
    "putTps": "put_tps", "getTotalTps": "get_total_tps", "getTransferedTps": "get_transferred_tps",
    "getTransferredTps": "get_transferred_tps", "commitLogDiskRatio": "disk_ratio",
    "consumeQueueDiskRatio": "consume_queue_disk_ratio", "earliestMessageTimeStamp": "earliest_message_ms",
    "bootTimestamp": "boot_ms", "commitLogMaxOffset": "commit_log_max_offset",
    "commitLogMinOffset": "commit_log_min_offset", "dispatchBehindBytes": "dispatch_behind_bytes",
    "putMessageAverageSize": "message_size_avg", "putMessageTimesTotal": "put_messages",
    "msgPutTotalTodayNow": "messages_in", "msgGetTotalTodayNow": "messages_out",
    "sendThreadPoolQueueSize": "send_queue_size", "sendThreadPoolQueueHeadWaitTimeMills": "send_queue_wait_ms",
    "pullThreadPoolQueueSize": "pull_queue_size", "pullThreadPoolQueueHeadWaitTimeMills": "pull_queue_wait_ms",
    "pageCacheLockTimeMills": "page_cache_lock_ms",
}  # fmt: skip
"""Keys of brokerStatus that are ``rocketmq.broker.<name>``."""
_FOOTERS = {
    "Consume TPS": "group.consume_tps", "Diff Total": "group.diff", "Consume Diff Total": "group.diff",
    "Consume Inflight Total": "group.inflight", "Topic Put TPS": "topic.in_tps",
}  # fmt: skip
_SPACE = regex(r"(?<=\s)(?P<share>\d+\.\d+)(?:\s+(?:true|false))?\s*$")
"""The share of the disk that is used; a slave prints -1."""
SPEEDS = ("pull_rt_ms", "pull_tps", "consume_rt_ms", "consume_ok_tps", "consume_failed_tps")
"""Columns of ``#Consumer RT&TPS#`` that are ``rocketmq.consumer.<name>``."""


class _Reading(NamedTuple):
    name: str
    number: str | None
    labels: dict[str, str | None]


def _rate_rows(place: shapes.Place) -> Iterator[Row]:
    """One row a number of which is told what it is about."""
    for name, number, labels in _readings(place):
        value = real(number)
        told = {label: word for label, word in labels.items() if word}
        if value is not None and told:
            yield METRICS.row(at=place.at, name=f"rocketmq.{name}", labels=told, value=value)


def _readings(place: shapes.Place) -> Iterator[_Reading]:
    for kind, shape, told in _TABLES:
        if place.kind == kind and (found := shape.search(place.plain)):
            return told(found, place)
    if (footer := shapes.FOOTER.search(place.plain)) and "Group" not in place.header:
        return _footer(footer, place)
    pair = shapes.PAIR.search(place.plain) if place.section is None else None
    return _status(pair, place) if pair and pair["key"] in STATUS else iter(())


def _members(row: re.Match[str], _: shapes.Place) -> Iterator[_Reading]:
    group = {"group": row["group"]}
    facts = {name: row[name] for name in ("type", "model", "version")}
    yield _Reading("group.members", row["count"], group | facts)
    yield _Reading("group.consume_tps", row["tps"], group)
    yield _Reading("group.diff", row["diff"], group)


def _stats(row: re.Match[str], _: shapes.Place) -> Iterator[_Reading]:
    topic = {"topic": row["topic"]}
    both = topic | {"group": row["group"]}
    yield _Reading("topic.in_tps", row["in_tps"], topic)
    yield _Reading("topic.out_tps", row["out_tps"], both)
    yield _Reading("group.diff", row["diff"], both)
    yield _Reading("topic.in_24h", row["in_24h"], topic)
    yield _Reading("topic.out_24h", row["out_24h"], both)


def _unread(row: re.Match[str], _: shapes.Place) -> Iterator[_Reading]:
    for name in ("in_tps", "in_24h"):
        yield _Reading(f"topic.{name}", row[name], {"topic": row["topic"]})


def _speeds(row: re.Match[str], place: shapes.Place) -> Iterator[_Reading]:
    who = {"group": place.group, "topic": row["topic"], "client_id": place.client}
    for name in SPEEDS:
        yield _Reading(f"consumer.{name}", row[name], who)


def _cluster(row: re.Match[str], _: shapes.Place) -> Iterator[_Reading]:
    """Of a broker that did not answer, mqadmin prints zeros and no version: it has no numbers."""
    if not row["version"]:
        return
    where = {name: row[name] for name in ("broker", "cluster", "address")}
    space = _SPACE.search(row["rest"])
    yield _Reading("broker.in_tps", row["in_tps"], where)
    yield _Reading("broker.out_tps", row["out_tps"], where)
    yield _Reading("broker.disk_ratio", space["share"] if space else None, where)


def _footer(row: re.Match[str], place: shapes.Place) -> Iterator[_Reading]:
    name = _FOOTERS[row["key"]]
    about = {"topic": place.topic} if row["key"] == "Topic Put TPS" else {"group": place.group}
    yield _Reading(name, row["number"], about)


def _status(row: re.Match[str], place: shapes.Place) -> Iterator[_Reading]:
    first = (row["value"] or "").partition(" ")[0]
    yield _Reading(f"broker.{STATUS[row['key']]}", first, {"broker": row["address"] or place.broker})


_TABLES: tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str], shapes.Place], Iterator[_Reading]]], ...] = (
    ("groups", shapes.MEMBERS, _members),
    ("stats", shapes.UNREAD, _unread),
    ("stats", shapes.STATS, _stats),
    ("speeds", shapes.SPEED, _speeds),
    ("clusters", shapes.CLUSTER, _cluster),
)
"""Which tables hold numbers, the shape of their rows, and those numbers."""
_READERS = (_queue_rows, _client_rows, _rate_rows, _value_rows)
