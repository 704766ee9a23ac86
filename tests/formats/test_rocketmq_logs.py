# ruff: noqa: E501 - lines of brokers and clients stay in one piece
"""RocketMQ's logs: what is recognised, what a line says, and what an allocation gives to whom."""

import re

import pytest
from log_lines import kept, picked, read, tables

from mqlab.capture import open_capture
from mqlab.formats.layouts import moment
from mqlab.formats.registry import FORMATS
from mqlab.formats.values import instant
from mqlab.material.recognition import recognise
from mqlab.tables import ASSIGNMENTS

BROKER = "2026-11-21 20:02:13 {level} {thread} - {message}"
OWN_4 = "2026-11-21 12:02:13,013 {level} RocketmqClient - {message}\r"
OWN_5 = "2026-11-21 20:56:48.132 {level:<5} [7] [RebalanceService] [o.a.r.c.i.c.RebalanceImpl#?:?] - {message}"
SLF4J = "2020-12-03 18:30:17.042 {{Thread-1}} {level:<5} RocketmqClient-100 - {message}"
CHANNEL = (
    "ClientChannelInfo [channel=[id: 0x3349a3c6, L:/192.168.50.11:30911 {open} R:/10.20.0.141:58570],"
    " clientId=10.20.0.141@9#2183405915989, language=JAVA, version=401, lastUpdateTimestamp=1795262533711]"
)
OPEN, CLOSED = CHANNEL.format(open="-"), CHANNEL.format(open="!")
ID, PEER = "10.20.0.141@9#2183405915989", "10.20.0.141:58570"
SUB = "SubscriptionData [classFilterMode=false, topic={}, subString=*, tagsSet=[], codeSet=[], subVersion=1795262526040, expressionType=TAG]"
MQ = "MessageQueue [topic=ORDER_EVENTS, brokerName=broker-a, queueId=8]"

