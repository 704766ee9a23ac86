"""Logs that hold lines of Kafka's clients: Java 0.10 to 4.x in any layout, librdkafka's and kafka-python's of groups.

Sample lines::

    2026-11-21 12:20:44,201 WARN  [kafka-producer-network-thread | p] o.a.k.c.p.internals.Sender - [Producer
    clientId=p] Got error produce response in correlation id 303 on topic-partition t-1, splitting and retrying
    (3 attempts left). Error: MESSAGE_TOO_LARGE
    … [Consumer clientId=c-1, groupId=g] Successfully joined group with generation Generation{generationId=5, …}
    … INFO  [main] AbstractCoordinator - Successfully joined group g with generation 5
    %4|1729766123.421|MAXPOLL|c-1#consumer-1| [thrd:main]: Application maximum poll interval (25000ms) exceeded by 425ms
    … INFO kafka.coordinator (Re-)joining group g

Texts are those of AbstractCoordinator, ConsumerCoordinator, SubscriptionState and their successors, KIP-848 too.
Clients print all their settings when they start (``ProducerConfig values:`` and indented ``key = value`` lines):
these become SETTINGS with the moment of their header.
"""

from __future__ import annotations

import re

from mqlab.formats import kafka_layout, other_clients
from mqlab.formats.base import Head, Signature, Spec
from mqlab.formats.kafka_layout import PARTITION
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, METRICS, SETTINGS, VOLUME

FORMAT = Spec(
    "kafka-client-log",
    Role.CLIENT_LOG,
    (EVENTS, SETTINGS, METRICS, VOLUME),
    "kafka",
    Reading.LOG,
    "kafka",
    kafka_layout.LAYOUT,
)

_OURS = re.compile(
    r"\[(?:Producer|Consumer|AdminClient) (?:instanceId=[^,\]]+, )?clientId="
    r"|(?:Producer|Consumer|AdminClient)Config values:|Kafka (?:version|commitId|startTimeMs) ?:"
    r"|org\.apache\.kafka\.clients|kafka-producer-network-thread"
)
_DATED = re.compile(r"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:")
_FAILED = (
    rf"(?:.*? on topic-partition {PARTITION})?(?:.*?\((?P<value>\d+) attempts left\))?"
    r"(?:.*? Error: (?P<reason>[A-Z_]+))?"
)

_NAME = r"[\w.-]*[\w-]"
_GENERATION = (
    r"(?:.*? generation (?:Generation\{generationId=)?(?P<value>-?\d+)(?:, memberId='(?P<member_id>[^']*)')?)?"
)
_LIST = r"(?P<entries>(?P<reason>[\w., -]*))"
_FOR_GROUP = rf"(?:.*? for group (?P<group>{_NAME}))?"
_OFFSET = r"(?:FetchPosition\{offset=)?(?P<value>\d+)"
_COORDINATOR = 2147483647.0
"""A client counts the connection to a coordinator as node ``Integer.MAX_VALUE - broker id``."""
_MILLIS = 0.001

_JOINING: tuple[Signature, ...] = (
    Signature("join-started", begins=rf"\(Re-\)joining group(?: (?P<group>{_NAME}))?"),
    Signature(
        "join-requested",
        begins=r"Request(?: joining group due to|ing to re-join the group and trigger rebalance since(?: the)?):?"
        r" (?P<reason>(?:.*member-id: (?P<member_id>\S+))?.*)",
    ),
    Signature(
        "join-requested",
        begins=r"Need to revoke partitions \[.*\] and re-join the group",
        told="need to revoke partitions and re-join",
    ),
    Signature("join-completed", begins=rf"Successfully joined group(?: (?P<group>{_NAME}) (?:with|<))?{_GENERATION}"),
    Signature("sync-completed", begins=rf"Successfully synced group{_GENERATION}"),
    Signature("partitions-assigned", begins=rf"Adding newly assigned partitions:? ?\[?{_LIST}"),
    Signature("partitions-assigned", begins=rf"Setting newly assigned partitions \[{_LIST}{_FOR_GROUP}"),
    Signature("partitions-revoked", begins=rf"Revok(?:e|ing) previously assigned partitions:? ?\[?{_LIST}{_FOR_GROUP}"),
    Signature("partitions-lost", begins=rf"Lost previously assigned partitions:? ?\[?{_LIST}"),
    Signature("assignment-made", begins=r"Finished assignment for group at generation (?P<value>-?\d+)"),
    Signature("subscribed", begins=r"Subscribed to topic(?:\(s\): (?P<reason>.*))?"),
    Signature("consumer-closed", begins=r"App info kafka\.consumer for (?P<client_id>\S+) unregistered"),
)
"""Joins, assignments and ends of a consumer."""

