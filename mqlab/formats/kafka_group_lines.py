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

_GENERATION = r" generation (?:Generation\{generationId=)?(-?\d+)"
_LIST = r"partitions:? ?\[?([\w., -]*)"
_COORDINATOR = 2147483647.0
"""A client counts the connection to a coordinator as node ``Integer.MAX_VALUE - broker id``."""
_MILLIS = 0.001

JOINING: tuple[Signature, ...] = (
    Signature("join-started", begins=r"\(Re-\)joining group"),
    Signature(
        "join-requested",
        begins=r"Request(?: joining group due to|ing to re-join the group and trigger rebalance since)",
        reason=r"joining group due to:? (.*)|trigger rebalance since (?:the )?(.*)",
    ),
    Signature(
        "join-requested",
        begins=r"Need to revoke partitions \[.*\] and re-join the group",
        told="need to revoke partitions and re-join",
    ),
    Signature("join-completed", begins=r"Successfully joined group", value=_GENERATION),
    Signature("sync-completed", begins=r"Successfully synced group", value=_GENERATION),
    Signature(
        "partitions-assigned",
        begins=r"(?:Adding newly assigned partitions|Setting newly assigned partitions \[)",
        counted=_LIST,
        reason=_LIST,
    ),
    Signature(
        "partitions-revoked", begins=r"Revok(?:e|ing) previously assigned partitions", counted=_LIST, reason=_LIST
    ),
    Signature("partitions-lost", begins=r"Lost previously assigned partitions", counted=_LIST, reason=_LIST),
    Signature("assignment-made", begins=r"Finished assignment for group at generation", value=_GENERATION),
    Signature("subscribed", begins=r"Subscribed to topic", reason=r"topic\(s\): (.*)"),
    Signature("consumer-closed", begins=r"App info kafka\.consumer for \S+ unregistered"),
)
"""Joins, assignments and ends of a consumer."""

LEAVING: tuple[Signature, ...] = (
    Signature(
        "poll-timeout",
        begins=r"(?:This member will leave the group because consumer poll timeout|[Cc]onsumer poll timeout has expired"
        r"|Member \S+ sending LeaveGroup request to coordinator .* due to consumer poll timeout"
        r"|Time between subsequent calls to poll\(\) was longer than|Heartbeat poll expired, leaving group)",
        value=r"exceeded approximately by (\d+) ms",
        scale=_MILLIS,
    ),
    Signature(
        "poll-timeout",
        contains=r"MAXPOLL.*maximum poll interval|KafkaError\{code=_MAX_POLL_EXCEEDED",
        value=r"exceeded by (\d+)ms",
        scale=_MILLIS,
    ),
    Signature("leave-sent", begins=r"Member \S+ sending LeaveGroup request to coordinator", reason=r" due to (.*)"),
    Signature(
        "heartbeat-failed",
        begins=r"(?:Attempt to heartbeat .*failed|Heartbeat failed for group|Heartbeat: local member_id was not)",
        reason=r"failed (?:due to:?|for since|since) (.*?)(?:, resetting generation)?\s*$|because (.*)|: (local .*)",
    ),
    Signature(
        "generation-reset",
        begins=r"(?:Resetting generation|Giving away all assigned partitions as lost)",
        reason=r"(?:due to:?|since) (.*)",
    ),
    Signature(
        "session-timeout",
        begins=r"(?:Group coordinator .+ session timed out without receiving a heartbeat|Heartbeat session expired)",
    ),
    Signature("session-timeout", contains=r"SESSTMOUT.*session timed out", value=r"after (\d+) ms"),
    Signature(
        "request-cancelled",
        begins=r"Cancelled in-flight (?:\w*HEARTBEAT|OFFSET_COMMIT) request",
        value=r"since creation: (\d+)ms",
        scale=_MILLIS,
        reason=r"in-flight (\w+) request",
    ),
    Signature(
        "coordinator-lost",
        begins=r"(?:Group coordinator .+ is unavailable or invalid|Marking the coordinator .*dead)",
        reason=r"due to cause: (.*?)\.? ?isDisconnected|dead .* for group [^:]*: (.*)",
    ),
    Signature(
        "coordinator-found",
        begins=r"Discovered (?:group )?coordinator",
        value=r"\(id: (\d+)",
        scale=-1.0,
        base=_COORDINATOR,
    ),
)
"""Poll timeouts, leaves, heartbeats and coordinators."""

OFFSETS: tuple[Signature, ...] = (
    Signature(
        "offset-set",
        begins=r"Setting offset for partition \S+ to the committed offset",
        value=r"committed offset (?:FetchPosition\{offset=)?(\d+)",
    ),
    Signature("offset-missing", begins=r"Found no committed offset for partition"),
    Signature(
        "offset-reset", begins=r"Fetch (?:offset|position) .* is out of range", value=r"(?:[Oo]ffset |offset=)(\d+)"
    ),
    Signature(
        "truncation-detected",
        begins=r"Truncation detected for partition",
        value=r" at offset (?:FetchPosition\{offset=)?(\d+)",
        reason=r"(?:to diverge|resetting offset to|end offset from the broker is) .*?(?:endOffset|offset)[=:](\d+)",
    ),
    Signature(
        "offset-reset",
        contains=r"OFFSET.* offset reset \(at offset",
        value=r"\(at offset (\d+)",
        reason=r"\) to (?:cached |offset )?(\w+)",
    ),
    Signature(
        "offset-reset-to",
        begins=r"Resetting offset for partition",
        value=r" to (?:offset |position FetchPosition\{offset=)(\d+)",
    ),
    Signature(
        "offset-sought",
        begins=r"Seeking to (?:offset \d+ for|\w+ offset of) partition",
        value=r"Seeking to offset (\d+)",
    ),
    Signature(
        "commit-failed",
        begins=r"Failing OffsetCommit request since the consumer is not part",
        told="Failing OffsetCommit",
    ),
    Signature(
        "commit-deferred",
        contains=r"RebalanceInProgressException|WARN.*Offset commit failed on partition"
        r"|Offset commit failed with a retriable"
        r"|commit cannot be completed since the consumer is undergoing a rebalance"
        r"|KafkaError\{code=REBALANCE_IN_PROGRESS",
        reason=r"at offset \d+: (.*)|(RebalanceInProgressException|REBALANCE_IN_PROGRESS)",
    ),
    Signature(
        "commit-failed",
        contains=r"CommitFailedE|[Aa]uto.?(?:offset )?commit .*failed|COMMITFAIL"
        r"|(?:Commit|commit) failed: Broker: (?:Unknown member|Specified group generation)"
        r"|KafkaError\{code=(?:ILLEGAL_GENERATION|UNKNOWN_MEMBER_ID|_ASSIGNMENT_LOST)",
        reason=r"(CommitFailedE\w+|ILLEGAL_GENERATION|UNKNOWN_MEMBER_ID|_ASSIGNMENT_LOST|COMMITFAIL)"
        r"|failed: (?:Broker: )?(?!KafkaError)(.*)",
    ),
)
"""Where a consumer begins to read, and commits that failed."""

REFUSED = Signature("commit-failed", contains=r"Offset commit failed on partition", reason=r"at offset \d+: (.*)")
"""A commit that the coordinator refused for good: the client writes ERROR; where it tries again itself, WARN."""