SAID_BY_BROKERS = (
    # kind, group, topic, queue, client_id, peer, reason, value, line
    ("consumer-connected", "points_calc", None, None, ID, PEER, "401", 1795262533711.0,
     f"new consumer connected, group: points_calc CONSUME_PASSIVELY CLUSTERING channel: {OPEN}"),
    ("producer-connected", "order_producer_group", None, None, ID, PEER, "401", 1795262533711.0,
     f"new producer connected, group: order_producer_group channel: {OPEN}"),
    ("consumer-disconnected", "points_calc", None, None, ID, PEER, "closed", None,
     f"NETTY EVENT: remove not active channel[{CLOSED}] from ConsumerGroupInfo groupChannelTable, consumer group: points_calc"),
    ("producer-disconnected", "CLIENT_INNER_PRODUCER", None, None, ID, PEER, "closed", None,
     f"NETTY EVENT: remove channel[{CLOSED}][10.20.0.141:58570] from ProducerManager groupChannelTable, producer group: CLIENT_INNER_PRODUCER"),
    ("consumer-disconnected", "points_calc", None, None, None, PEER, "expired", None,
     "SCAN: remove expired channel from ConsumerManager consumerTable. channel=10.20.0.141:58570, consumerGroup=points_calc"),
    ("group-offline", "points_calc", None, None, None, None, None, None,
     "SCAN: remove expired channel from ConsumerManager consumerTable, all clear, consumerGroup=points_calc"),
    ("group-offline", "points_calc", None, None, None, None, None, None,
     "unregister consumer ok, no any connection, and remove consumer group, points_calc"),
    ("consumer-disconnected", "points_calc", None, None, ID, PEER, "unregistered", None,
     f"unregister a consumer[points_calc] from consumerGroupInfo {OPEN}"),
    ("producer-disconnected", "CLIENT_INNER_PRODUCER", None, None, ID, PEER, "unregistered", None,
     f"unregister a producer[CLIENT_INNER_PRODUCER] from groupChannelTable {OPEN}"),
    ("subscription-changed", "points_calc", "POINTS", None, None, None, "add", None,
     f"subscription changed, add new topic, group: points_calc {SUB.format('POINTS')}"),
    ("subscription-changed", "trade_index", "TRADE_B", None, None, None, "remove", None,
     f"subscription changed, group: trade_index remove topic TRADE_B {SUB.format('TRADE_B')}"),
    ("subscription-changed", "points_calc", "POINTS", None, None, None, "subString=*, tagsSet=[], codeSet=[]", None,
     f"subscription changed, group: points_calc OLD: {SUB.format('POINTS')} NEW: {SUB.format('POINTS')}"),
    ("subscription-changed", "points_calc", "POINTS", None, None, None, "update", None,
     f"subscription changed, group: points_calc OLD: {SUB.format('POINTS')} NEW: {SUB.format('POINTS').replace('*', 'TagA')}"),
    ("subscription-missing", "trade_index", "TRADE_B", None, None, None, "not exist", None,
     "the consumer's subscription not exist, group: trade_index, topic:TRADE_B"),
    ("subscription-missing", "points_calc", None, None, None, None, "not latest", None,
     "The broker's subscription is not latest, group: points_calc *"),
    ("offset-went-back", "points_calc", "POINTS", "2", None, PEER, None, 42.0,
     "[NOTIFYME]update consumer offset less than store. clientHost=10.20.0.141:58570, key=POINTS@points_calc, queueId=2, requestOffset=42, storeOffset=44"),
    ("offset-moved", "g", "T", None, None, "10.0.0.9:1234", "too small", None,
     "the request offset too small. group=g, topic=T, requestOffset=5, brokerMinOffset=9, clientIp=/10.0.0.9:1234"),
    ("offset-moved", "g", "T", None, None, None, "PULL_OFFSET_MOVED:correction", None,
     "PULL_OFFSET_MOVED:correction offset. topic=T, groupId=g, requestOffset=5, newOffset=9, suggestBrokerId=0"),
    ("offset-first", "g", "T", None, None, None, None, None,
     "the request offset too small. group=g, topic=T, requestOffset=0, brokerMinOffset=9, clientIp=/10.0.0.9:1234"),
    ("offset-moved", None, None, None, None, "10.0.0.9:1234", "over flow", None,
     "the request offset: 900 over flow badly, broker max offset: 9, consumer: /10.0.0.9:1234"),
    ("offsets-reset", "g", "T", None, None, "10.0.0.9:57522", "started", None,
     "[reset-offset] reset offset started by 10.0.0.9:57522. topic=T, group=g, timestamp=1606991358536, isForce=true"),
    ("offsets-reset", "g", "T", None, "10.0.0.9@DEFAULT", None, "success", None,
     "[reset-offset] reset offset success. topic=T, group=g, clientId=10.0.0.9@DEFAULT"),
    ("queue-locked-by-other", "g", "ORDER_EVENTS", "broker-a/8", "10.0.0.2@7", None, "10.0.0.1@7", None,
     f"tryLockBatch, message queue locked by other client. Group: g OtherClientId: 10.0.0.1@7 NewClientId: 10.0.0.2@7 {MQ}"),
    ("queue-locked-by-other", "g", "ORDER_EVENTS", "broker-a/8", "10.0.0.2@7", None, "10.0.0.1@7", None,
     f"RebalanceLockManager#tryLockBatch: message queue has been locked by other client, group=g, mq={MQ}, locked client id=10.0.0.1@7, current client id=10.0.0.2@7"),
    ("disk-full", None, None, None, None, None, None, 0.95,
     "physic disk maybe full soon 0.95, so mark disk full, storePathPhysic=/home/rocketmq/store/commitlog"),
    ("log-recovery", None, None, None, None, None, None, None, "last shutdown abnormally, store path root dir: /home/store"),
    ("rocketmq-broker-started", None, None, None, None, "192.168.50.11:30911", None, None,
     "The broker[broker-a, 192.168.50.11:30911] boot success. serializeType=JSON and name server is 192.168.50.11:29876"),
    ("rocketmq-broker-stopping", None, None, None, None, None, None, None, "Shutdown hook was invoked, 1"),
)  # fmt: skip

ALLOCATED = (
    "rebalanced result changed. allocateMessageQueueStrategyName=AVG, group=points_calc, topic=POINTS, "
    "clientId=10.20.0.142@9#2183719642491, mqAllSize=8, cidAllSize=2, rebalanceResultSize=2, rebalanceResultSet="
    "[MessageQueue [topic=POINTS, brokerName=broker-b, queueId=3], MessageQueue [topic=POINTS, brokerName=broker-b, queueId=1]]"
)

