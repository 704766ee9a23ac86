"""Answers of RocketMQ's mqadmin, 4.x and 5.x."""

import pytest

from mqlab.formats import rocketmq_admin as loader
from mqlab.formats.base import Head
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS, METRICS, POSITIONS, SETTINGS

V42 = """
[root@mq-1 bin]# sh mqadmin consumerProgress -g GROUP_X -n 10.0.0.1:9876
OpenJDK 64-Bit Server VM warning: ignoring option PermSize=128m; support was removed in 8.0
RocketMQLog:WARN No appenders could be found for logger (io.netty.util.internal.PlatformDependent0).
#Topic            #Broker Name      #QID  #Broker Offset   #Consumer Offset  #Client IP      #Diff                 #LastTime
%RETRY%GROUP_X    broker-a          0     2                2                 N/A             0                     2018-03-11 20:11:39
T_ORDERS          broker-10         3     1390             1042              192.168.1.104   348                   2018-03-11 20:11:39
T_ORDERS          broker-2          0     90               0                 N/A             90                    N/A
T_ORDERS          broker-2          1     90               91                N/A             -1                    N/A

Consume TPS: 1.6666666666666667
Diff Total: 437"""  # noqa: E501

V5 = """
#Topic                                                            #Broker Name                      #QID  #Broker Offset        #Consumer Offset      #Diff                #Inflight           #LastTime
%RETRY%BadConsumerGroup_TestTopic                                 873fe6a3414c                      0     3                     3                     0                    0                    2026-06-07 02:49:41
TestTopic                                                         873fe6a3414c                      4     1                     1                     0                    0                    2026-06-07 02:44:59
TestTopic                                                         873fe6a3414c                      5     0                     0                     0                    0                    N/A

Consume TPS: 0.13
Consume Diff Total: 0
Consume Inflight Total: 7
"""  # noqa: E501

CONNECTIONS = """
#ClientId                            #ClientAddr            #Language  #Version
172.17.0.1@9                         192.168.50.21:38114    JAVA       V4_8_0
172.17.0.1@9                         192.168.50.22:52130    JAVA       V4_8_0

Below is subscription:
#Topic               #SubExpression
TRADE_B              TagA || TagB
TRADE_A              *
%RETRY%trade_index   *

ConsumeType: CONSUME_PASSIVELY
MessageModel: CLUSTERING
ConsumeFromWhere: CONSUME_FROM_LAST_OFFSET"""

V41_STATUS = """
001  192.168.1.104@14365                      V4_1_0_SNAPSHOT      1520774098587/192.168.1.104@14365

Same subscription in the same group of consumer

Rebalance OK
192.168.1.104@14365 MessageQueue [topic=T, brokerName=broker-a, queueId=3] can't consume for a while, maybe blocked, 61000ms
WARN: Different subscription in the same group of consumer!!!#Index     #ClientId                #Version             #ConsumerRunningInfoFile
1          10.20.0.24@9             V4_8_0               1795261277547/10.20.0.24@9
2          10.20.0.24@9             V4_8_0               1795261277547/10.20.0.24@9"""  # noqa: E501

SELF = """
#Consumer Properties#
PROP_CONSUMEORDERLY                     : false
PROP_CLIENT_VERSION                     : V4_9_4
accessKeySecret                         : hush
subscription                            : {}
consumerGroup                           : trade_index


#Consumer Subscription#
001 Topic: %RETRY%trade_index                       ClassFilter: false    SubExpression: *
002 Topic: TRADE_B                                  ClassFilter: false    SubExpression: *
003 Topic: TRADE_A                                  ClassFilter: false    SubExpression: T1 || T2


#Consumer Offset#
#Topic                                                            #Broker Name                      #QID  #Consumer Offset
TRADE_A                           broker-a                          0     438


#Consumer MQ Detail#
#Topic                                                            #Broker Name                      #QID  #ProcessQueueInfo
TRADE_A                                                           broker-a                          0     ProcessQueueInfo [commitOffset=438, locked=false, LOST=false, lastPullTimestamp=20261121115829899]
TRADE_A                                                           broker-a                          1     ProcessQueueInfo [commitOffset=437, locked=false, LOST=true, lastPullTimestamp=20261121115829484]


#Consumer Pop Detail#
#Topic                            #Broker Name                      #QID  #ProcessQueueInfo


#Consumer RT&TPS#
#Topic                                                                  #Pull RT      #Pull TPS    #Consume RT #ConsumeOK TPS #ConsumeFailed TPS  #ConsumeFailedMsgsInHour
TRADE_A                                   499.93           4.00           5.34           4.00               0.00                         0


#User Consume Info#


#Consumer jstack#
main                                    TID: 1 STATE: TIMED_WAITING
main                                    java.lang.Thread.sleep(Native Method)
main                                    Worker.main(Worker.java:10)""".replace("LOST", "drop" + "ed")  # noqa: E501

