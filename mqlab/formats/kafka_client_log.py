"""Logs that hold lines of the Java producer and consumer, in whatever layout the application chose.

Sample line::

    2026-11-21 12:20:44,201 WARN  [kafka-producer-network-thread | p] o.a.k.c.p.internals.Sender - [Producer
    clientId=p] Got error produce response in correlation id 303 on topic-partition t-1, splitting and retrying
    (3 attempts left). Error: MESSAGE_TOO_LARGE

Clients print all their settings when they start (``ProducerConfig values:`` and indented ``key = value`` lines):
these become SETTINGS with the moment of their header.
"""

from __future__ import annotations

import re

from mqlab.formats import kafka_group_lines, kafka_layout
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

SIGNATURES: tuple[Signature, ...] = (
    Signature("batch-split", begins=r"Got error produce response in correlation id" + _FAILED),
    Signature("produce-retry", begins=r"Got error produce response with correlation id" + _FAILED),
    Signature("request-timeout", begins=r"Disconnecting from node \S+ due to request timeout"),
    Signature("client-version", begins=r"Kafka version ?:(?: (?P<reason>\S+))?"),
    Signature("client-start-time", begins=r"Kafka startTimeMs ?:(?: (?P<value>\d+))?"),
    Signature("settings-printed", begins=r"(?P<reason>\w+)Config values:"),
    Signature("idempotence-off", begins=r"Idempotence will be disabled because (?P<reason>.*)"),
    *kafka_group_lines.JOINING,
    *kafka_group_lines.LEAVING,
    *kafka_group_lines.OFFSETS,
    Signature(
        "static-member-fenced",
        contains=r"FencedInstanceIdException|group\.instance\.id .*fenced|instance id \S+ has been fenced"
        r"|consumer with the same group\.instance\.id|UnreleasedInstanceIdException|UNRELEASED_INSTANCE_ID",
        also=rf"instanceId=(?P<reason>[^,\]]+)|instance id (?:Optional\[)?(?P<reason2>[^\s\]]+)|partition {PARTITION}",
    ),
    kafka_group_lines.REFUSED,
    Signature("producer-stuck", contains=r"Remove from the incomplete set failed"),
    Signature("out-of-memory", contains=r"java\.lang\.OutOfMemoryError(?:: (?P<reason>.*))?"),
    Signature(
        "record-too-large",
        contains=r"RecordTooLargeException|RecordBatchTooLarge|MSG_SIZE_TOO_LARGE|[Mm]essage (?:size|was) too large",
        also=r"(?:payload=|message is )(?P<value>\d+)|send to (?P<topic>[\w.-]+)"
        r"|(?P<reason>when serialized|max message size the server|MSG_SIZE_TOO_LARGE)",
    ),
    Signature("record-expired", contains=rf"Expiring (?P<value>\d+) record(?:\(s\)|s)? for {PARTITION}"),
    Signature("record-expired", contains=r"Local: Message timed out|_MSG_TIMED_OUT"),
    Signature(
        "buffer-exhausted", contains=r"Failed to allocate (?:memory|\d+ bytes) within the configured max blocking"
    ),
    Signature("sender-error", contains=r"Uncaught (?:error|exception) in"),
    Signature(
        "send-failed",
        contains=r"\b(?:send|produce|publish)\w* (?:to (?P<topic>\S+) )?(?:failed|error)"
        r"|[Ff]ailed to (?:send|produce|deliver)|[Dd]elivery (?:failed|error)|[Ff]ailed delivery",
        rare=r"send|produce|publish|ailed (?:to deliver|delivery)|elivery (?:failed|error)",
        also=r"\b(?P<reason>NOT_ENOUGH_REPLICAS\w*)|KafkaError\{code=(?P<reason2>\w+)",
    ),
)


def recognise(head: Head) -> bool:
    """True when the head holds at least one line that only a Java client prints, in a file of dated lines."""
    return bool(_OURS.search(head.text)) and any(_DATED.match(line) for line in head.lines)
