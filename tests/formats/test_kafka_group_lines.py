# ruff: noqa: E501 - lines of brokers and clients stay in one piece
"""Lines about Kafka's consumer groups, of brokers and clients of all versions: what is kept, and what it says."""

import pytest
from log_lines import picked, read, tables

from mqlab.formats import kafka_broker_log
from mqlab.formats.base import Head
from mqlab.tables import ASSIGNMENTS, POLLS

U = "c-1-70ebc5e2-e681-4f66-ab08-ee2e9c490eb4"
J = "j1VGU6MqTOSUYAlDFhCYJw"
OLD = "[GroupCoordinator 1]: "
NEW = "[GroupCoordinator id=1 topic=__consumer_offsets partition=31] "
COORDINATOR = "(kafka.coordinator.group.GroupCoordinator)"
META = f"MemberMetadata(memberId={U}, groupInstanceId=None, clientId=c-1, clientHost=/10.0.0.7, sessionTimeoutMs=45000, rebalanceTimeoutMs=300000, supportedProtocols=List(range))"

# kind, line behind the level, group, member, value, reason
BROKER = (
    ("rebalance-started", f"{OLD}Preparing to restabilize group g with old generation 4 {COORDINATOR}", "g", None, 4, None),
    ("rebalance-started", f"{OLD}Preparing to rebalance group g.a in state PreparingRebalance with old generation 4 (__consumer_offsets-2) (reason: Removing member {U} on LeaveGroup; client reason: consumer poll timeout has expired.) {COORDINATOR}",
     "g.a", U, 4, f"Removing member {U} on LeaveGroup; client reason: consumer poll timeout has expired."),
    ("rebalance-started", f"{NEW}Preparing to rebalance group g in state PreparingRebalance with old generation 4 (reason: explicit `LeaveGroup` request for ({U}) members.). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
     "g", U, 4, f"explicit `LeaveGroup` request for ({U}) members."),
    ("rebalance-started", f"{OLD}Preparing to rebalance group g in state PreparingRebalance with old generation 4 (__consumer_offsets-2) (reason: r) {COORDINATOR} [executor-Rebalance]", "g", None, 4, "r"),
    ("rebalance-started", f"{NEW}Preparing to rebalance group g in state PreparingRebalance with old generation 1 (reason: explicit `LeaveGroup` request for ({U}) members.). (org.apache.kafka.x)", "g", U, 1, f"explicit `LeaveGroup` request for ({U}) members."),
    ("rebalance-stabilized", f"{OLD}Stabilized group g generation 5 (__consumer_offsets-2) with 3 members {COORDINATOR}", "g", None, 5, "3"),
    ("rebalance-assigned", f"{OLD}Assignment received from leader {U} for group g for generation 5. The group has 3 members, 0 of which are static. {COORDINATOR}", "g", U, 5, "3"),
    ("rebalance-assigned", f"{OLD}Assignment received from leader for group g for generation 5 {COORDINATOR}", "g", None, 5, None),
    ("group-emptied", f"{OLD}Group g with generation 5 is now empty (__consumer_offsets-2) {COORDINATOR}", "g", None, 5, None),
    ("group-emptied", f"{OLD}Group g generation 5 is dead and removed (kafka.coordinator.GroupCoordinator)", "g", None, 5, None),
    ("member-expired", f"{OLD}Member {U} in group g has failed, removing it from the group {COORDINATOR}", "g", U, None, None),
    ("member-expired", f"{NEW}[GroupId g] Member {J} fenced from the group because the member session expired.. (org.apache.kafka.x)", "g", J, None, "the member session expired"),
    ("member-dropped", f"{NEW}[GroupId g] Member {J} fenced from the group because it failed to transition from epoch 3 within 300000ms. (org.apache.kafka.x)", "g", J, 1, "it failed to transition from epoch 3 within 300000ms"),
    ("member-dropped", f"{OLD}Group g removed dynamic members who haven't joined: Set({U}, x) {COORDINATOR}", "g", U, 2, f"{U}, x"),
    ("member-dropped", f"{OLD}Pending member {U} in group g has been removed after session timeout expiration. {COORDINATOR}", "g", U, 1, "after session timeout expiration"),
    ("member-left", f"{OLD}Member[group.instance.id None, member.id {U}] in group g has left, removing it from the group {COORDINATOR}", "g", U, None, None),
    ("member-left", f"{OLD}Member {META} has left group g through explicit `LeaveGroup`; client reason: the consumer is being closed {COORDINATOR}", "g", U, None, "the consumer is being closed"),
    ("member-left", f"{NEW}[Group g] Dynamic Member {U} has left group through explicit `LeaveGroup` request; client reason: not provided (org.apache.kafka.x)", "g", U, None, "not provided"),
    ("member-left", f"{NEW}[GroupId g] Member {J} left the consumer group. (org.apache.kafka.x)", "g", J, None, None),
    ("member-left", f"{NEW}[GroupId g] Static Member {J} with instance id i temporarily left the consumer group. (org.apache.kafka.x)", "g", J, None, None),
    ("member-joined", f"{OLD}Dynamic Member with unknown member id joins group g in Empty state. Created a new member id {U} for this member and add to the group. {COORDINATOR}", "g", U, None, "Empty"),
    ("member-joined", f"{OLD}Static member with groupInstanceId=i and unknown member id joins group g in Empty state. Created a new member id {U} for this member and add to the group. {COORDINATOR}", "g", U, None, "Empty"),
    ("member-joined", f"{NEW}Pending dynamic member with id {U} joins group g in Stable state. Adding to the group now. (org.apache.kafka.x)", "g", U, None, "Stable"),
    ("member-joined", f"{NEW}[GroupId g] Member {J} joins the consumer group using the consumer protocol. (org.apache.kafka.x)", "g", J, None, "consumer"),
    ("group-epoch-bumped", f"{NEW}[GroupId g] Bumped group epoch to 7 with metadata hash 1. (org.apache.kafka.x)", "g", None, 7, None),
    ("target-assigned", f"{NEW}[GroupId g] Computed a new target assignment for epoch 7 with 'uniform' assignor in 2ms. (org.apache.kafka.x)", "g", None, 7, "uniform"),
    ("group-loaded", f"{OLD}Loading group metadata for g with generation 9 {COORDINATOR}", "g", None, 9, None),
    ("group-unloaded", f"{NEW}[GroupId=g] Unloading group metadata for generation 9. (org.apache.kafka.x)", "g", None, 9, None),
    ("coordinator-elected", f"{OLD}Elected as the group coordinator for partition 31 in epoch 2 {COORDINATOR}", None, None, 31, None),
    ("coordinator-resigned", f"{OLD}Resigned as the group coordinator for partition 31 in epoch Some(2) {COORDINATOR}", None, None, 31, None),
    ("offsets-expired", "[GroupMetadataManager brokerId=1] Removed 12 expired offsets in 3 milliseconds. (kafka.x)", None, None, 12, None),
)  # fmt: skip

