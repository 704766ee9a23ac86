"""Lines in which clients tell of their consumer group: Java 0.10 to 4.x, KIP-848 too, librdkafka, kafka-python.

Sample lines::

    … [Consumer clientId=c-1, groupId=g] Successfully joined group with generation Generation{generationId=5, …}
    … INFO  [main] AbstractCoordinator - Successfully joined group g with generation 5
    %4|1729766123.421|MAXPOLL|c-1#consumer-1| [thrd:main]: Application maximum poll interval (25000ms) exceeded by 425ms
    … INFO kafka.coordinator (Re-)joining group g

Texts are those of AbstractCoordinator, ConsumerCoordinator, SubscriptionState and their successors.
"""

from __future__ import annotations

from mqlab.formats.base import Signature
from mqlab.formats.kafka_layout import PARTITION

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

JOINING: tuple[Signature, ...] = (
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

LEAVING: tuple[Signature, ...] = (
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
        contains=r"(?:MAXPOLL.*maximum poll interval|KafkaError\{code=_MAX_POLL_EXCEEDED)"
        r"(?:.*?exceeded by (?P<value>\d+)ms)?",
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
    Signature(
        "heartbeat-failed",
        begins=rf"Heartbeat failed for group (?P<group>{_NAME})(?: because (?P<reason>.*))?",
    ),
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

OFFSETS: tuple[Signature, ...] = (
    Signature("offset-set", begins=rf"Setting offset for partition {PARTITION} to the committed offset {_OFFSET}"),
    Signature("offset-missing", begins=rf"Found no committed offset for partition {PARTITION}"),
    Signature(
        "offset-reset",
        begins=rf"Fetch (?:offset|position) {_OFFSET}.* is out of range for (?:topic-)?partition {PARTITION}",
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
        "offset-reset-to",
        begins=rf"Resetting offset for partition {PARTITION} to (?:offset |position ){_OFFSET}",
    ),
    Signature(
        "offset-sought",
        begins=rf"Seeking to (?:offset (?P<value>\d+) for|\w+ offset of) partition {PARTITION}",
    ),
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

REFUSED = Signature(
    "commit-failed", contains=rf"Offset commit failed on partition {PARTITION} at offset \d+: (?P<reason>.*)"
)
"""A commit that the coordinator refused for good: the client writes ERROR; where it tries again itself, WARN."""