_LEAVING: tuple[Signature, ...] = (
    Signature(
        "poll-timeout",
        begins=r"(?:This member will leave the group because consumer poll timeout|[Cc]onsumer poll timeout has expired"
        r"|Member (?P<member_id>\S+) sending LeaveGroup request to coordinator .* due to consumer poll timeout"
        r"|Time between subsequent calls to poll\(\) was longer than|Heartbeat poll expired, leaving group)"
        r"(?:.*?exceeded approximately by (?P<value>\d+) ms(?:\. Member (?P<member_id2>\S+))?)?",
        scale=_MILLIS,
    ),
    Signature(
        "poll-timeout",
        contains=r"(?:MAXPOLL.*maximum poll interval|aximum (?:application )?poll interval.{1,40}exceeded"
        r"|KafkaError\{code=_MAX_POLL_EXCEEDED)(?:.*?(?:exceeded )?by \**(?P<value>\d+)ms)?",
        scale=_MILLIS,
    ),
    Signature(
        "leave-sent",
        begins=r"Member (?P<member_id>\S+) sending LeaveGroup request to coordinator(?:.*? due to (?P<reason>.*))?",
    ),
    Signature(
        "heartbeat-failed",
        begins=r"Attempt to heartbeat (?:with .*?memberId='(?P<member_id>[^']*)')?.*?failed"
        r"(?: (?:due to:?|for since|since) (?P<reason>.*?)(?:, resetting generation)?\s*$)?",
    ),
    Signature("heartbeat-failed", begins=rf"Heartbeat failed for group (?P<group>{_NAME})(?: because (?P<reason>.*))?"),
    Signature("heartbeat-failed", begins=r"Heartbeat: (?P<reason>local member_id was not.*)"),
    Signature(
        "generation-reset",
        begins=r"(?:Resetting generation|Giving away all assigned partitions as lost)"
        r"(?:.*?(?:due to:?|since) (?P<reason>.*))?",
    ),
    Signature(
        "session-timeout",
        begins=r"(?:Group coordinator .+ session timed out without receiving a heartbeat|Heartbeat session expired)",
    ),
    Signature("session-timeout", contains=r"SESSTMOUT.*session timed out(?:.*?after (?P<value>\d+) ms)?"),
    Signature(
        "request-cancelled",
        begins=r"Cancelled in-flight (?P<reason>\w*HEARTBEAT|OFFSET_COMMIT) request"
        r"(?:.*?since creation: (?P<value>\d+)ms)?",
        scale=_MILLIS,
    ),
    Signature(
        "coordinator-lost",
        begins=r"Group coordinator .+ is unavailable or invalid"
        r"(?:.*? due to cause: (?P<reason>.*?)\.? ?isDisconnected)?",
    ),
    Signature(
        "coordinator-lost",
        begins=rf"Marking the coordinator .*dead(?:.*? for group (?P<group>{_NAME})(?:: (?P<reason>.*))?)?",
    ),
    Signature(
        "coordinator-found",
        begins=rf"Discovered (?:group )?coordinator(?:.*?\(id: (?P<value>\d+))?{_FOR_GROUP}",
        scale=-1.0,
        base=_COORDINATOR,
    ),
)
"""Poll timeouts, leaves, heartbeats and coordinators."""