PREFIX = "[Consumer clientId=c-1, groupId=g] "
HEARD = "Generation{generationId=5, memberId='" + U + "', protocol='range'}"
# level, kind, message, group, member, value, reason
CLIENT = (
    ("INFO", "join-started", f"{PREFIX}(Re-)joining group", "g", None, None, None),
    ("INFO", "join-started", "(Re-)joining group old", "old", None, None, None),
    ("INFO", "join-requested", f"{PREFIX}Request joining group due to: group is already rebalancing", "g", None, None, "group is already rebalancing"),
    ("INFO", "join-requested", f"{PREFIX}Requesting to re-join the group and trigger rebalance since the assignment metadata has changed from (version28: {{t=4}}) to (version31: {{t=9}})", "g", None, None, "assignment metadata has changed from (version28: {t=4}) to (version31: {t=9})"),
    ("INFO", "join-requested", f"{PREFIX}Need to revoke partitions [t-3, t-8] and re-join the group", "g", None, None, "need to revoke partitions and re-join"),
    ("INFO", "join-completed", f"{PREFIX}Successfully joined group with generation {HEARD}", "g", U, 5, None),
    ("INFO", "join-completed", "Successfully joined group old with generation 5", "old", None, 5, None),
    ("INFO", "sync-completed", f"{PREFIX}Successfully synced group in generation {HEARD}", "g", U, 5, None),
    ("INFO", "partitions-assigned", f"{PREFIX}Adding newly assigned partitions: t.x-0, t.x-1", "g", None, 2, "t.x-0, t.x-1"),
    ("INFO", "partitions-assigned", "Setting newly assigned partitions [t-0] for group old", "old", None, 1, "t-0"),
    ("INFO", "partitions-revoked", "Revoking previously assigned partitions [] for group old", "old", None, 0, None),
    ("INFO", "partitions-revoked", f"{PREFIX}Revoke previously assigned partitions t-0", "g", None, 1, "t-0"),
    ("INFO", "partitions-lost", f"{PREFIX}Lost previously assigned partitions t-0, t-1", "g", None, 2, "t-0, t-1"),
    ("INFO", "poll-timeout", f"{PREFIX}Member {U} sending LeaveGroup request to coordinator k:9092 (id: 2147483646 rack: null) due to consumer poll timeout has expired.", "g", U, None, None),
    ("WARN", "poll-timeout", f"{PREFIX}Time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, exceeded approximately by 250 ms. Member {J} will rejoin the group now.", "g", J, 0.25, None),
    ("WARN", "poll-timeout", "rdkafka: MAXPOLL [c-1#consumer-4] [thrd:main]: Application maximum poll interval (25000ms) exceeded by 425ms: leaving group", None, None, 0.425, None),
    ("ERROR", "poll-timeout", 'consumer error: KafkaError{code=_MAX_POLL_EXCEEDED,val=-147,str="Application maximum poll interval (12000ms) exceeded by 385ms"}', None, None, 0.385, None),
    ("INFO", "leave-sent", f"{PREFIX}Member {U} sending LeaveGroup request to coordinator k:9092 (id: 2147483646 rack: null) due to the consumer is being closed", "g", U, None, "the consumer is being closed"),
    ("INFO", "heartbeat-failed", f"{PREFIX}Attempt to heartbeat failed since group is rebalancing", "g", None, None, "group is rebalancing"),
    ("INFO", "heartbeat-failed", f"{PREFIX}Attempt to heartbeat with {HEARD} and group instance id Optional.empty failed due to UNKNOWN_MEMBER_ID, resetting generation", "g", U, None, "UNKNOWN_MEMBER_ID"),
    ("INFO", "generation-reset", f"{PREFIX}Resetting generation and member id due to: consumer pro-actively leaving the group", "g", None, None, "consumer pro-actively leaving the group"),
    ("ERROR", "commit-failed", 'commit failed: KafkaError{code=_ASSIGNMENT_LOST,val=-142,str="Commit failed: Local: Group partition assignment lost"}', None, None, None, "_ASSIGNMENT_LOST"),
    ("INFO", "request-cancelled", f"{PREFIX}Cancelled in-flight HEARTBEAT request with correlation id 43 due to node 2147483646 being disconnected (elapsed time since creation: 3000ms, elapsed time since send: 3000ms, throttle time: 0ms, request timeout: 30000ms)", "g", None, 3.0, "HEARTBEAT"),
    ("INFO", "coordinator-lost", f"{PREFIX}Group coordinator k:9092 (id: 2147483646 rack: null) is unavailable or invalid due to cause: coordinator unavailable. isDisconnected: false. Rediscovery will be attempted.", "g", None, None, "coordinator unavailable"),
    ("INFO", "session-timeout", f"{PREFIX}Group coordinator k:9092 (id: 2147483646 rack: null) is unavailable or invalid due to cause: session timed out without receiving a heartbeat response.isDisconnected: false.", "g", None, None, None),
    ("INFO", "coordinator-lost", "Marking the coordinator k:9092 (id: 2147483646 rack: null) dead for group old", "old", None, None, None),
    ("INFO", "coordinator-found", "Discovered coordinator k:9092 (id: 2147483645 rack: null) for group old.", "old", None, 2, None),
    ("INFO", "offset-set", f"{PREFIX}Setting offset for partition t-3 to the committed offset FetchPosition{{offset=474, x}}", "g", None, 474, None),
    ("INFO", "offset-missing", f"{PREFIX}Found no committed offset for partition t-3", "g", None, None, None),
    ("INFO", "offset-reset", f"{PREFIX}Fetch offset 9 is out of range for partition t-3, resetting offset", "g", None, 9, None),
    ("INFO", "offset-reset", f"{PREFIX}Fetch position FetchPosition{{offset=9, offsetEpoch=Optional[2], x}} is out of range for partition t-3, resetting offset", "g", None, 9, None),
    ("INFO", "offset-reset", "Fetch offset 9 is out of range for topic-partition TopicPartition(topic='t', partition=3)", None, None, 9, None),
    ("INFO", "truncation-detected", f"{PREFIX}Truncation detected for partition t-3 at offset FetchPosition{{offset=9, offsetEpoch=Optional[2], x}}, resetting offset to the first offset known to diverge FetchPosition{{offset=7, x}}", "g", None, 9, "7"),
    ("INFO", "truncation-detected", f"{PREFIX}Truncation detected for partition t-3 at offset FetchPosition{{offset=9, x}}, resetting offset", "g", None, 9, None),
    ("WARN", "truncation-detected", f"{PREFIX}Truncation detected for partition t-3 at offset FetchPosition{{offset=9, x}} (the end offset from the broker is EpochEndOffset(errorCode=0, partition=3, leaderEpoch=2, endOffset=7)), but no reset policy is set", "g", None, 9, "7"),
    ("INFO", "offset-reset-to", f"{PREFIX}Resetting offset for partition t-3 to offset 7.", "g", None, 7, None),
    ("INFO", "offset-reset-to", "Resetting offset for partition TopicPartition(topic='t', partition=3) to offset 7.", None, None, 7, None),
    ("INFO", "offset-reset-to", f"{PREFIX}Resetting offset for partition t-3 to position FetchPosition{{offset=7, x}}.", "g", None, 7, None),
    ("INFO", "offset-sought", f"{PREFIX}Seeking to offset 499 for partition t-3", "g", None, 499, None),
    ("INFO", "subscribed", f"{PREFIX}Subscribed to topic(s): t, u", "g", None, None, "t, u"),
    ("INFO", "consumer-closed", "App info kafka.consumer for c-1 unregistered", None, None, None, None),
    ("INFO", "commit-failed", f"{PREFIX}Failing OffsetCommit request since the consumer is not part of an active group", "g", None, None, "Failing OffsetCommit"),
    ("ERROR", "commit-failed", f"{PREFIX}Offset commit failed on partition t-3 at offset 5: The coordinator is not aware of this member.", "g", None, None, "The coordinator is not aware of this member."),
    ("WARN", "commit-deferred", f"{PREFIX}Offset commit failed on partition t-3 at offset 5: This is not the correct coordinator.", "g", None, None, "This is not the correct coordinator."),
    ("ERROR", "commit-deferred", 'commit failed: KafkaError{code=REBALANCE_IN_PROGRESS,val=27,str="Commit failed: Broker: Group rebalance in progress"}', None, None, None, "REBALANCE_IN_PROGRESS"),
    ("ERROR", "commit-deferred", "commit: org.apache.kafka.common.errors.RebalanceInProgressException: Offset commit cannot be completed", None, None, None, "RebalanceInProgressException"),
    ("INFO", "app-stopping", "worker stopping", None, None, None, None),
    ("INFO", "app-started", "Started Application in 3.25 seconds (JVM running for 4)", None, None, None, None),
    ("INFO", "app-started", "starting, consumer settings client.id=c-1 group.id=g", None, None, None, None),
    ("INFO", "app-started", "starting, group=g topic=t threads=4", "g", None, None, None),
    ("ERROR", "record-failed", "record t-3@499 failed, will retry", None, None, 499, "will retry"),
    ("ERROR", "record-failed", "Error while handling t [3] @ 499", None, None, 499, None),
    ("ERROR", "record-failed", "cannot handle ConsumerRecord(topic = t, partition = 3, leaderEpoch = 0, offset = 499, x)", None, None, 499, None),
    ("WARN", "call-failed", "service call for t-3@12 failed after 58 ms: HTTP 500 (attempt 1 of 4)", None, None, 58, "HTTP 500"),
    ("WARN", "call-failed", "POST http://ner:8080/x timed out after 3000 ms", None, None, 3000, "timeout"),
)  # fmt: skip
LAYOUTS = {
    "logback": "2026-11-21 12:20:44,201 {}  [main] AbstractCoordinator - ",
    "Spring Boot": "2026-11-21T12:20:44.201Z  {} 1 --- [           main] o.a.k.c.c.internals.Coordinator  : ",
    "Python": "2026-11-21 12:20:44,201 {} kafka.coordinator ",
}


