"""How an application that submits failed records again is written down."""

from __future__ import annotations

from mqlab import units
from mqlab.amplification.resubmission import Resubmission
from mqlab.facts import Facts
from mqlab.findings import Certainty, Finding, Severity
from mqlab.questions import actors, traffic
from mqlab.questions.wording import clock, moment, sample

LATELY = 30.0
"""Seconds before the end of a log within which what happened last goes on."""


def finding(facts: Facts, found: Resubmission, incident: str) -> Finding:
    """The finding about one application."""
    lines = found.lines
    counted = (sample(facts, s, found.last, "records submitted again") for s in found.counters if s.points)
    return Finding(
        id=f"{incident}:{found.client}/resubmission",
        incident=incident,
        severity=Severity.CRITICAL,
        certainty=Certainty.PROVEN if found.agrees else Certainty.LIKELY,
        subject=found.client,
        started_at=moment(found.first),
        ended_at=moment(found.last),
        ongoing=goes_on(facts, lines[-1].source, found.last),
        statement=_statement(found),
        measures=_measures(facts, found),
        evidence=(lines[0].first, lines[-1].last, *counted),
        explains=("oversize-record-rejected",),
        mitigate="Stop submitting again from the callback, divert the record instead; side effect: it is delayed.",
        remedy="Treat RecordTooLargeException as final; keep a dead-letter path for such records.",
        verify="record-error-total rises by at most one a record.",
        facts={"who": f"application {found.client}", "last": f"{clock(found.last)} last resubmission"},
    )


def _statement(found: Resubmission) -> str:
    shown = f"; the broker rejected {units.size(found.rejected)}" if found.rejected else ""
    over = f" and accepted {units.size(found.accepted)}" if found.rejected and found.accepted else ""
    return (
        f"The application behind {found.client} submits failed records again, although RecordTooLarge is not "
        f"retriable: {found.how}{shown}{over}. Nothing was split, so that this is the application's own loop."
    )


def _measures(facts: Facts, found: Resubmission) -> dict[str, float]:
    measures: dict[str, float] = {"resubmitted_records": found.count}
    if found.rejected is not None:
        measures["bytes_rejected"] = found.rejected
    host = actors.host_of(facts, found.client)
    sent = traffic.ratio(facts, host, found.first, found.last) if host else None
    if host is None or sent is None or sent.factor is None:
        return measures
    measures |= {"bytes_in": sent.bytes_in, "bytes_out": sent.bytes_out, "amplification_factor": sent.factor}
    usual, top = traffic.usual_factor(facts, host, 0, found.first), traffic.peak(facts, host, found.first, found.last)
    if usual is not None:
        measures |= {"healthy_factor": usual, "excess_bytes": sent.bytes_out - usual * sent.bytes_in}
    if top is not None and top.factor is not None:
        measures["peak_amplification_factor"] = top.factor
    return measures


def goes_on(facts: Facts, source: str, last: float | None) -> bool:
    """True where the log *source* ends soon after *last*."""
    ends = [e.last_at for e in facts.episodes if e.source == source and e.last_at is not None]
    ends += [c.last_at for c in facts.coverage if c.source == source and c.last_at is not None]
    return last is not None and max(ends, default=last) - last < LATELY
