"""A reassignment or a returning follower copies old data between brokers for a while.

Fires: more is copied than R−1 times what comes in, while a replica is not in sync, being reassigned, or just back.
Quiet: the copies equal R−1 (replication-traffic).
"""

from __future__ import annotations

from mqlab import flows
from mqlab.benign import notice
from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts
from mqlab.wording import clock, sample

INCIDENT = "replica-catch-up"

MATTERS = 0.1
"""Share of all bytes that came in from which the old data copied is worth a word."""
ABOVE = 1.3
"""Times R−1 from which more is copied than what comes in."""
_SIGNS = ("reassignment", "isr-updated", "isr-shrunk", "broker-started")


def detect(facts: Facts) -> Result:
    """One notice for the time in which old data was copied."""
    if not facts.named("broker.replication_bytes_in"):
        return Result(missing=("ReplicationBytesInPerSec of the brokers",))
    factors = [int(s.value) for s in facts.settings if s.key == "replication.factor" and s.value.isdigit()]
    usual = max(1, max(factors, default=1) - 1)
    above = [p for p in flows.flows(facts) if p.copies_per_in is not None and p.copies_per_in > ABOVE * usual]
    if not above:
        return CLEAR
    start, end = above[0].since, above[-1].until
    signs = [e for e in facts.of_kind(*_SIGNS) if e.first_at is not None and start - 60 <= e.first_at <= end + 60]
    moved = [s for s in facts.named("broker.reassignment_bytes_in") if any(v for _, v in s.points)]
    lagging = [s for s in facts.named("broker.under_replicated_partitions") if any(v for _, v in s.points)]
    if not signs and not moved and not lagging:
        return Result(rejected="more than R-1 copies between brokers, but every replica stayed in sync")
    whole = flows.flow(facts, start, end)
    copied = (whole.replicated or 0) - usual * (whole.came_in or 0)
    every = flows.flow(facts, 0.0, float("inf"))
    if copied < MATTERS * (every.came_in or 0):
        return CLEAR
    evidence = tuple(e.first for e in signs[:4]) + tuple(
        sample(facts, s, end, "bytes copied to this broker") for s in flows.all_topics(facts, "broker.replication_bytes_in")[:4]
    )
    return Result(
        (
            notice(
                INCIDENT,
                "brokers",
                start,
                end,
                f"Followers copied old data between {clock(start)} and {clock(end)} UTC, beyond the {usual} copies a byte "
                "that replication needs. It ends when every replica is in sync.",
                {"copied_bytes": max(0.0, copied), "copies_per_byte_in": max(p.copies_per_in or 0 for p in above)},
                evidence,
                "UnderReplicatedPartitions = 0 and ReplicationBytesIn back at R-1 times BytesIn.",
            ),
        )
    )