ERROR = """
org.apache.rocketmq.tools.command.SubCommandException: ConsumerConnectionSubCommand command failed
\tat org.apache.rocketmq.tools.command.MQAdminStartup.main0(MQAdminStartup.java:149)
Caused by: org.apache.rocketmq.client.exception.MQBrokerException: CODE: 206  DESC: the consumer group[log_to_mongo] not online BROKER: 10.0.0.1:10911
See http://rocketmq.apache.org/docs/faq/ for further details.
\tat org.apache.rocketmq.client.impl.MQClientAPIImpl.getConsumerConnectionList(MQClientAPIImpl.java:1414)
\t... 2 more"""  # noqa: E501


def test_every_row_of_progress_is_the_position_of_one_queue(loaded):
    columns = "line at group topic queue committed end peer"
    assert loaded(loader, POSITIONS, columns, V42, snapshot_at="2018-03-11 12:30:00") == [
        (5, "12:30:00", "GROUP_X", "%RETRY%GROUP_X", "broker-a/0", 2, 2, None),
        (6, "12:30:00", "GROUP_X", "T_ORDERS", "broker-10/3", 1042, 1390, "192.168.1.104"),
        (7, "12:30:00", "GROUP_X", "T_ORDERS", "broker-2/0", 0, 90, None),
        (8, "12:30:00", "GROUP_X", "T_ORDERS", "broker-2/1", 91, 90, None),
    ]
    name = "consumerProgress-BadConsumerGroup.20260607T025000Z.txt"
    assert loaded(loader, POSITIONS, "line group topic queue committed end", V5, name) == [
        (2, "BadConsumerGroup", "%RETRY%BadConsumerGroup_TestTopic", "873fe6a3414c/0", 3, 3),
        (3, "BadConsumerGroup", "TestTopic", "873fe6a3414c/4", 1, 1),
        (4, "BadConsumerGroup", "TestTopic", "873fe6a3414c/5", 0, 0),
    ]


@pytest.mark.parametrize(
    ("name", "rows", "group"),
    [
        ("out.txt", "%RETRY%a  b  0  1  1  0  N/A\nT  b  0  1  1  0  N/A", "a"),
        ("consumerProgress-x.txt", "%RETRY%a  b  0  1  1  0  N/A\nT  b  0  1  1  0  N/A", "a"),
        ("consumerProgress-s-a_b.20261121T115033Z.txt.txt", "T  b  0  1  1  0  N/A", "a_b"),
        ("consumer_progress.a-1.1795261277547.log", "T  b  0  1  1  0  N/A", "a-1"),
        ("out.txt", "%RETRY%a  b  0  1  1  0  N/A\n%RETRY%a_T  b  0  1  1  0  N/A\nT  b  0  1  1  0  N/A", "a"),
        ("out.txt", "%RETRY%a+T  b  0  1  1  0  N/A\nT  b  0  1  1  0  N/A", "a"),
        ("out.txt", "T  b  0  1  1  0  N/A", None),
    ],
)
def test_the_group_is_told_by_the_retry_topic_or_the_files_name(loaded, name, rows, group):
    text = f"#Topic  #Broker Name  #QID  #Broker Offset  #Consumer Offset  #Diff  #LastTime\n{rows}"
    found = loaded(loader, POSITIONS, "group topic", text, name)
    assert {row[0] for row in found} == {group}


def test_answers_of_one_session_do_not_mix(loaded):
    text = f"{V42}\n[root@mq-1 bin]# sh mqadmin consumerConnection -g trade_index -n 10.0.0.1:9876{CONNECTIONS}"
    assert {row[0] for row in loaded(loader, POSITIONS, "group", text)} == {"GROUP_X"}
    assert {row[0] for row in loaded(loader, CLIENTS, "group", text)} == {"trade_index"}


