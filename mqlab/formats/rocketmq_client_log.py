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

from mqlab.formats.base import Head, Signature, Spec
from mqlab.formats.rocketmq_broker_log import ADDRESS, CLIENT, FIELDS, GMT_PLUS_8, NAME, QUEUE
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, VOLUME

FORMAT = Spec("rocketmq-client-log", Role.CLIENT_LOG, (EVENTS, VOLUME), "rocketmq", Reading.LOG, "rocketmq")

_STAMP = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d"
_DATED = re.compile(_STAMP)
_FIXED = re.compile(_STAMP + r"\.\d{3}\W.*?\[\d+\]\S* \S*\[[^\]]*\]\S* \S*\[[^\]]*#[^\]]*\]\S* - ")
_OURS = re.compile(
    r"\bRocketmq(?:Client|Remoting|Common)\b|\bo\.a\.r\.(?:client|c|r)\.|org\.apache\.rocketmq\.(?:client|remoting)\."
    r"|\b(?:MQClientFactoryScheduledThread|PullMessageServiceScheduledThread|NettyClientPublicExecutor_)"
    r"|\bdo balance result changed, allocateMessageQueue"
)
_PULLED = rf"consumerGroup=(?P<group>{NAME})|{QUEUE}"
"""``PullRequest``."""
_ALLOCATED = rf"{FIELDS}|{CLIENT}|StrategyName=(?P<reason>[^,\s]+)|rebalance(?:Result)?Size=(?P<value>\d+)"

SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "client-created",
        begins=r"[Cc]reated a new client Instance(?:.*?Cli(?:ent|net)ID: ?(?P<client_id>[^,\]\s]+))?"
        r"(?:.*?\b(?P<reason>V\d+_\d+_\d+\w*))?",
    ),
    Signature(
        "consumer-starting",
        begins=r"the consumer \[(?P<group>[^\]]*)\] start beginning(?:.*?messageModel=(?P<reason>\w+))?",
    ),
    Signature("consumer-stopped", begins=r"the consumer \[(?P<group>[^\]]*)\] shutdown OK"),
    Signature("queues-allocated", begins=r"(?:client |broker )?rebalanced result changed\. ", also=_ALLOCATED),
    Signature(
        "queues-allocated", contains=r"do balance result changed, allocateMessageQueueStrategyName=", also=_ALLOCATED
    ),
    Signature(
        "subscription-versioned",
        begins=rf"(?P<topic>{NAME}) Rebalance changed, also update version: (?:.*?, (?P<value>\d{{13}})\s*$)?",
    ),
    Signature("membership-notified", begins=rf"receive broker's notification\[(?P<peer>{ADDRESS})?", also=FIELDS),
    Signature(
        "flow-control",
        begins=r"(?:[Tt]he (?:cached message|consume request) (?P<reason>count|size) exceeds (?:the )?threshold"
        r"|[Tt]he queue's messages, (?P<reason2>span) too long"
        r"|the consumer message (?P<reason3>buffer) is full, so do flow control)",
        also=rf"{_PULLED}|flowControlTimes=(?P<value>\d+)",
    ),
    Signature("not-in-group", begins=r"(?:\[BUG\] )?ConsumerGroup: (?P<group>\S+) The consumerId: (?P<client_id>\S+)"),
    Signature(
        "lock-failed",
        begins=rf"(?:doRebalance, (?P<group>{NAME})\S* add a new mq failed, .*because lock (?:is )?failed"
        rf"|(?:the )?message queue lock(?:ed)? Failed, (?:Group: )?(?P<group2>{NAME}))",
        also=QUEUE,
    ),
    Signature("message-expired-back", begins=r"send expire msg back", also=rf"{FIELDS}|queueId=(?P<queue>\d+)"),
    Signature(
        "offset-illegal",
        begins=r"the pull request offset illegal.*minOffset=0(?:\D|$)",
        also=_PULLED,
        told="above the end",
    ),
    Signature("offset-illegal", begins=r"the pull request offset illegal", also=_PULLED),
    Signature("consumer-suspended", begins=rf"suspend this consumer, (?P<group>{NAME})"),
    Signature("consumer-resumed", begins=rf"resume this consumer, (?P<group>{NAME})"),
    Signature(
        "offsets-reset",
        begins=rf"invoke reset offset operation from broker(?:\. brokerAddr=/?(?P<peer>{ADDRESS}))?",
        also=FIELDS,
        told="received",
    ),
    Signature(
        "record-failed",
        begins=r"consumeMessage (?:exception|return null|Orderly return not OK)|consume message failed\. message",
        also=rf"consumeMessage exception: (?P<reason>[\w.$]+)|{FIELDS}|{QUEUE}|queueOffset=(?P<value>\d+)",
    ),
    Signature(
        "subscription-missing",
        contains=r"CODE: 24\s+DESC: the consumer's subscription|the consumer's subscription not exist\b",
        also=FIELDS,
        told="not exist",
    ),
    Signature("group-unknown", contains=r"the consumer's group info not exist", also=FIELDS),
    Signature(
        "subscription-missing",
        contains=r"CODE: 25\b|the consumer's subscription not latest",
        also=FIELDS,
        told="not latest",
    ),
    Signature("tool-error", contains=rf"the consumer group ?\[(?P<group>{NAME})\] (?P<reason>not online)"),
    Signature(
        "send-busy",
        contains=r"\[(?P<reason>TIMEOUT_CLEAN_QUEUE|PCBUSY_CLEAN_QUEUE|PC_SYNCHRONIZED|REJECTREQUEST|OVERLOAD)\]",
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