_OFFSETS: tuple[Signature, ...] = (
    Signature("offset-set", begins=rf"Setting offset for partition {PARTITION} to the committed offset {_OFFSET}"),
    Signature("offset-missing", begins=rf"Found no committed offset for partition {PARTITION}"),
    Signature(
        "offset-missing",
        begins=r"(?:rdkafka#\S+?:)?(?:\[thrd:[^\]]*\]: )?(?P<topic>[\w.-]+) \[(?P<queue>\d+)\]: offset reset"
        r" \(at offset .{1,60}\) to .{1,50}: no previously committed offset",
    ),
    Signature("offset-missing", contains=r"no previously committed offset available"),
    Signature(
        "offset-reset",
        begins=rf"Fetch (?:offset|position) {_OFFSET}.* is out of range for (?:topic-)?partition {PARTITION}",
    ),
    Signature(
        "offset-reset",
        contains=r"Cannot fetch (?:offset|records in \[)\s*(?P<value>\d+)[^(]*\(GroupId: (?P<group>\S+),"
        r" TopicPartition: (?P<topic>[\w.-]+)-(?P<queue>\d+)\)",
    ),
    Signature(
        "offset-reset",
        contains=r"Offsets out of range with no configured reset policy for partitions: \{(?P<topic>[\w.-]+)"
        r"-(?P<queue>\d+)=(?P<value>\d+)",
    ),
    Signature(
        "truncation-detected",
        begins=rf"Truncation detected for partition {PARTITION} at offset {_OFFSET}",
        also=r"(?:to diverge|resetting offset to|end offset from the broker is) "
        r".*?(?:endOffset|offset)[=:](?P<reason>\d+)",
    ),
    Signature(
        "offset-reset",
        contains=r"OFFSET.* (?P<topic>[\w.-]+) \[(?P<queue>\d+)\]: offset reset \(at offset (?P<value>\d+)"
        r"(?:.*?\) to (?:cached |offset )?(?P<reason>\w+))?",
    ),
    Signature(
        "offset-reset-to", begins=rf"Resetting offset for partition {PARTITION} to (?:offset |position ){_OFFSET}"
    ),
    Signature("offset-sought", begins=rf"Seeking to (?:offset (?P<value>\d+) for|\w+ offset of) partition {PARTITION}"),
    Signature(
        "commit-failed",
        begins=r"Failing OffsetCommit request since the consumer is not part",
        told="Failing OffsetCommit",
    ),
    Signature(
        "commit-deferred",
        contains=r"(?P<reason>RebalanceInProgressException)|KafkaError\{code=(?P<reason2>REBALANCE_IN_PROGRESS)"
        rf"|WARN.*Offset commit failed on partition {PARTITION} at offset \d+: (?P<reason3>.*)",
    ),
    Signature(
        "commit-deferred",
        contains=r"Offset commit failed with a retriable"
        r"|commit cannot be completed since the consumer is undergoing a rebalance",
    ),
    Signature(
        "commit-failed",
        contains=r"(?P<reason>CommitFailedE\w*|COMMITFAIL)"
        r"|KafkaError\{code=(?P<reason2>ILLEGAL_GENERATION|UNKNOWN_MEMBER_ID|_ASSIGNMENT_LOST)"
        r"|(?:Commit|commit) failed: Broker: (?P<reason3>(?:Unknown member|Specified group generation).*)"
        r"|[Aa]uto.?(?:offset )?commit .*failed(?:: (?P<reason4>.*))?",
    ),
)
"""Where a consumer begins to read, and commits that failed."""

_REFUSED = Signature(
    "commit-failed", contains=rf"Offset commit failed on partition {PARTITION} at offset \d+: (?P<reason>.*)"
)
"""A commit that the coordinator refused for good: the client writes ERROR; where it tries again itself, WARN."""

