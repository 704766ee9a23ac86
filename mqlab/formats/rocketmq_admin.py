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
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mqlab.formats import console, rocketmq_tables
from mqlab.formats import rocketmq_lines as shapes
from mqlab.formats.base import About, Data, Head, Item, Line, Noise, Reject, Spec
from mqlab.sources import Role
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS, METRICS, POSITIONS, SETTINGS

FORMAT = Spec("rocketmq-admin", Role.COMMAND, (POSITIONS, CLIENTS, ASSIGNMENTS, METRICS, SETTINGS, EVENTS), "rocketmq")

_STATUS = re.compile(r"^(?:\S+\s+)?(?:brokerVersionDesc|bootTimestamp|msgPutTotalTodayNow)\s*: ", re.ASCII)
_PROOF = (
    shapes.HEADER, shapes.PROPERTIES, shapes.SERVER, shapes.CONFIRMED, shapes.MISMATCH, shapes.RUNNING, shapes.PRODUCER,
    _STATUS,
)  # fmt: skip
_SAID = r"^(?!\[?\d{4}-).*(?:org\.apache\.rocketmq|CODE: \d+ +DESC: |SubCommand|\bmqadmin\b)"
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
_PARTS = (
    rocketmq_tables.queue_rows, rocketmq_tables.client_rows, rocketmq_tables.rate_rows, rocketmq_tables.value_rows,
)  # fmt: skip


def recognise(head: Head) -> bool:
    """True for a table, a section or a confirmation of ``mqadmin``, also where it prints nothing but an error."""
    proven = any(proof.search(line) for line in console.plain_lines(head) for proof in _PROOF)
    return proven or console.only_errors(head, _SAID, _NAMED)


def parse(lines: Iterable[Line], about: About) -> Iterator[Item]:
    """Everything that the answers tell; headers, titles and conclusions are noise."""
    for one, place in shapes.placed(console.shown(lines, about), about):
        rows = [row for rows_of in _PARTS for row in rows_of(place)]
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