def test_footers_are_metrics_of_the_group(loaded):
    columns = "line name labels value"
    who = {"group": "GROUP_X"}
    assert loaded(loader, METRICS, columns, V42) == [
        (10, "rocketmq.group.consume_tps", who, 1.6666666666666667),
        (11, "rocketmq.group.diff", who, 437.0),
    ]
    who = {"group": "BadConsumerGroup"}
    assert loaded(loader, METRICS, columns, V5, "consumerProgress-BadConsumerGroup.txt") == [
        (6, "rocketmq.group.consume_tps", who, 0.13),
        (7, "rocketmq.group.diff", who, 0.0),
        (8, "rocketmq.group.inflight", who, 7.0),
    ]


def test_a_group_that_is_offline_has_no_members(loaded):
    text = """
#Group                                                            #Count  #Version                 #Type  #Model          #TPS     #Diff Total
sample-offline-consumer                                               0       OFFLINE                                         0        22653
sample-order-events-consumer             1       V5_3_2                   PUSH   CLUSTERING      12        -3"""  # noqa: E501
    on = {"group": "sample-order-events-consumer"}
    off = {"group": "sample-offline-consumer"}
    facts = {"type": "PUSH", "model": "CLUSTERING", "version": "V5_3_2"}
    assert loaded(loader, METRICS, "line name labels value", text) == [
        (2, "rocketmq.group.members", {**off, "version": "OFFLINE"}, 0.0),
        (2, "rocketmq.group.consume_tps", off, 0.0),
        (2, "rocketmq.group.diff", off, 22653.0),
        (3, "rocketmq.group.members", {**on, **facts}, 1.0),
        (3, "rocketmq.group.consume_tps", on, 12.0),
        (3, "rocketmq.group.diff", on, -3.0),
    ]


def test_one_id_with_two_addresses_is_two_clients(loaded):
    columns = "line system group client_id peer connected subscription version"
    assert loaded(loader, CLIENTS, columns, CONNECTIONS) == [
        (2, "rocketmq", "trade_index", "172.17.0.1@9", "192.168.50.21:38114", "true",
         "TRADE_A:*;TRADE_B:TagA || TagB", "V4_8_0"),
        (3, "rocketmq", "trade_index", "172.17.0.1@9", "192.168.50.22:52130", "true",
         "TRADE_A:*;TRADE_B:TagA || TagB", "V4_8_0"),
    ]  # fmt: skip
    assert loaded(loader, SETTINGS, "line scope owner key value origin", CONNECTIONS) == [
        (11, "consumer", "trade_index", "consumeType", "CONSUME_PASSIVELY", "printed"),
        (12, "consumer", "trade_index", "messageModel", "CLUSTERING", "printed"),
        (13, "consumer", "trade_index", "consumeFromWhere", "CONSUME_FROM_LAST_OFFSET", "printed"),
    ]


def test_status_lists_a_repeated_id_as_often_as_it_is_connected(loaded):
    name = "consumerStatus-g1.txt"
    assert loaded(loader, CLIENTS, "line at group client_id peer subscription version", V41_STATUS, name) == [
        (1, "13:14:58", "g1", "192.168.1.104@14365", None, None, "V4_1_0_SNAPSHOT"),
        (8, "11:41:17", "g1", "10.20.0.24@9", None, None, "V4_8_0"),
        (9, "11:41:17", "g1", "10.20.0.24@9", None, None, "V4_8_0"),
    ]
    assert loaded(loader, EVENTS, "line system kind group topic queue client_id value", V41_STATUS, name) == [
        (6, "rocketmq", "queue-stuck", "g1", "T", "broker-a/3", "192.168.1.104@14365", 61000.0),
        (7, "rocketmq", "subscription-different", "g1", None, None, None, None),
    ]


@pytest.mark.parametrize(
    ("name", "client"),
    [
        ("10.20.0.111@9#1246464813326", "10.20.0.111@9#1246464813326"),
        ("10.20.0.111_9_1246464813326.txt", "10.20.0.111@9#1246464813326"),
        ("172.17.0.1_order-sync-3.txt", "172.17.0.1@order-sync-3"),
        ("172.17.0.1_order_sync.txt", "172.17.0.1@order_sync"),
        ("running-info.txt", None),
    ],
)
def test_the_files_name_is_the_client_id(loaded, name, client):
    assert loaded(loader, CLIENTS, "line group client_id subscription version connected", SELF, name) == [
        (3, "trade_index", client, "TRADE_A:T1 || T2;TRADE_B:*", "V4_9_4", "true"),
    ]


