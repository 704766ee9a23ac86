# ruff: noqa: E501 - lines of brokers and clients stay in one piece
"""Lines of brokers and clients that say an error outright, or that it is over."""

import pytest
from facts_builder import at, episode, log
from log_lines import events, read
from outright_builder import each_class, found
from said import told

from mqlab.findings import Severity
from mqlab.known_errors import known_errors

WELL = "2026-03-02 09:00:38+00:00 [info] <0.273.0> Successfully synced tables from a peer"
LOGS = {
    "authentication-failed": '10:00:0{n} [warning] msg: authentication_failure, clientid: cam-3, peername: 10.9.1.44:5100{n}',
    "authorization-denied": "10:00:0{n},000 ERROR [main] App - org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [tills]",
    "broker-unreachable": "10:00:0{n},000 WARN [net] NetworkClient - [Consumer clientId=c-1, groupId=tills] Connection to node 2 (k2/10.0.0.2:9092) could not be established. Broker may not be available.",
    "network-partition": "10:00:0{n},000 ERROR [main] App - send: java.net.NoRouteToHostException: No route to host",
    "quorum-lost": "10:00:0{n},000 ERROR Controller - kafka.zookeeper.ZooKeeperClientTimeoutException: Timed out waiting for connection while in state: CONNECTING",
    "broker-overloaded": "10:00:0{n} WARN RocketmqClient - sendKernelImpl exception, CODE: 2  DESC: [PCBUSY_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 40{n}ms, size of queue: 12",
    "throttled": "10:00:0{n}.000 [warning] clientid: cam-3, msg: cannot_publish_to_topic_due_to_quota_exceeded, topic: plant/a",
    "disk-full": "10:00:0{n},000 ERROR [log] App - java.io.IOException: No space left on device",
    "log-corrupt": "10:00:0{n},000 ERROR [main] App - org.apache.kafka.common.errors.CorruptRecordException: Record size {n} is less than the minimum record overhead (14)",
    "resource-limit": "10:00:0{n},000 ERROR Acceptor - java.io.IOException: Too many open files",
    "host-starved": "10:00:0{n},000 WARN [SyncThread] FileTxnLog - fsync-ing the write ahead log in SyncThread:2 took 310{n}ms which will adversely effect operation latency",
    "certificate-untrusted": "10:00:0{n} ERROR connect: x509: certificate signed by unknown authority",
    "protocol-mismatch": "10:00:0{n},000 WARN [SocketServer brokerId=1] Unexpected error from /10.0.0.9; closing connection (org.apache.kafka.common.network.Selector)",
    "dependency-down": "10:00:0{n},000 ERROR [sink] Writer - org.postgresql.util.PSQLException: Connection to db:5432 refused. Check that the hostname and port are correct",
    "startup-failure": "10:00:0{n},000 ERROR [main] App - java.net.BindException: Address already in use (Bind failed)",
    "coordinator-unavailable": "10:00:0{n},000 ERROR rdkafka: KafkaError{{code=COORDINATOR_NOT_AVAILABLE,val=15,str=\"Broker: Coordinator not available\"}}",
    "route-missing": "10:00:0{n},000 WARN RocketmqClient - org.apache.rocketmq.client.exception.MQClientException: No route info of this topic, TILLS",
    "manual-offset-change": "10:00:0{n},000 INFO [GroupCoordinator 1]: The following groups were deleted: tills, bills. A total of {n} offsets were removed.",
    "clock-jump": "10:00:0{n},000 WARN chronyd[7]: Backward time jump detected!",
}  # fmt: skip  # fmt: skip


@each_class
def test_lines_of_a_log_become_the_finding_of_their_class(slug):
    lines = [f"2026-03-02 {LOGS[slug].format(n=n)}" for n in range(4)]
    _, events = read(lines, "application-log")
    assert len(events) == 4
    columns = ("client_id", "group", "topic", "peer", "reason", "node")
    rows = [
        episode(e["kind"], 1800 + 10 * n, text=lines[n], system=e["system"], **{c: e[c] for c in columns})
        for n, e in enumerate(events)
    ]
    one = found(slug, log("clients/app.log", "application-log", "10:00", "10:31"), rows)
    assert one.severity > Severity.NOTICE
    assert told(one.statement).items() >= {"lines": 4, "since": at(1800), "until": at(1830)}.items()


@pytest.mark.parametrize(
    ("form", "line"),
    [
        (
            "kafka-broker-log",
            "[2026-03-02 08:37:05,000] INFO [RaftManager id=1] Completed transition to FollowerState(fetchTimeoutMs=2000, epoch=4, leader=2) from CandidateState (org.apache.kafka.raft.QuorumState)",
        ),
        (
            "kafka-broker-log",
            "[2026-03-02 08:37:05,000] INFO Session establishment complete on server zk-1/10.0.0.8:2181, sessionid = 0x10000a2b, negotiated timeout = 18000 (org.apache.zookeeper.ClientCnxn)",
        ),
        ("rabbitmq-mqtt-log", WELL),
        ("mosquitto-log", "1739262072: mosquitto version 2.0.15 running"),
        (
            "rocketmq-broker-log",
            "2026-03-02 02:05:22 INFO StateMaintainer - [n1] [ChangeRoleToLeader] from term: 3 and currTerm: 3",
        ),
    ],
)
def test_brokers_say_that_what_they_waited_for_came(form, line):
    assert [e["kind"] for e in events([line], form)] == ["recovered"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (
            "org.apache.rocketmq.remoting.exception.RemotingTooMuchRequestException: sendDefaultImpl call timeout",
            "rocketmq-send-timeout",
        ),
        (
            "org.apache.rocketmq.remoting.exception.RemotingTooMuchRequestException: send call timeout",
            "rocketmq-send-timeout",
        ),
        (
            "org.apache.rocketmq.remoting.exception.RemotingTimeoutException: invokeSync call timeout",
            "rocketmq-request-timeout",
        ),
        (
            "org.apache.rocketmq.remoting.exception.RemotingTooMuchRequestException: invokeAsyncImpl invoke too fast",
            "rocketmq-request-timeout",
        ),
    ],
)
def test_a_send_that_timed_out_is_told_from_other_requests(line, name):
    assert [e["kind"] for e in events([line], "rocketmq-client-log")] == [f"error:{name}"]
    assert ("send" in known_errors()[name].means) is (name == "rocketmq-send-timeout")


@pytest.mark.parametrize(
    ("form", "line", "peer"),
    [
        (
            "kafka-broker-log",
            "[2026-03-09 09:26:34,512] INFO [RequestSendThread controllerId=1] Controller 1 connected to kafka-2:9092 (id: 2 rack: null) for sending state change requests (kafka.controller.RequestSendThread)",
            "kafka-2:9092 (id: 2 rack: null)",
        ),
        (
            "rocketmq-broker-log",
            "2026-02-11 09:41:05 INFO RemotingExecutorThread_1 - new broker registered, 10.5.0.5:10911 HAServer: 10.5.0.5:10912",
            "10.5.0.5:10911",
        ),
    ],
)
def test_who_missed_a_broker_says_which_one_it_reaches_again(form, line, peer):
    (event,) = events([line], form)
    assert (event["kind"], event["peer"]) == ("broker-answers", peer)