SAID_BY_CLIENTS = (
    ("client-created", None, None, None, "10.20.0.142@9#2183719642491", None, "V4_9_4", None,
     "Created a new client Instance, InstanceIndex:0, ClientID:10.20.0.142@9#2183719642491, ClientConfig:ClientConfig [namesrvAddr=192.168.50.11:29876, namespace=null], ClientVersion:V4_9_4, SerializerType:JSON"),
    ("consumer-starting", "points_calc", None, None, None, None, "CLUSTERING", None,
     "the consumer [points_calc] start beginning. messageModel=CLUSTERING, isUnitMode=false"),
    ("consumer-stopped", "points_calc", None, None, None, None, None, None, "the consumer [points_calc] shutdown OK"),
    ("queues-allocated", "points_calc", "POINTS", None, "10.20.0.142@9#2183719642491", None, "AVG", 2.0, ALLOCATED),
    ("queues-allocated", "points_calc", "POINTS", None, "10.20.0.142@9#2183719642491", None, "AVG", 2.0, f"client {ALLOCATED}"),
    ("queues-allocated", "g", "T", None, "10.0.0.1@7", None, "AVG", 4.0,
     "rebalanced result changed. allocateMessageQueueStrategyName=AVG, group=g, topic=T, ConsumerId=10.0.0.1@7, rebalanceSize=4, rebalanceMqSet=4"),
    ("subscription-versioned", None, "ORDER_EVENTS", None, None, None, None, 1795262533342.0,
     "ORDER_EVENTS Rebalance changed, also update version: 1795261138439, 1795262533342"),
    ("membership-notified", "points_calc", None, None, None, "192.168.50.12:30911", None, None,
     "receive broker's notification[192.168.50.12:30911], the consumer group: points_calc changed, rebalance immediately"),
    ("flow-control", "order_sync", "ORDER_EVENTS", "broker-a/8", None, None, "count", 1.0,
     f"the cached message count exceeds the threshold 1000, so do flow control, minOffset=389, maxOffset=1389, count=1005, size=0 MiB, pullRequest=PullRequest [consumerGroup=order_sync, messageQueue={MQ}, nextOffset=1390], flowControlTimes=1"),
    ("flow-control", "order_sync", "ORDER_EVENTS", "broker-a/8", None, None, "span", 2001.0,
     f"the queue's messages, span too long, so do flow control, minOffset=1, maxOffset=2, maxSpan=3, pullRequest=PullRequest [consumerGroup=order_sync, messageQueue={MQ}, nextOffset=1390], flowControlTimes=2001"),
    ("not-in-group", "trade_index", None, None, "10.20.0.83@7#1730233147601", None, None, None,
     "[BUG] ConsumerGroup: trade_index The consumerId: 10.20.0.83@7#1730233147601 not in cidAll: [10.20.0.81@7#1730135265378]"),
    ("lock-failed", "g", "ORDER_EVENTS", "broker-a/8", None, None, None, None,
     f"doRebalance, g, add a new mq failed, {MQ}, because lock failed"),
    ("lock-failed", "g", "ORDER_EVENTS", "broker-a/8", None, None, None, None, f"the message queue lock Failed, g {MQ}"),
    ("lock-failed", "g", "ORDER_EVENTS", "broker-a/8", None, None, None, None, f"the message queue locked Failed, Group: g {MQ}"),
    ("message-expired-back", None, "T", "3", None, None, None, None,
     "send expire msg back. topic=T, msgId=0A, storeHost=/10.0.0.1:10911, queueId=3, queueOffset=8"),
    ("offset-illegal", "order_sync", "ORDER_EVENTS", "broker-a/8", None, None, None, None,
     f"the pull request offset illegal, PullRequest [consumerGroup=order_sync, messageQueue={MQ}, nextOffset=1390] PullResult [pullStatus=OFFSET_ILLEGAL, nextBeginOffset=9]"),
    ("offset-illegal", "order_sync", "ORDER_EVENTS", "broker-a/8", None, None, "above the end", None,
     f"the pull request offset illegal, PullRequest [consumerGroup=order_sync, messageQueue={MQ}, nextOffset=1390] PullResult [pullStatus=OFFSET_ILLEGAL, nextBeginOffset=0, minOffset=0, maxOffset=9]"),
    ("consumer-suspended", "g", None, None, None, None, None, None, "suspend this consumer, g"),
    ("consumer-resumed", "g", None, None, None, None, None, None, "resume this consumer, g"),
    ("offsets-reset", "g", "T", None, None, "10.0.0.1:10911", "received", None,
     "invoke reset offset operation from broker. brokerAddr=10.0.0.1:10911, topic=T, group=g, timestamp=1"),
)  # fmt: skip