FORM = "kafka-client-log"


def _read(lines):
    return read(lines, FORM)


def _said(events):
    return picked(events, "kind group member_id value reason")


def test_each_line_of_a_broker_says_what_happened_to_whom():
    kept, events = _read([f"[2026-11-21 12:20:44,201] INFO {line}" for _, line, *_ in BROKER])
    assert kept == [True] * len(BROKER)
    assert _said(events) == [(kind, *told) for kind, _, *told in BROKER]


def test_the_timeouts_of_a_member_that_left_and_its_host_stay_readable():
    _, events = _read([f"[2026-11-21 12:20:44,201] INFO {OLD}Member {META} has left group g through explicit"])
    assert picked(events, "client_id peer node") == [("c-1", "10.0.0.7", "1")]
    assert "sessionTimeoutMs=45000, rebalanceTimeoutMs=300000" in events[0]["text"]


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_each_line_of_a_client_says_what_happened_in_any_layout(layout):
    kept, events = _read([layout.format(level) + message for level, _, message, *_ in CLIENT])
    assert kept == [True] * len(CLIENT)
    assert _said(events) == [(kind, *told) for _, kind, _, *told in CLIENT]


def test_lines_about_one_partition_name_it():
    told = (
        "offset-set",
        "offset-missing",
        "offset-reset",
        "truncation-detected",
        "offset-reset-to",
        "offset-sought",
        "record-failed",
        "call-failed",
    )
    lines = [LAYOUTS["logback"].format(level) + message for level, kind, message, *_ in CLIENT if kind in told]
    _, events = _read(lines)
    assert picked(events, "topic queue") == [("t", "3")] * (len(lines) - 1) + [(None, None)]
    _, events = _read(
        [
            "2026-11-21 12:20:44,201 ERROR kafka.producer Failed to produce messages to topic-partition TopicPartition(topic='t', partition=3) with base offset None"
        ]
    )
    assert picked(events, "kind topic queue") == [("send-failed", "t", "3")]


