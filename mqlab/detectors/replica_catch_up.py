"""A reassignment or a returning follower copies old data between brokers for a while.

Fires: more is copied than R−1 times what comes in, while a replica is not in sync, being reassigned, or just back.
Quiet: nothing of a replica out of sync where logs or gauges of the brokers are there; the copies equal R−1
(replication-traffic), also where R is not known and the copies were always as many.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from mqlab import words
from mqlab.delivery.leaders import single_copies
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Result, Severity, finding
from mqlab.shared import configured, flows
from mqlab.shared.flows import Flow
from mqlab.shared.wording import sample
from mqlab.sources import Role

INCIDENT = "replica-catch-up"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)

MATTERS = 0.1
"""Share of all bytes that came in from which the old data copied is worth a word. Judgement, no default behind it."""
ABOVE = 1.3
"""Times R−1 from which more is copied than what comes in: scrapes of two counters miss each other by less."""
AROUND = 60.0
"""Seconds around the copying in which a sign of it may be logged: the longest usual scrape interval."""
_SIGNS = ("reassignment", "isr-updated", "isr-shrunk", "broker-started")


def detect(facts: Facts) -> Result:
    """One notice for the time in which old data was copied."""
    pieces = [p for p in flows.flows(facts) if p.copies_per_in is not None]
    if not pieces:
        return CLEAR if single_copies(facts) else Result(missing=(say("no-bytes"),))
    usual = _usual(facts, pieces)
    above = [p for p in pieces if (p.copies_per_in or 0.0) > ABOVE * usual]
    if not above:
        return CLEAR
    start, end = above[0].since, above[-1].until
    signs = [
        e for e in facts.of_kind(*_SIGNS) if e.first_at is not None and start - AROUND <= e.first_at <= end + AROUND
    ]
    gauges = facts.named("broker.reassignment_bytes_in", "broker.under_replicated_partitions")
    if not signs and not any(value for s in gauges for _, value in s.points):
        if gauges or facts.logs_of("kafka", Role.BROKER_LOG):
            return Result(rejected=say("in-sync"))
        return Result(missing=(say("no-signs"),), seen=say("more"))
    copied = sum((p.replicated or 0) - usual * (p.came_in or 0) for p in above)
    if copied < MATTERS * sum(p.came_in or 0 for p in pieces):
        return CLEAR
    series = [s for s in flows.all_topics(facts, "broker.replication_bytes_in") if s.points]
    notice = finding(
        INCIDENT,
        "brokers",
        Certainty.PROVEN,
        (start, end),
        severity=Severity.NOTICE,
        slots={"usual": usual},
        measures={"copied_bytes": copied, "copies_per_byte_in": max(p.copies_per_in or 0 for p in above)},
        evidence=(
            *(e.first for e in signs[:4]),
            *(sample(facts, s, end, say("copied")) for s in series[:4]),
        ),
    )
    return Result((notice,))


def _usual(facts: Facts, pieces: Sequence[Flow]) -> float:
    """Copies a byte that replication needs: R−1 as described, else what was usual."""
    factors = [int(s.value) for s in configured.replication_factors(facts)]
    return max(1.0, max(factors) - 1.0 if factors else median(p.copies_per_in or 0.0 for p in pieces))