ODD = (
    ("consumer-disabled", "slow_one", 17179869185.0,
     "2026-11-21 20:02:13 - [PROTECT_BROKER] the consumer[slow_one] consume slowly, 17179869185 bytes, disable it"),
    ("send-busy", None, None,
     "org.apache.rocketmq.client.exception.MQBrokerException: CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 204ms, size of queue: 3"),
    ("queues-allocated", "g", 1.0,
     'time="2021-03-01T10:00:00+08:00" level=info msg="do balance result changed, allocateMessageQueueStrategyName=AVG, group=g, topic=T, clientId=10.0.0.1@7, mqAllSize=8, cidAllSize=2, rebalanceResultSize=1, rebalanceResultSet=[MessageQueue [topic=T, brokerName=broker-a, queueId=3]]"'),
)  # fmt: skip

WATERMARK = "2026-11-21 19:39:03 - [WATERMARK] Send Queue Size: 0 SlowTimeMills: 0"
STATS = "2026-11-21 19:40:00 INFO - [GROUP_GET_SIZE] [ORDER_EVENTS@order_sync] Stats In One Minute, SUM: 797249 TPS: 19931.23 AVGPT: 428.40"
ORDINARY = (
    WATERMARK,
    STATS,
    BROKER.format(level="INFO", thread="HeartbeatThread_1", message="registerConsumer info changed ConsumerData [groupName=g]"),
    OWN_4.format(level="INFO", message="[persistAll] Group: g ClientId: 10.0.0.1@7 updateConsumeOffsetToBroker MessageQueue [x] 9"),
    OWN_4.format(level="INFO", message=f"doRebalance, g, add a new mq, {MQ}"),
    OWN_5.format(level="INFO", message="the consumer [g] start OK."),
)  # fmt: skip


FORM = "rocketmq-broker-log"


def _said(layout, expected):
    lines = [layout.format(level="INFO", thread="PullMessageThread_9", message=message) for *_, message in expected]
    kept, events = read(lines, FORM)
    assert kept == [True] * len(lines)
    found = picked(events, "kind group topic queue client_id peer reason value system")
    assert found == [(*parts, "rocketmq") for *parts, _ in expected]


def test_what_brokers_say_of_groups_clients_queues_and_addresses():
    _said(BROKER, SAID_BY_BROKERS)


@pytest.mark.parametrize("layout", [OWN_4, OWN_5, SLF4J], ids=["own until 5.0", "own since 5.1", "an application's"])
def test_what_clients_say_in_whatever_layout(layout):
    _said(layout, SAID_BY_CLIENTS)


def test_lines_in_layouts_of_their_own_are_kept():
    lines = [line for *_, line in ODD]
    flags, events = read(lines, FORM)
    assert flags == [True] * len(lines)
    assert picked(events, "kind group value") == [tuple(parts) for *parts, _ in ODD]


def test_routine_lines_are_only_counted():
    assert kept(ORDINARY, FORM) == [False] * len(ORDINARY)


def test_a_broker_that_starts_says_its_name():
    line = BROKER.format(level="INFO", thread="main", message=SAID_BY_BROKERS[-2][-1])
    assert [event["node"] for event in read([line], FORM)[1]] == ["broker-a"]


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("2026-11-21 12:29:41,041 INFO RocketmqClient - x", "12:29:41.000"),
        ("2026-11-21 12:29:41,451 INFO RocketmqClient - x", "12:29:41.451"),
        ("2026-11-21 12:29:41,041 INFO [main] App: x", "12:29:41.041"),
    ],
)
def test_seconds_printed_twice_are_no_milliseconds(stamp, expected):
    assert moment(stamp).wall == instant(f"2026-11-21 {expected}")