def test_what_a_client_says_of_its_id_beats_the_name(loaded):
    text = SELF.replace("subscription     ", "clientIP    : 10.0.0.9\ninstanceName    : 7#123\nsubscription     ")
    assert loaded(loader, CLIENTS, "client_id", text, "1.2.3.4@5") == [("10.0.0.9@7#123",)]


def test_a_consumers_own_words_tell_settings_queues_and_speeds(loaded):
    name = "10.20.0.81@7"
    assert loaded(loader, SETTINGS, "line scope owner key value origin", SELF, name) == [
        (2, "consumer", name, "PROP_CONSUMEORDERLY", "false", "printed"),
        (3, "consumer", name, "PROP_CLIENT_VERSION", "V4_9_4", "printed"),
        (5, "consumer", name, "subscription", "{}", "printed"),
        (6, "consumer", name, "consumerGroup", "trade_index", "printed"),
    ]
    assert loaded(loader, ASSIGNMENTS, "group topic queue client_id", SELF, name) == [
        ("trade_index", "TRADE_A", "broker-a/0", name),
    ]
    who = {"group": "trade_index", "topic": "TRADE_A", "client_id": name}
    assert loaded(loader, METRICS, "name labels value", SELF, name) == [
        ("rocketmq.consumer.pull_rt_ms", who, 499.93),
        ("rocketmq.consumer.pull_tps", who, 4.0),
        ("rocketmq.consumer.consume_rt_ms", who, 5.34),
        ("rocketmq.consumer.consume_ok_tps", who, 4.0),
        ("rocketmq.consumer.consume_failed_tps", who, 0.0),
    ]
    assert loaded(loader, POSITIONS, "group topic queue committed end client_id", SELF, name) == [
        ("trade_index", "TRADE_A", "broker-a/0", 438, None, name),
    ]


def test_the_status_of_a_topic_tells_where_its_queues_begin_and_end(loaded):
    text = """
#Broker Name                      #QID  #Min Offset           #Max Offset             #Last Updated
broker-a                          10    0                     0
broker-a                          11    5                     9                       2026-11-21 11:39:10,814

Topic Put TPS: 0.5"""
    name = "topicStatus-ORDER_EVENTS.20261121T113910Z.txt"
    columns = "line at group topic queue start end committed"
    assert loaded(loader, POSITIONS, columns, text, name, "2026-11-21 11:39:11") == [
        (2, "11:39:11", None, "ORDER_EVENTS", "broker-a/10", 0, 0, None),
        (3, "11:39:11", None, "ORDER_EVENTS", "broker-a/11", 5, 9, None),
    ]
    assert loaded(loader, METRICS, "name labels value", text, name) == [
        ("rocketmq.topic.in_tps", {"topic": "ORDER_EVENTS"}, 0.5),
    ]
    echoed = "$ bin/mqadmin topicStatus -n 10.0.0.1:9876 -t OTHER" + text
    assert {row[0] for row in loaded(loader, POSITIONS, "topic", echoed)} == {"OTHER"}


def test_the_statistics_of_a_broker_name_the_group_of_each_queue(loaded):
    text = """
#Topic     #Group       #Broker Name   #QID  #Broker Offset  #Consumer Offset  #Diff  #LastTime
%RETRY%g1  g1           broker-a       0     0               0                 0      N/A
T          g2           broker-a       7     20              15                5      2026-11-21 11:39:10
Diff Total: 5"""
    assert loaded(loader, POSITIONS, "line group topic queue committed end", text) == [
        (2, "g1", "%RETRY%g1", "broker-a/0", 0, 0),
        (3, "g2", "T", "broker-a/7", 15, 20),
    ]
    assert loaded(loader, METRICS, "name", text) == []


def test_topics_without_a_consumer_have_no_backlog(loaded):
    text = """
#Topic            #Consumer Group     #Accumulation      #InTPS     #OutTPS   #InMsg24Hour  #OutMsg24Hour
BenchmarkTest                                     0        0.00                          0    NO_CONSUMER
price-update      price_cache                  1129       14.00       23.08            840            923"""
    topic = {"topic": "price-update"}
    both = topic | {"group": "price_cache"}
    assert loaded(loader, METRICS, "line name labels value", text) == [
        (2, "rocketmq.topic.in_tps", {"topic": "BenchmarkTest"}, 0.0),
        (2, "rocketmq.topic.in_24h", {"topic": "BenchmarkTest"}, 0.0),
        (3, "rocketmq.topic.in_tps", topic, 14.0),
        (3, "rocketmq.topic.out_tps", both, 23.08),
        (3, "rocketmq.group.diff", both, 1129.0),
        (3, "rocketmq.topic.in_24h", topic, 840.0),
        (3, "rocketmq.topic.out_24h", both, 923.0),
    ]