def test_a_client_is_no_topic():
    lines = ["App info kafka.consumer for c-1 unregistered", "Loading group metadata for c-1 with generation 3"]
    _, events = _read([LAYOUTS["logback"].format("INFO") + line for line in lines])
    assert picked(events, "client_id group topic") == [("c-1", None, None), (None, "c-1", None)]


@pytest.mark.parametrize(
    "line",
    [
        "%4|1795263643.250|MAXPOLL|c-1#consumer-4| [thrd:main]: Application maximum poll interval (25000ms) exceeded",
        "2026-11-21 12:49:30,505 WARNING rdkafka.c-1: MAXPOLL [c-1#consumer-4] [thrd:main]: maximum poll interval x",
    ],
)
def test_librdkafka_names_its_client(line):
    kept, events = _read([line])
    assert (kept, picked(events, "kind client_id")) == ([True], [("poll-timeout", "c-1")])


def test_librdkafka_says_where_it_could_not_read():
    line = (
        "%4|1717415807.161|OFFSET|c-1#consumer-3| [thrd:main]: t.x [3]: offset reset (at offset 554 (leader epoch 0), broker 1) "
        "to offset END (leader epoch -1): fetch failed due to requested offset not available on the broker: Broker: Offset out of range"
    )
    kept, events = _read([line])
    told = picked(events, "kind client_id topic queue value reason")
    assert (kept, told) == ([True], [("offset-reset", "c-1", "t.x", "3", 554, "END")])


