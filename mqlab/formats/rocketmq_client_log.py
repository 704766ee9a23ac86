"""Logs of RocketMQ's Java client, its own ``rocketmq_client.log`` or an application's, and of the Go client.

Sample lines::

    2026-11-21 12:29:41,041 INFO RocketmqClient - rebalanced result changed. allocateMessageQueueStrategyName=AVG,
    group=billing, topic=ORDERS, clientId=10.0.4.17@9, mqAllSize=8, cidAllSize=2, rebalanceResultSize=4,
    rebalanceResultSet=[MessageQueue [topic=ORDERS, brokerName=broker-a, queueId=3], …]
    2026-11-21 20:56:48.132 INFO  [7] [RebalanceService] [o.a.r.c.i.c.RebalanceImpl#?:?] - client rebalanced result …
    2026-11-21 20:56:48.132 INFO  [7] [RebalanceService] [o.a.r.c.i.c.RebalanceImpl#?:?] - ORDERS Rebalance changed,
    also update version: 1795265807469, 1795265808132

From 5.1 on the client's own layout fixes the zone to GMT+8, as the brokers' do; before, its clock is the process's.
A changed allocation prints its moment as epoch milliseconds, too.
"""

from __future__ import annotations

import re

from mqlab.formats.base import Head, Signature
from mqlab.formats.rocketmq_broker_log import GMT_PLUS_8
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, VOLUME, Table

FORMAT = "rocketmq-client-log"
SOFTWARE = "rocketmq"
ROLE = Role.CLIENT_LOG
SYSTEM = "rocketmq"
TABLES: tuple[Table, ...] = (EVENTS, VOLUME)
READING = Reading.LOG

_STAMP = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d"
_DATED = re.compile(_STAMP)
_FIXED = re.compile(_STAMP + r"\.\d{3}\W.*?\[\d+\]\S* \S*\[[^\]]*\]\S* \S*\[[^\]]*#[^\]]*\]\S* - ")
_OURS = re.compile(
    r"\bRocketmq(?:Client|Remoting|Common)\b|\bo\.a\.r\.(?:client|c|r)\.|org\.apache\.rocketmq\.(?:client|remoting)\."
    r"|\b(?:MQClientFactoryScheduledThread|PullMessageServiceScheduledThread|NettyClientPublicExecutor_)"
    r"|\bdo balance result changed, allocateMessageQueue"
)
_ALLOCATED = r"StrategyName=([^,\s]+)"
_QUEUES = r"rebalance(?:Result)?Size=(\d+)"

SIGNATURES: tuple[Signature, ...] = (
    Signature("client-created", begins=r"[Cc]reated a new client Instance", reason=r"\b(V\d+_\d+_\d+\w*)"),
    Signature("consumer-starting", begins=r"the consumer \[[^\]]*\] start beginning", reason=r"messageModel=(\w+)"),
    Signature("consumer-stopped", begins=r"the consumer \[[^\]]*\] shutdown OK"),
    Signature(
        "queues-allocated", begins=r"(?:client |broker )?rebalanced result changed\. ", value=_QUEUES, reason=_ALLOCATED
    ),
    Signature(
        "queues-allocated",
        contains=r"do balance result changed, allocateMessageQueueStrategyName=",
        value=_QUEUES,
        reason=_ALLOCATED,
    ),
    Signature(
        "subscription-versioned", begins=r"[%|\w-]+ Rebalance changed, also update version: ", value=r", (\d{13})\s*$"
    ),
    Signature("membership-notified", begins=r"receive broker's notification\["),
    Signature(
        "flow-control",
        begins=r"(?:[Tt]he cached message (?:count|size) exceeds the threshold|[Tt]he queue's messages, span too long"
        r"|the consumer message buffer is full, so do flow control)",
        value=r"flowControlTimes=(\d+)",
        reason=r"^.*?(?:cached message (count|size)|messages, (span)|message (buffer))",
    ),
    Signature("not-in-group", begins=r"ConsumerGroup: \S+ The consumerId: \S+ not in cidAll"),
    Signature(
        "lock-failed",
        begins=r"(?:doRebalance, \S+ add a new mq failed, .*because lock (?:is )?failed"
        r"|(?:the )?message queue lock(?:ed)? Failed, )",
    ),
    Signature("message-expired-back", begins=r"send expire msg back"),
    Signature("offset-illegal", begins=r"the pull request offset illegal"),
    Signature("consumer-suspended", begins=r"suspend this consumer, "),
    Signature("consumer-resumed", begins=r"resume this consumer, "),
    Signature("offsets-reset", begins=r"invoke reset offset operation from broker", told="received"),
    Signature(
        "send-busy",
        contains=r"\[(?:TIMEOUT_CLEAN_QUEUE|PCBUSY_CLEAN_QUEUE|PC_SYNCHRONIZED|REJECTREQUEST|OVERLOAD)\]",
        reason=r"\[(TIMEOUT_CLEAN_QUEUE|PCBUSY_CLEAN_QUEUE|PC_SYNCHRONIZED|REJECTREQUEST|OVERLOAD)\]",
    ),
)


def recognise(head: Head) -> bool:
    """True when the head holds a line that only RocketMQ's client prints, in a file of dated lines."""
    return bool(_OURS.search(head.text)) and bool(_dated(head))


def zone(head: Head) -> str | None:
    """The zone that the client's own layout fixes since 5.1; None for all others."""
    dated = _dated(head)
    return GMT_PLUS_8 if 2 * sum(bool(_FIXED.search(line)) for line in dated) > len(dated) else None


def _dated(head: Head) -> list[str]:
    return [line for line in head.lines[:2000] if _DATED.search(line[:40])]