OLD_HEAD = (
    "#Cluster Name #Broker Name            #BID  #Addr                  #Version     #InTPS(LOAD)  #OutTPS(LOAD)"
    " #PCWait(ms) #Hour #SPACE"
)
NEW_HEAD = OLD_HEAD.replace(" #PCWait", "  #Timer(Progress)        #PCWait") + "    #ACTIVATED"
BROKER = "c             broker-a                0     192.168.50.11:30911    V4_9_4       47.99(0,0ms)  "


@pytest.mark.parametrize(
    ("text", "space"),
    [
        (f"{OLD_HEAD}\n{BROKER}53.98(0,0ms)          0 498683.69 0.1600", 0.16),
        (f"{OLD_HEAD}\n{BROKER}53.98(0,0ms)          0 498683.69 -1.0000", None),
        (f"{NEW_HEAD}\n{BROKER}53.98(0,0ms|0,0ms)  0-0(0.0w, 0.0, 0.0)        0  0.03    0.9100    true", 0.91),
    ],
)
def test_the_list_of_brokers_tells_rates_and_versions(loaded, text, space):
    where = {"cluster": "c", "broker": "broker-a", "address": "192.168.50.11:30911"}
    expected = [("rocketmq.broker.in_tps", where, 47.99), ("rocketmq.broker.out_tps", where, 53.98)]
    if space is not None:
        expected.append(("rocketmq.broker.disk_ratio", where, space))
    assert loaded(loader, METRICS, "name labels value", text) == expected
    assert loaded(loader, SETTINGS, "scope owner key value", text) == [
        ("broker", "broker-a", "brokerVersion", "V4_9_4"),
    ]


def test_a_broker_that_did_not_answer_has_no_numbers(loaded, classes):
    text = f"{OLD_HEAD}\nc     broker-a      0     10.0.0.1:10911             0.00(,ms)   0.00(,ms)   491234.00 0.0000"
    assert (loaded(loader, METRICS, "name", text), loaded(loader, SETTINGS, "key", text)) == ([], [])
    assert classes(loader, text) == ["noise", "data"]


def test_the_status_of_a_broker_is_numbers_and_its_version(loaded):
    text = """
brokerVersionDesc               : V5_1_4
commitLogDirCapacity            : Total : 252.0 GiB, Free : 237.5 GiB.
commitLogDiskRatio              : 0.16
commitLogDiskRatio_/var/lib/rocketmq-d4/broker-p/commitlog: 0.16
earliestMessageTimeStamp        : 1795265820758
putTps                          : 13.99 14.01
192.168.50.12:30911      putTps                          : 20.5 14.01 14.01"""
    name, where = "brokerStatus-broker-p.20261121T125906Z.txt", {"broker": "broker-p"}
    assert loaded(loader, METRICS, "line name labels value", text, name) == [
        (3, "rocketmq.broker.disk_ratio", where, 0.16),
        (5, "rocketmq.broker.earliest_message_ms", where, 1795265820758.0),
        (6, "rocketmq.broker.put_tps", where, 13.99),
        (7, "rocketmq.broker.put_tps", {"broker": "192.168.50.12:30911"}, 20.5),
    ]
    assert loaded(loader, SETTINGS, "line scope owner key value", text, name) == [
        (1, "broker", "broker-p", "brokerVersion", "V5_1_4"),
    ]


