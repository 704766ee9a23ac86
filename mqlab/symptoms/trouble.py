"""Events and counters that mean trouble, and the classes that account for them."""

from __future__ import annotations

from mqlab.mqtt import symptoms

_LEAVING = ("poll-interval-exceeded", "session-timeout", "group-churn", "static-member-fenced", "rolling-restart")
"""Classes in which members fall out of a group and come again."""
FAILING_OVER = ("acks1-failover-loss", "unclean-election-loss", "under-min-isr")
"""Classes in which brokers are away that replicas and producers need."""
TROUBLE: dict[str, tuple[str, ...]] = {
    "batch-split": ("batch-split-loop", "format-inflation"),
    "produce-retry": ("retry-amplification", "batch-split-loop", "format-inflation", "rolling-restart", *FAILING_OVER),
    "record-too-large": ("oversize-record-rejected", "retry-amplification", "batch-split-loop"),
    "record-expired": ("retry-amplification", "batch-split-loop", "under-min-isr"),
    "buffer-exhausted": ("retry-amplification", "batch-split-loop"),
    "producer-stuck": ("batch-split-loop",),
    "sender-error": ("batch-split-loop",),
    "send-failed": ("retry-amplification", "batch-split-loop", "oversize-record-rejected", "under-min-isr"),
    "request-timeout": ("retry-amplification", "rolling-restart"),
    "out-of-memory": ("batch-split-loop",),
    "process-exit": ("batch-split-loop", "group-churn", "session-timeout", "static-member-fenced"),
    "isr-shrunk": ("rolling-restart", "replica-catch-up", *FAILING_OVER),
    "member-expired": _LEAVING,
    "member-dropped": _LEAVING,
    "poll-timeout": ("poll-interval-exceeded",),
    "commit-failed": _LEAVING,
    "record-failed": ("poison-pill-stall", "group-churn"),
    "call-failed": ("poll-interval-exceeded", "poison-pill-stall", "slow-consumer", "group-churn"),
    "static-member-fenced": ("static-member-fenced",),
    "truncation-detected": ("unclean-election-loss",),
    "offset-reset": ("retention-loss", "offset-reset-loss"),
    "session-timeout": _LEAVING,
    "unclean-election": ("unclean-election-loss",),
    "replication-too-large": (),
    "broker-fenced": ("rolling-restart", *FAILING_OVER),
    "offset-moved": ("duplicate-client-id", "consumer-offline"),
    "consumer-disabled": ("slow-consumer", "duplicate-client-id"),
    "message-expired-back": ("slow-consumer",),
    "queue-stuck": ("slow-consumer", "duplicate-client-id"),
    "send-busy": (),
    "disk-full": (),
    **symptoms.TROUBLE,
}
"""Events that mean trouble, and the classes that account for them."""
SINGLE = {"produce-retry": 10, "request-timeout": 3, "call-failed": 3, **symptoms.SINGLE}
"""Events that any disturbance leaves, up to so many."""
NOTICED = frozenset({"produce-retry", "request-timeout", "isr-shrunk", "broker-fenced"}) | symptoms.NOTICED
"""Events that clients and followers print when a broker is restarted in good order."""
DISPROVED = {"batch-split": "batch-split-loop", "member-expired": "session-timeout"}
"""Events that are ordinary where the rule has looked at each of them and found it to be so."""
COUNTED: dict[str, tuple[str, ...]] = {
    "producer.batch_splits": TROUBLE["batch-split"],
    "producer.record_errors": (*TROUBLE["record-too-large"], "rolling-restart"),
    "broker.bytes_rejected": (*TROUBLE["record-too-large"], "format-inflation"),
    "broker.unclean_elections": ("unclean-election-loss",),
}
"""Counters that stand still in health, and the classes that account for them."""