def test_an_allocation_is_one_row_for_each_queue_of_the_set():
    lines = [
        OWN_4.format(level="INFO", message=ALLOCATED),
        OWN_4.format(level="INFO", message=re.sub(r"Size=2, (\w+)=.*", r"Size=0, \1=[]", ALLOCATED)),
        OWN_4.format(level="INFO", message=f"the message queue lock Failed, g {MQ}"),
        ODD[2][-1],
    ]
    _, rows = tables(lines, FORM)
    assert sorted(picked(rows[ASSIGNMENTS], "line group topic queue client_id member_id east")) == [
        (1, "points_calc", "POINTS", "broker-b/1", "10.20.0.142@9#2183719642491", None, None),
        (1, "points_calc", "POINTS", "broker-b/3", "10.20.0.142@9#2183719642491", None, None),
        (4, "g", "T", "broker-a/3", "10.0.0.1@7", None, 28800),
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_every_line_of_a_folder_of_logs_is_understood(tmp_path):
    lines = [BROKER.format(level="WARN", thread="PullMessageThread_9", message=m) for *_, m in SAID_BY_BROKERS]
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "broker.log").write_text("\n".join([*lines, "\tat a.b.C", "for further details.", ""]))
    (folder / "watermark.log").write_text(f"{WATERMARK}\n" * 50)
    own = [OWN_4.format(level="INFO", message=m) for *_, m in SAID_BY_CLIENTS]
    (folder / "rocketmq_client.log").write_text("\n".join([*own, ""]), newline="")
    capture = open_capture(str(folder), workspace=str(tmp_path / "cache"))
    coverage = capture.facts.coverage
    told = [(c.source, c.format, c.lines, c.data, c.rejected, c.zone) for c in coverage]
    assert told == [
        ("broker.log", "rocketmq-broker-log", len(lines) + 2, len(lines), 0, "+08:00"),
        ("rocketmq_client.log", "rocketmq-client-log", len(own), len(own), 0, "UTC"),
        ("watermark.log", "rocketmq-broker-log", 50, 0, 0, "+08:00"),
    ]


HEADS = (
    ("rocketmq-broker-log", "+08:00", "2026-11-21 19:38:52 INFO main - rocketmqHome=/opt/rocketmq-4.9.4"),
    ("rocketmq-broker-log", "+08:00", "2026-11-21 19:38:52 INFO main - instrumented a special java.util.Set into: sun.nio.ch.EPollSelectorImpl@385e9564"),
    ("rocketmq-broker-log", "+08:00", "2026-11-21 19:38:52 INFO AllocateMappedFileService - AllocateMappedFileService service started"),
    ("rocketmq-broker-log", "+08:00", WATERMARK),
    ("rocketmq-broker-log", "+08:00", STATS),
    ("rocketmq-broker-log", "+08:00", ODD[0][-1]),
    ("rocketmq-broker-log", "+08:00", BROKER.format(level="WARN", thread="AdminBrokerThread_3", message=SAID_BY_BROKERS[20][-1])),
    ("rocketmq-broker-log", "+08:00", "2026-11-21 20:56:45 INFO NettyServerScheduler_1 - Port: 30911, RequestCode Distribution: {17:1}"),
    ("rocketmq-broker-log", "+08:00", "2026-11-21 20:56:53 INFO ColdDataPullRequestHoldService - [OK] checkColdDataPullRequest-cost 0 ms."),
    ("rocketmq-broker-log", None, "2026-11-21 19:38:52,115 INFO main - The broker[broker-a, 10.0.0.1:10911] boot success. serializeType=JSON"),
    ("rocketmq-client-log", None, OWN_4.format(level="INFO", message="the consumer [g] start OK.")),
    ("rocketmq-client-log", "+08:00", OWN_5.format(level="INFO", message="the consumer [g] start OK.")),
    ("rocketmq-client-log", None, SLF4J.format(level="WARN", message="x")),
    ("rocketmq-client-log", None, "[2019-09-25T18:29:19,853][WARN ][RocketmqClient           ] execute the pull request exception"),
    ("rocketmq-broker-log", "+08:00", "2026-11-21 20:57:21 INFO ShutdownHook - shutdown thread NettyEventExecutor interrupt false"),
    ("rocketmq-broker-log", "+08:00", "2026-11-21 20:57:31 INFO pool-4-thread-1 - remove grpc channel when client unregister. group:seats, clientChannelInfo:x, removed:true"),
    ("rocketmq-client-log", None, OWN_4.format(level="INFO", message="shutdown thread PullMessageService interrupt false")),
    ("application-log", None, "2026-11-21 19:38:52 INFO main - application started"),
    ("application-log", None, "2026-11-21 19:38:52 INFO main - shutdown thread pool"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "rule", "line"), HEADS, ids=[f"{n}-{line[:60]}" for n, _, line in HEADS])
def test_a_log_is_known_by_its_lines_and_some_layouts_fix_the_zone(name, rule, line):
    known = recognise(f"{line}\n".encode(), "x.log", 100, FORMATS)
    assert (known.format, known.zone_rule) == (name, rule)