def test_configurations_and_confirmations_are_settings(loaded, classes):
    text = """
============Master: 192.168.50.11:30911============
fileReservedTime                                  =  48
aclSecretKey                                      =  hush
create topic to 192.168.50.11:30911 success.
TopicConfig [topicName=T, readQueueNums=16, perm=RW-, order=false, attributes={+message.type=NORMAL}]
SubscriptionGroupConfig{groupName=g, consumeBroadcastEnable=true, attributes={}}
#ClusterName     #BrokerName     #BrokerAddrs                       #ReadQueue #WriteQueue #Perm
c                broker-a        {0=10.0.0.1:10911, 1=10.0.0.2:1}   8          4           6
Total:                                                              8          4"""
    assert loaded(loader, SETTINGS, "line scope owner key value origin", text, "topicRoute-T.txt") == [
        (2, "broker", "192.168.50.11:30911", "fileReservedTime", "48", "describe"),
        (5, "topic", "T", "topicName", "T", "describe"),
        (5, "topic", "T", "readQueueNums", "16", "describe"),
        (5, "topic", "T", "perm", "RW-", "describe"),
        (5, "topic", "T", "order", "false", "describe"),
        (5, "topic", "T", "attributes", "", "describe"),
        (5, "topic", "T", "message.type", "NORMAL", "describe"),
        (6, "group", "g", "groupName", "g", "describe"),
        (6, "group", "g", "consumeBroadcastEnable", "true", "describe"),
        (6, "group", "g", "attributes", "", "describe"),
        (8, "topic", "T", "broker-a.readQueueNums", "8", "describe"),
        (8, "topic", "T", "broker-a.writeQueueNums", "4", "describe"),
        (8, "topic", "T", "broker-a.perm", "6", "describe"),
    ]
    assert classes(loader, text) == ["noise", "data", "data", "noise", "data", "data", "noise", "data", "noise"]


def test_producers_belong_to_no_group(loaded):
    text = "0001  10.20.0.5@77                     10.20.0.5:40000        JAVA     V4_9_4"
    assert loaded(loader, CLIENTS, "group client_id peer version", text, "producerConnection-p.txt") == [
        (None, "10.20.0.5@77", "10.20.0.5:40000", "V4_9_4"),
    ]


def test_an_answer_that_is_only_an_error_is_an_error(loaded):
    assert loaded(loader, EVENTS, "line system kind group reason", ERROR) == [
        (1, "rocketmq", "tool-error", "log_to_mongo",
         "org.apache.rocketmq.tools.command.SubCommandException: ConsumerConnectionSubCommand command failed: "
         "CODE: 206  DESC: the consumer group[log_to_mongo] not online BROKER: 10.0.0.1:10911"),
    ]  # fmt: skip
    assert loaded(loader, CLIENTS, "line", ERROR) == []
    unnamed = ERROR.replace("the consumer group[log_to_mongo] not online", "broadcast mode")
    assert loaded(loader, EVENTS, "group", unnamed, "consumerProgress-s-g2.20261121T115033Z.txt") == [("g2",)]
    assert loaded(loader, EVENTS, "group", unnamed, "consumerProgress-all.20261121T115033Z.txt") == [(None,)]


@pytest.mark.parametrize("text", [V42, V5, CONNECTIONS, V41_STATUS, SELF, ERROR])
def test_no_line_is_rejected_but_a_broken_one(classes, text):
    found = classes(loader, text + "\n???\n\tsome words without any meaning")
    assert found[-2:] == [None, None]
    assert None not in found[:-2]


@pytest.mark.parametrize("unit", [" ", "a ", "1 ", "a\t", "#Topic ", "a || ", "a 1.1.1.1:1 JAVA ", "%RETRY%", "x."])
def test_hostile_lines_are_read_quickly(classes, unit):
    assert len(classes(loader, f"T 1 {unit * 20_000}!")) == 1


def test_rows_and_errors_are_data_headers_and_conclusions_noise(classes):
    assert classes(loader, V42) == ["noise"] * 4 + ["data"] * 4 + ["noise", "data", "data"]
    assert classes(loader, V41_STATUS) == ["data", "noise", "noise", "noise", "noise"] + ["data"] * 4
    assert classes(loader, ERROR) == ["data"] + ["noise"] * 5


@pytest.mark.parametrize("text", [V42, V5, CONNECTIONS, V41_STATUS, SELF])
def test_answers_are_recognised_whatever_the_file_is_called(text):
    assert loader.recognise(Head("x.log", text, len(text)))


def test_errors_are_recognised_by_what_they_say():
    assert loader.recognise(Head("x.txt", ERROR, len(ERROR)))
    text = "connect to null failed" + ERROR
    assert loader.recognise(Head("x.txt", text, len(text)))
    assert not loader.recognise(Head("x.txt", "Error: Consumer group 'g' does not exist.\n", 42))
    assert not loader.recognise(Head("x.txt", "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG", 55))
