"""Logs of RocketMQ's servers, 3.x to 5.x: broker, namesrv, store, storeerror, lock, remoting, transaction, stats.

Sample lines::

    2026-11-21 20:02:13 INFO HeartbeatThread_1 - new consumer connected, group: billing CONSUME_PASSIVELY CLUSTERING
    channel: ClientChannelInfo [channel=[id: 0x3349a3c6, L:/10.0.0.1:10911 - R:/10.0.4.17:58570],
    clientId=10.0.4.17@9, language=JAVA, version=401, lastUpdateTimestamp=1795262533711]
    2026-11-21 19:39:03 - [WATERMARK] Send Queue Size: 0 SlowTimeMills: 0
    2026-11-21 19:40:00 INFO - [GROUP_GET_SIZE] [ORDERS@billing] Stats In One Minute, SUM: 7 TPS: 0.1 AVGPT: 1.00

Their layouts fix the zone, ``%d{yyy-MM-dd HH:mm:ss,GMT+8}``: the clock shows GMT+8 wherever they run. A layout that
prints milliseconds behind a comma is somebody's own. A connection's line ends in its moment as epoch milliseconds.
"""

from __future__ import annotations

import re

from mqlab.formats.base import Head, Signature, Spec
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, VOLUME

FORMAT = Spec("rocketmq-broker-log", Role.BROKER_LOG, (EVENTS, VOLUME), "rocketmq", Reading.LOG, "rocketmq")

GMT_PLUS_8 = "+08:00"
_DATE = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
_DATED = re.compile(rf"{_DATE}[., ]")
_FIXED = re.compile(rf"{_DATE}(?:\.\d{{3}})? ")
_POOLS = (
    r"(?:PullMessage|LitePullMessage|SendMessage|PutMessage|ReplyMessage|QueryMessage|AckMessage|Heart[Bb]eat|"
    r"ClientManage|ConsumerManage|AdminBroker|EndTransaction|TransactionMsg|LockManage|ProcessReplyMessage|"
    r"RemotingExecutor|NettyServerCodec|LoadBalance)Thread"
)
_SERVICES = (
    r"(?:AllocateMappedFile|ReputMessage|StoreStats|FlushRealTime|FlushConsumeQueue|GroupCommit|CommitRealTime|"
    r"GroupTransfer|AcceptSocket|DefaultAcceptSocket|TransactionalMessageCheck|TransactionalOpBatch|PullRequestHold|"
    r"ColdData\w*|Pop\w*|Timer\w+|HAConnection\w*|CleanCommitLog|CleanConsumeQueue|AutoSwitchHA\w*)(?:Service)"
)
_THREADS = (
    rf"(?:{_POOLS}|{_SERVICES}|brokerOutApi_thread|Broker(?:Controller|FastFailure)Scheduled|StoreScheduled|"
    r"NS(?:Scan)?Scheduled|NettyServer(?:NIO|EPOLL|Boss|Scheduler|Public)|FlushDiskWatcher|QueueLockManager|HAClient|"
    r"compactionSchedule|org\.apache\.rocketmq\.(?:store|broker|namesrv))"
)
_MESSAGES = (
    r"(?:rocketmqHome=|kvConfigPath=|brokerConfigPath=|\[WATERMARK\]|\[PROTECT_BROKER\]|Port: \d+, Re\w+Code Distrib|"
    r"Server is running in TLS|(?:Try to )?[Ss]tart service thread:|instrumented a special java\.util\.Set|"
    r"NETTY SERVER PIPELINE|shutdown thread \w+ interrupt |Try to shutdown service thread:|"
    r"(?:clear handle of this client|remove (?:grpc|remoting) channel) when client unregister|"
    r"tryLock(?:Batch)?[,:] |unlockBatch, |RebalanceLockManager#|The (?:broker\[|Name Server boot)|unregisterBroker)"
)
_OURS = re.compile(
    rf"{_DATE}(?:[.,]\d{{3}})? (?:[A-Z]{{4,5}} +)?(?:{_THREADS}\S* - |(?:(?!Rocketmq)[^\s.\[\]]+ )?- {_MESSAGES}"
    r"|- \[[A-Z_0-9]+\] \[.*Stats In One (?:Minute|Hour|Day))"
)
NAME = r"[%|\w-]+"
"""Of a topic or a group."""
ADDRESS = (
    r"(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|\[[0-9A-Fa-f:.%]+\](?::\d+)?|[0-9A-Fa-f]*:[0-9A-Fa-f:]+(?:%\w+)?(?::\d+)?)"
)
"""It keeps its port, for that tells processes apart."""
FIELDS = rf"[Gg]roup(?:Name|Id)?(?:: |=)(?P<group>{NAME})|\btopic[=:] ?(?P<topic>{NAME})"
QUEUE = rf"MessageQueue \[topic=(?P<topic2>{NAME}), brokerName=(?P<broker>[^,\]]+), queueId=(?P<queue>\d+)\]"
CLIENT = r"(?:clientId|ConsumerId)=(?P<client_id>[^,\]\s]+)"
_CHANNEL = rf"R:(?:[\w.-]*/)?(?P<peer>{ADDRESS})|{CLIENT}"
"""``ClientChannelInfo``."""
_CONNECTED = rf"{_CHANNEL}|\bversion=(?P<reason>\d+)|lastUpdateTimestamp=(?P<value>\d{{13}})"

_RENEWED = r"(?P<reason>subString=.*?), subVersion=.*?\bNEW: .*?(?P=reason), subVersion="
"""The same expression in OLD and NEW: a member that came later subscribes to the same."""

