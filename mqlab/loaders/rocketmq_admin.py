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
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console, rocketmq_clients, rocketmq_queues, rocketmq_rates, rocketmq_values
from mqlab.loaders import rocketmq_lines as lines
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import matches
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS, METRICS, POSITIONS, SETTINGS, Table

FORMAT = "rocketmq-admin"
TABLES: tuple[Table, ...] = (POSITIONS, CLIENTS, ASSIGNMENTS, METRICS, SETTINGS, EVENTS)
READING = Reading.TABLE

_STATUS = r"^(?:\S+\s+)?(?:brokerVersionDesc|bootTimestamp|msgPutTotalTodayNow)\s*: "
_PROOF = "|".join(
    (
        lines.HEADER, lines.PROPERTIES, lines.SERVER, lines.CONFIRMED, lines.MISMATCH, lines.RUNNING, lines.PRODUCER,
        _STATUS,
    )
)  # fmt: skip
_SAID = r"^(?!\[?\d{4}-).*(?:org\.apache\.rocketmq|CODE: \d+ +DESC: |SubCommand|\bmqadmin\b)"
"""A line without a date: with one it is a log's."""
_NAMED = (
    r"(?i)^(?:consumer[-_]?(?:progress|connection|status)|topic[-_]?(?:status|route)|stats[-_]?all|broker[-_]?(?:status"
    r"|consume[-_]?stats)|cluster[-_]?list|producer[-_]?connection|update[-_]?(?:topic|sub[-_]?group))(?![a-z])"
)
_DATA = "|".join(
    (
        lines.QUEUE, lines.DETAIL, lines.SPEED, lines.SUBSCRIBED, lines.MEMBERS, lines.CONNECTION, lines.PRODUCER,
        lines.RUNNING, lines.STATS, lines.UNREAD, lines.CLUSTER, lines.ROUTE, lines.BROKER_PAIR, lines.FOOTER,
        lines.MODEL, lines.STUCK, lines.MISMATCH, lines.CONFIRMED, lines.PAIR,
    )
)  # fmt: skip
_NOISE = f"{lines.HEADER}|{lines.SECTIONS}|{lines.SERVER}|{lines.REMARKS}"


def recognise(head: Head) -> bool:
    """True for a table, a section or a confirmation of ``mqadmin``, also where it prints nothing but an error."""
    proven = any(re.search(_PROOF, line) for line in console.plain_lines(head))
    return proven or console.only_errors(head, _SAID, _NAMED)


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """Everything that the answers tell, each table from the lines that feed it."""
    placed = lines.placed(rows)
    return {
        POSITIONS: rocketmq_queues.positions(placed),
        ASSIGNMENTS: rocketmq_queues.assignments(placed),
        CLIENTS: rocketmq_clients.clients(placed),
        EVENTS: rocketmq_clients.events(placed),
        METRICS: rocketmq_rates.metrics(placed),
        SETTINGS: rocketmq_values.settings(placed),
    }


def line_class(text: str) -> str:
    """Rows, pairs and footers are data; headers, titles and conclusions noise."""
    line = console.plain(text)
    return f"""CASE
        WHEN {matches(line, lines.CONFIRMED)} THEN 'data'
        WHEN ({console.remark_class(line)}) IS NOT NULL THEN {console.remark_class(line)}
        WHEN {matches(line, lines.MISMATCH)} THEN 'data'
        WHEN {matches(line, _NOISE)} THEN 'noise'
        WHEN {matches(line, _DATA)} OR {matches(line, lines.SUBSCRIPTION)} THEN 'data' END"""
