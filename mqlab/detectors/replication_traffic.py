"""A replication factor of R makes R−1 copies of everything between the brokers.

Fires: bytes copied over bytes in rose in a lasting way and now equal R−1.
Quiet: they always did (every cluster with R > 1), but for a time in which a broker was away; more is copied than R−1
(replica-catch-up).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mqlab import words
from mqlab.delivery.leaders import single_copies
from mqlab.facts import Facts, Series
from mqlab.findings import CLEAR, Certainty, Result, Severity, finding
from mqlab.shared import configured, counters, flows
from mqlab.shared.wording import sample

INCIDENT = "replication-traffic"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)

FITS = 0.25
"""Share by which the copies may miss R−1: half of the step between R = 3 and R = 4, rounded down."""


def detect(facts: Facts) -> Result:
    """One notice where the copies between brokers became more."""
    pieces = [p for p in flows.flows(facts) if p.copies_per_in is not None]
    if not pieces:
        return CLEAR if single_copies(facts) else Result(missing=(say("no-bytes"),))
    copied = [s for s in flows.all_topics(facts, "broker.replication_bytes_in") if s.points]
    shift = counters.shift([(p.since, p.until, p.copies_per_in) for p in pieces if _all_there(copied, p)])
    if shift is None or not shift.lasting:
        return CLEAR
    described = configured.replication_factors(facts)
    if not described:
        return Result(missing=(say("no-factor"),))
    factor = max(int(s.value) for s in described)
    if factor < 2 or abs(shift.after - (factor - 1)) > FITS * (factor - 1):
        return Result(rejected=say("no-fit", after=shift.after, copies=factor - 1))
    settings = [s.evidence for s in described if s.value == str(factor)]
    notice = finding(
        INCIDENT,
        "brokers",
        Certainty.PROVEN,
        (shift.at, shift.until),
        severity=Severity.NOTICE,
        slots={"before": shift.before, "after": shift.after, "factor": factor, "copies": factor - 1},
        measures={"copies_per_byte_in": shift.after, "replication_factor": factor},
        evidence=(
            *settings[:2],
            *(sample(facts, s, shift.until, say("copied")) for s in copied[:6]),
        ),
    )
    return Result((notice,))


def _all_there(copied: Sequence[Series], piece: flows.Flow) -> bool:
    """Every broker was there all the time: none began to count again, and none left out more than a scrape.

    One that is away copies nothing, so that what is copied then is less than usual.
    """
    for one in copied:
        step = counters.scrape([one])
        if step is None:
            continue
        apart = (1 + counters.GAP) * step
        around = counters.around(one.points, piece.since, piece.until)
        gaps = (after < before or then - at > apart for (at, before), (then, after) in pairwise(around))
        if one.points[0][0] > piece.since + apart or any(gaps):
            return False
    return True