SIGNATURES: tuple[Signature, ...] = (
    Signature("consumer-connected", begins=rf"new consumer connected, group: (?P<group>{NAME})", also=_CONNECTED),
    Signature("producer-connected", begins=rf"new producer connected, group: (?P<group>{NAME})", also=_CONNECTED),
    Signature(
        "consumer-disconnected",
        begins=r"NETTY EVENT: remove not active channel.*ConsumerGroupInfo",
        also=rf"{_CHANNEL}|{FIELDS}",
        told="closed",
    ),
    Signature(
        "producer-disconnected",
        begins=r"NETTY EVENT: remove channel.*ProducerManager",
        also=rf"{_CHANNEL}|{FIELDS}",
        told="closed",
    ),
    Signature(
        "group-offline",
        begins=rf"unregister consumer ok, no any connection(?:, and remove consumer group, (?P<group>{NAME}))?",
    ),
    Signature(
        "group-offline",
        begins=r"SCAN: remove expired channel from ConsumerManager consumerTable, all clear",
        also=FIELDS,
    ),
    Signature(
        "consumer-disconnected",
        begins=r"SCAN: remove expired channel from ConsumerManager",
        also=rf"channel=/?(?P<peer2>{ADDRESS})|{_CHANNEL}|{FIELDS}",
        told="expired",
    ),
    Signature(
        "consumer-disconnected", begins=rf"unregister a consumer\[(?P<group>{NAME})", also=_CHANNEL, told="unregistered"
    ),
    Signature(
        "producer-disconnected", begins=rf"unregister a producer\[(?P<group>{NAME})", also=_CHANNEL, told="unregistered"
    ),
    Signature("subscription-changed", begins=r"subscription changed, add new ", also=FIELDS, told="add"),
    Signature(
        "subscription-changed",
        begins=rf"subscription changed, (?:remove |group: (?P<group>\S+) remove topic (?P<topic>{NAME}))",
        also=FIELDS,
        told="remove",
    ),
    Signature(
        "subscription-changed",
        begins=r"subscription changed, group: (?P<group>\S+) OLD: ",
        also=rf"{FIELDS}|{_RENEWED}",
        told="update",
    ),
    Signature("subscription-missing", begins=r"the consumer's subscription not exist, ", also=FIELDS, told="not exist"),
    Signature(
        "subscription-missing",
        begins=r"(?:the consumer's subscription not latest, |The broker's subscription is not latest)",
        also=FIELDS,
        told="not latest",
    ),
    Signature("group-unknown", begins=r"the consumer's group info not exist", also=FIELDS),
    Signature(
        "offset-went-back",
        begins=r"update consumer offset less than store",
        also=rf"clientHost=/?(?P<peer>{ADDRESS})|key=(?P<topic>{NAME})@(?P<group>{NAME})|queueId=(?P<queue>\d+)"
        r"|requestOffset=(?P<value>\d+)",
    ),
    Signature(
        "offset-first",
        begins=r"(?:the request offset too small|PULL_OFFSET_MOVED:).*requestOffset=0\b",
        also=FIELDS,
    ),
    Signature(
        "offset-moved",
        begins=r"(?:the request offset(?:: \S+)? (?P<reason>too small|over ?flow)"
        r"|(?P<reason2>PULL_OFFSET_MOVED(?::correction)?))",
        also=rf"{FIELDS}|(?:clientIp=|consumer: )/?(?P<peer>{ADDRESS})",
    ),
    Signature(
        "offsets-reset",
        begins=rf"reset offset (?P<reason>started|success)(?: by /?(?P<peer>{ADDRESS}))?",
        also=rf"{FIELDS}|{CLIENT}",
    ),
    Signature(
        "queue-locked-by-other",
        begins=r"(?:RebalanceLockManager#)?tryLock(?:Batch)?[,:] message queue (?:has been )?locked by other client",
        also=rf"{FIELDS}|{QUEUE}|(?:OtherClientId: |\blocked client id=)(?P<reason>[^,\s]+)"
        r"|(?:NewClientId: |current client id=)(?P<client_id>[^,\]\s]+)",
    ),
    Signature(
        "consumer-disabled", begins=r"the consumer\[(?P<group>[^\]]*)\] consume slowly(?:, (?P<value>\d+) bytes)?"
    ),
    Signature(
        "disk-full",
        begins=r"(?:physic|logics) disk maybe full soon(?: |, so reclaim space, )(?P<value>\d[\d.]*)",
    ),
    Signature(
        "rocketmq-broker-started", begins=rf"The broker\[(?P<node>[^,\]]+)(?:, (?P<peer>{ADDRESS}))?.*\] boot success"
    ),
    Signature(
        "rocketmq-broker-started",
        contains=rf"^The broker\[(?P<node>[^,\]]+)(?:, (?P<peer>{ADDRESS}))?.*\] boot success",
    ),
    Signature("namesrv-started", begins=r"The Name Server boot success"),
    Signature("namesrv-started", contains=r"^The Name Server boot success"),
    Signature("rocketmq-broker-stopping", begins=r"Shutdown hook was invoked, "),
    Signature("log-recovery", begins=r"last shutdown abnormally"),
)


def recognise(head: Head) -> bool:
    """True when a line in the servers' layout has a thread or a message that only a server has."""
    return any(_OURS.match(line) for line in _dated(head))


def zone(head: Head) -> str | None:
    """The zone that the layout fixes; None for a layout of somebody's own."""
    dated = _dated(head)
    return GMT_PLUS_8 if all(_FIXED.match(line) for line in dated) else None


def _dated(head: Head) -> list[str]:
    return [line for line in head.lines[:2000] if _DATED.match(line)]