def test_what_an_application_handed_over_says_how_much_waits():
    lines = {
        "queued 5 records, backlog 5589": 5589,
        "Submitted 12 records to executor, queue size 40": 40,
        "dispatched 3 messages to 8 workers, pending=7": 7,
    }
    others = ["queued 5 records to queue 3", "submitted the job, queue size 3"]
    kept, events = _read([LAYOUTS["logback"].format("INFO") + line for line in (*lines, *others)])
    assert kept == [True] * 3 + [False] * 2
    assert picked(events, "kind value") == [("handed-over", value) for value in lines.values()]


def test_records_that_were_not_delivered_are_told_from_sends_that_failed():
    lines = {
        'Delivery failed: KafkaError{code=_MSG_TIMED_OUT,val=-192,str="Local: Message timed out"}': (
            "record-expired",
            None,
        ),
        "% Message failed delivery: Local: Message timed out": ("record-expired", None),
        'Message delivery failed: KafkaError{code=NOT_ENOUGH_REPLICAS,val=19,str="Broker"}': (
            "send-failed",
            "NOT_ENOUGH_REPLICAS",
        ),
        "failed to deliver message: Broker: Unknown topic or partition": ("send-failed", None),
    }
    kept, events = _read([LAYOUTS["logback"].format("ERROR") + line for line in lines])
    assert kept == [True] * len(lines)
    assert picked(events, "kind reason") == list(lines.values())


