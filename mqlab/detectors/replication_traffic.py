"""A replication factor of R makes R−1 copies of everything between the brokers.

Fires: bytes copied over bytes in rose in a lasting way and now equal R−1.
Quiet: they always did (every cluster with R > 1); more is copied than R−1 (replica-catch-up).
"""

from __future__ import annotations

from mqlab.delivery.leaders import single_copies
from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts
from mqlab.shared import configured, counters, flows
from mqlab.shared.wording import clock, notice, sample

INCIDENT = "replication-traffic"
SYSTEMS: tuple[str, ...] = ("kafka",)

FITS = 0.25
"""Share by which the copies may miss R−1."""


def detect(facts: Facts) -> Result:
    """One notice where the copies between brokers became more."""
    pieces = [p for p in flows.flows(facts) if p.copies_per_in is not None]
    if not pieces and single_copies(facts):
        return CLEAR
    if not pieces:
        return Result(missing=("ReplicationBytesInPerSec and bytes in of the brokers",))
    shift = counters.shift([(p.since, p.until, p.copies_per_in) for p in pieces])
    if shift is None or not shift.lasting:
        return CLEAR
    described = configured.replication_factors(facts)
    if not described:
        return Result(missing=("kafka-topics --describe: the copies between brokers became more, R is not known",))
    wanted = max(int(s.value) for s in described) - 1
    if wanted < 1 or abs(shift.after - wanted) > FITS * wanted:
        return Result(rejected=f"{shift.after:.3g} bytes are copied per byte in, where R-1 is {wanted}")
    series = [s for s in flows.all_topics(facts, "broker.replication_bytes_in") if s.points]
    factor = tuple(s.evidence for s in described if s.value == str(wanted + 1))
    return Result(
        (
            notice(
                f"{INCIDENT}:brokers",
                (shift.at, shift.until),
                f"Brokers copy {shift.after:.3g} bytes to each other per byte that comes in (before {clock(shift.at)} "
                f"UTC: {shift.before:.3g}). That is R-1 = {wanted} for replication factor {wanted + 1}.",
                {"copies_per_byte_in": shift.after, "replication_factor": wanted + 1},
                factor[:2] + tuple(sample(facts, s, shift.until, "bytes copied to this broker") for s in series[:6]),
                verify="ReplicationBytesIn over BytesIn equals the replication factor less one.",
            ),
        )
    )
