"""Numbers in what ``mqadmin`` prints → METRICS under mqlab's own names.

Rates are messages a second as the broker's statistics give them, sizes in bytes, times in milliseconds. Of the three
averages that brokerStatus prints, the first is taken: that of the last ten seconds. The total of brokerConsumeStats,
which is that of all groups, is none.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from mqlab.loaders import rocketmq_lines as lines
from mqlab.sql import filled, group, matches, quoted
from mqlab.tables import METRICS

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
    "Consume TPS": "rocketmq.group.consume_tps", "Diff Total": "rocketmq.group.diff",
    "Consume Diff Total": "rocketmq.group.diff", "Consume Inflight Total": "rocketmq.group.inflight",
    "Topic Put TPS": "rocketmq.topic.in_tps",
}  # fmt: skip
_SPACE = r"(?<=\s)(\d+\.\d+)(?:\s+(?:true|false))?\s*$"
"""The share of the disk that is used; a slave prints -1."""
SPEEDS = ("pull_rt_ms", "pull_tps", "consume_rt_ms", "consume_ok_tps", "consume_failed_tps")
"""Columns of ``#Consumer RT&TPS#`` that are ``rocketmq.consumer.<name>``."""


def metrics(placed: DataFrame) -> DataFrame:
    """One row a number."""
    readings = f"CASE {' '.join(f'WHEN {when} THEN {then}' for when, then in _READINGS.items())} END"
    told = placed.selectExpr("source", "line", "text", "at", "`group`", "topic", "client", "broker", "plain", "kind",
                             "section", "header", f"inline({readings})")  # fmt: skip
    labels = "map_from_entries(filter(labels, label -> label.value != ''))"
    columns = {"at": "at", "name": "metric", "labels": labels, "value": "number"}
    return METRICS.rows(told.where("number IS NOT NULL AND exists(labels, label -> label.value != '')"), columns)


def _reading(name: str, number: str, **labels: str) -> str:
    """SQL: one metric with its labels; those that are empty are left out."""
    pairs = ", ".join(f"named_struct('key', '{label}', 'value', {value})" for label, value in labels.items())
    return f"named_struct('metric', {name}, 'labels', array({pairs}), 'number', try_cast({number} AS DOUBLE))"


def _several(*readings: str) -> str:
    return f"array({', '.join(readings)})"


def _chosen(key: str, names: dict[str, str]) -> str:
    return f"CASE {key} {' '.join(f'WHEN {quoted(old)} THEN {quoted(new)}' for old, new in names.items())} END"


def _members() -> str:
    name, count, version, kind, model, tps, diff = (group("plain", lines.MEMBERS, part) for part in range(1, 8))
    return _several(
        _reading("'rocketmq.group.members'", count, group=name, type=kind, model=model, version=version),
        _reading("'rocketmq.group.consume_tps'", tps, group=name),
        _reading("'rocketmq.group.diff'", diff, group=name),
    )


def _stats() -> str:
    topic, consumers, behind, in_tps, out_tps, in_day, out_day = (
        group("plain", lines.STATS, part) for part in range(1, 8)
    )
    return _several(
        _reading("'rocketmq.topic.in_tps'", in_tps, topic=topic),
        _reading("'rocketmq.topic.out_tps'", out_tps, topic=topic, group=consumers),
        _reading("'rocketmq.group.diff'", behind, topic=topic, group=consumers),
        _reading("'rocketmq.topic.in_24h'", in_day, topic=topic),
        _reading("'rocketmq.topic.out_24h'", out_day, topic=topic, group=consumers),
    )


def _unread() -> str:
    topic, _, in_tps, in_day = (group("plain", lines.UNREAD, part) for part in range(1, 5))
    return _several(
        _reading("'rocketmq.topic.in_tps'", in_tps, topic=topic),
        _reading("'rocketmq.topic.in_24h'", in_day, topic=topic),
    )


def _speeds() -> str:
    topic = group("plain", lines.SPEED)
    who = {"group": "coalesce(`group`, '')", "topic": topic, "client_id": "coalesce(client, '')"}
    return _several(
        *[
            _reading(f"'rocketmq.consumer.{name}'", group("plain", lines.SPEED, part), **who)
            for part, name in enumerate(SPEEDS, 2)
        ]
    )


def _cluster() -> str:
    """Of a broker that did not answer, mqadmin prints zeros and no version: it has no numbers."""
    broker, in_tps, out_tps, rest = (group("plain", lines.CLUSTER, part) for part in (2, 5, 6, 7))
    where = {"broker": broker, "cluster": group("plain", lines.CLUSTER), "address": group("plain", lines.CLUSTER, 3)}
    space = group(rest, _SPACE)
    return _several(
        _reading("'rocketmq.broker.in_tps'", in_tps, **where),
        _reading("'rocketmq.broker.out_tps'", out_tps, **where),
        _reading("'rocketmq.broker.disk_ratio'", space, **where),
    )


def _footer() -> str:
    key, number = (group("plain", lines.FOOTER, part) for part in (1, 2))
    of_topic = f"{key} = 'Topic Put TPS'"
    about = {
        "group": f"CASE WHEN {of_topic} THEN '' ELSE coalesce(`group`, '') END",
        "topic": f"CASE WHEN {of_topic} THEN coalesce(topic, '') ELSE '' END",
    }
    return _several(_reading(_chosen(key, _FOOTERS), number, **about))


def _broker() -> str:
    address, key, value = (group("plain", lines.PAIR, part) for part in (1, 2, 3))
    names = {old: f"rocketmq.broker.{new}" for old, new in STATUS.items()}
    return _several(
        _reading(_chosen(key, names), f"get(split({value}, ' '), 0)", broker=f"coalesce({filled(address)}, broker, '')")
    )


_STATUS_LINE = rf"^(?:\S+\s+)?(?:{'|'.join(STATUS)})\s*: "
_READINGS = {
    f"kind = 'groups' AND {matches('plain', lines.MEMBERS)}": _members(),
    f"kind = 'stats' AND {matches('plain', lines.UNREAD)}": _unread(),
    f"kind = 'stats' AND {matches('plain', lines.STATS)}": _stats(),
    f"kind = 'speeds' AND {matches('plain', lines.SPEED)}": _speeds(),
    f"kind = 'clusters' AND {group('plain', lines.CLUSTER, 4)} != ''": _cluster(),
    f"{matches('plain', lines.FOOTER)} AND NOT coalesce(array_contains(header, 'Group'), false)": _footer(),
    f"section IS NULL AND {matches('plain', _STATUS_LINE)}": _broker(),
}
"""Which lines hold numbers, and those numbers."""
