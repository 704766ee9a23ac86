"""Numbers in what ``mqadmin`` prints → METRICS under mqlab's own names.

Rates are messages a second as the broker's statistics give them, sizes in bytes, times in milliseconds. Of the three
averages that brokerStatus prints, the first is taken: that of the last ten seconds. The total of brokerConsumeStats,
which is that of all groups, is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mqlab.formats import rocketmq_lines as shapes
from mqlab.formats.rocketmq_lines import Place
from mqlab.formats.values import real
from mqlab.tables import METRICS, Row

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
_SPACE = re.compile(r"(?<=\s)(?P<share>\d+\.\d+)(?:\s+(?:true|false))?\s*$", re.ASCII)
"""The share of the disk that is used; a slave prints -1."""
SPEEDS = ("pull_rt_ms", "pull_tps", "consume_rt_ms", "consume_ok_tps", "consume_failed_tps")
"""Columns of ``#Consumer RT&TPS#`` that are ``rocketmq.consumer.<name>``."""


class _Reading(NamedTuple):
    name: str
    number: str | None
    labels: dict[str, str | None]


def rows(place: Place) -> Iterator[Row]:
    """One row a number of which is told what it is about."""
    for name, number, labels in _readings(place):
        value = real(number)
        told = {label: word for label, word in labels.items() if word}
        if value is not None and told:
            yield METRICS.row(at=place.at, name=f"rocketmq.{name}", labels=told, value=value)


def _readings(place: Place) -> Iterator[_Reading]:
    for kind, shape, told in _TABLES:
        if place.kind == kind and (found := shape.search(place.plain)):
            return told(found, place)
    if (footer := shapes.FOOTER.search(place.plain)) and "Group" not in place.header:
        return _footer(footer, place)
    pair = shapes.PAIR.search(place.plain) if place.section is None else None
    return _status(pair, place) if pair and pair["key"] in STATUS else iter(())


def _members(row: re.Match[str], _: Place) -> Iterator[_Reading]:
    group = {"group": row["group"]}
    facts = {name: row[name] for name in ("type", "model", "version")}
    yield _Reading("group.members", row["count"], group | facts)
    yield _Reading("group.consume_tps", row["tps"], group)
    yield _Reading("group.diff", row["diff"], group)


def _stats(row: re.Match[str], _: Place) -> Iterator[_Reading]:
    topic = {"topic": row["topic"]}
    both = topic | {"group": row["group"]}
    yield _Reading("topic.in_tps", row["in_tps"], topic)
    yield _Reading("topic.out_tps", row["out_tps"], both)
    yield _Reading("group.diff", row["diff"], both)
    yield _Reading("topic.in_24h", row["in_24h"], topic)
    yield _Reading("topic.out_24h", row["out_24h"], both)


def _unread(row: re.Match[str], _: Place) -> Iterator[_Reading]:
    for name in ("in_tps", "in_24h"):
        yield _Reading(f"topic.{name}", row[name], {"topic": row["topic"]})


def _speeds(row: re.Match[str], place: Place) -> Iterator[_Reading]:
    who = {"group": place.group, "topic": row["topic"], "client_id": place.client}
    for name in SPEEDS:
        yield _Reading(f"consumer.{name}", row[name], who)


def _cluster(row: re.Match[str], _: Place) -> Iterator[_Reading]:
    """Of a broker that did not answer, mqadmin prints zeros and no version: it has no numbers."""
    if not row["version"]:
        return
    where = {name: row[name] for name in ("broker", "cluster", "address")}
    space = _SPACE.search(row["rest"])
    yield _Reading("broker.in_tps", row["in_tps"], where)
    yield _Reading("broker.out_tps", row["out_tps"], where)
    yield _Reading("broker.disk_ratio", space["share"] if space else None, where)


def _footer(row: re.Match[str], place: Place) -> Iterator[_Reading]:
    name = _FOOTERS[row["key"]]
    about = {"topic": place.topic} if row["key"] == "Topic Put TPS" else {"group": place.group}
    yield _Reading(name, row["number"], about)


def _status(row: re.Match[str], place: Place) -> Iterator[_Reading]:
    first = (row["value"] or "").partition(" ")[0]
    yield _Reading(f"broker.{STATUS[row['key']]}", first, {"broker": row["address"] or place.broker})


_TABLES: tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str], Place], Iterator[_Reading]]], ...] = (
    ("groups", shapes.MEMBERS, _members),
    ("stats", shapes.UNREAD, _unread),
    ("stats", shapes.STATS, _stats),
    ("speeds", shapes.SPEED, _speeds),
    ("clusters", shapes.CLUSTER, _cluster),
)
"""Which tables hold numbers, the shape of their rows, and those numbers."""