def test_the_leader_tells_who_got_which_partitions():
    given = f"{{{U}=Assignment(partitions=[t.x-0, t.x-1]), m2=Assignment(partitions=[]), m3=Assignment(partitions=[a-b-7])}}"
    line = f"{LAYOUTS['logback'].format('INFO')}{PREFIX}Finished assignment for group at generation 5: {given}"
    _, rows = tables([line], FORM)
    assert picked(rows[ASSIGNMENTS], "group member_id topic queue client_id") == [
        ("g", U, "t.x", "0", None), ("g", U, "t.x", "1", None), ("g", "m3", "a-b", "7", None),
    ]  # fmt: skip


BATCHES = (
    ("processed 500 records in 44.6 s", 500, 44.6),
    ("Processed 1,250 messages in 812 ms", 1250, 0.812),
    ("handled 20 events, took 3.2s", 20, 3.2),
    ("batch of 500 records took 44600ms", 500, 44.6),
    ("Batch processed: size=500, duration=44600 ms", 500, 44.6),
    ("Batch processed records=500 durationMs=44600", 500, 44.6),
    ("poll returned 500 records, processing took PT1M44.5S", 500, 104.5),
    ("processed 500 records in 1m23s", 500, 83.0),
    ("consumed 500 messages in 2 minutes", 500, 120.0),
)


def test_a_poll_that_was_worked_off_says_its_records_and_its_time():
    lines = [LAYOUTS["logback"].format("INFO") + line for line, _, _ in BATCHES]
    kept, rows = tables(lines, FORM)
    told = [(row["records"], round(row["seconds"], 6)) for row in rows[POLLS]]
    assert (kept, told) == ([True] * len(BATCHES), [(records, seconds) for _, records, seconds in BATCHES])


def test_a_sum_over_a_period_is_no_poll():
    lines = [
        "processed 12 records in the last 10 s",
        "processed 500 records so far",
        "processed 7 records in total in 9 s",
    ]
    _, rows = tables([LAYOUTS["logback"].format("INFO") + line for line in lines], FORM)
    assert POLLS not in rows


def test_polls_are_no_events_but_date_the_undated_lines_behind_them():
    lines = [
        "2026-11-21 12:20:44,201 INFO  [main] Worker - processed 500 records in 44.6 s",
        "org.apache.kafka.clients.consumer.CommitFailedException: Commit cannot be completed",
    ]
    _, events = _read(lines)
    assert [(e["line"], e["kind"], str(e["at"])) for e in events] == [
        (2, "commit-failed", "2026-11-21 12:20:44.201000+00:00")
    ]


def test_a_broker_log_without_loggers_names_is_recognised():
    text = "\n".join([
        "2026-05-27 13:33:02 INFO  [quorum-controller-0-event-handler] EventPerformanceMonitor:174 - [QuorumController id=0] In the last 60000 ms",
        f"2026-05-27 13:33:03 INFO  [group-coordinator-event-processor-0] GroupMetadataManager:22 - {NEW}Stabilized group g generation 5 with 3 members.",
        "2026-05-27 13:33:04 INFO  [data-plane-kafka-request-handler-1] UnifiedLog:66 - [UnifiedLog partition=t-0, dir=/var/lib] Deleting segment",
    ])  # fmt: skip
    assert kafka_broker_log.recognise(Head("server.log", text, len(text)))


def test_a_broker_that_prints_seconds_and_short_names_is_read():
    line = f"2026-05-27 13:33:03 INFO  [processor-0] GroupMetadataManager:22 - {NEW}Stabilized group g generation 5 with 3 members."
    kept, events = _read([line])
    assert (kept, _said(events)) == ([True], [("rebalance-stabilized", "g", None, 5.0, "3")])


def test_a_client_id_that_reads_like_a_record_is_none():
    lines = [LAYOUTS["logback"].format("ERROR") + "cannot start, clientId=till-9@1@0@abc, topics=[orders]"]
    _, events = _read(lines)
    assert picked(events, "kind") == []