SIGNATURES: tuple[Signature, ...] = (
    Signature("batch-split", begins=r"Got error produce response in correlation id" + _FAILED),
    Signature(
        "producer-forgotten",
        begins=rf"Got error produce response with correlation id.*? on topic-partition {PARTITION}"
        r".* UNKNOWN_PRODUCER_ID",
    ),
    Signature("produce-retry", begins=r"Got error produce response with correlation id" + _FAILED),
    Signature(
        "connection-lost",
        begins=r"\[Consumer [^\]]*\] Error sending fetch request \(.*?\) to node (?P<peer>\d+)",
        told="fetch",
    ),
    Signature("request-timeout", begins=r"Disconnecting from node \S+ due to request timeout"),
    Signature("client-version", begins=r"Kafka version ?:(?: (?P<reason>\S+))?"),
    Signature("client-start-time", begins=r"Kafka startTimeMs ?:(?: (?P<value>\d+))?"),
    Signature("settings-printed", begins=r"(?P<reason>\w+)Config values:"),
    Signature("idempotence-off", begins=r"Idempotence will be disabled because (?P<reason>.*)"),
    *_JOINING,
    *_LEAVING,
    *_OFFSETS,
    Signature(
        "static-member-fenced",
        contains=r"FencedInstanceIdE|FENCED_INSTANCE_ID|Fenced Instance ID: |group\.instance\.id .*fenced"
        r"|instance id \S+ has been fenced"
        r"|consumer with (?:the )?same group\.instance\.id|UnreleasedInstanceIdException|UNRELEASED_INSTANCE_ID",
        also=rf"instanceId=(?P<reason>[^,\]]+)|instance id (?:Optional\[)?(?P<reason2>[^\s\]]+)|partition {PARTITION}",
    ),
    _REFUSED,
    Signature("producer-stuck", contains=r"Remove from the incomplete set failed"),
    Signature("out-of-memory", contains=r"java\.lang\.OutOfMemoryError(?:: (?P<reason>.*))?"),
    Signature(
        "record-too-large",
        contains=r"RecordTooLargeException|RecordBatchTooLarge|MSG_SIZE_TOO_LARGE|[Mm]essage (?:size|was) too large"
        r"|when serialized which is larger than",
        also=r"message is (?P<value>\d+)|payload=(?P<value2>\d+)(?!.{0,400}message is \d)|send to (?P<topic>[\w.-]+)"
        r"|(?P<reason>when serialized|max message size the server|RecordBatchTooLarge|MSG_SIZE_TOO_LARGE"
        r"|kafka server: Message was too large)",
    ),
    Signature("request-timeout", contains=r"Metadata request failed: (?P<reason>Local: Message timed out)"),
    Signature("record-expired", contains=rf"Expiring (?P<value>\d+) record(?:\(s\)|s)? for {PARTITION}"),
    Signature(
        "record-expired",
        contains=r"Local: Message timed out|_MSG_TIMED_OUT|TimeoutException: Batch Expired"
        r"|Batch containing (?P<value>\d+) record\(s\) expired due to timeout",
    ),
    Signature(
        "buffer-exhausted",
        contains=r"Failed to allocate (?:memory|\d+ bytes) within the configured max blocking|Local: Queue full"
        r"|KafkaError\{code=_QUEUE_FULL|kafka.*internal queue is full",
    ),
    Signature("sender-error", contains=r"Uncaught (?:error|exception) in"),
    Signature("not-enough-replicas", contains=r"Broker: Not enough in-sync replicas"),
    Signature(
        "send-failed",
        contains=r"\b(?:send|produce|publish)\w* (?:to (?P<topic>\S+) )?(?:failed|error)"
        r"|[Ff]ailed to (?:send|produce|deliver)|[Dd]elivery (?:failed|error)|[Ff]ailed delivery",
        rare=r"send|produce|publish|ailed (?:to deliver|delivery)|elivery (?:failed|error)",
        also=r"\b(?P<reason>NOT_ENOUGH_REPLICAS\w*)|KafkaError\{code=(?P<reason2>\w+)",
    ),
    *other_clients.KAFKA,
)


def recognise(head: Head) -> bool:
    """True when the head holds at least one line that only a Java client prints, in a file of dated lines."""
    return bool(_OURS.search(head.text)) and any(_DATED.match(line) for line in head.lines)
