"""The findings about sessions that are away and whose subscriptions nobody tells."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from mqlab import units
from mqlab.facts import Facts, Series
from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.models.share_dispatch import fraction
from mqlab.mqtt import gauges, software
from mqlab.mqtt.untold import NEAR, Untold
from mqlab.questions.wording import clock, moment, sample


def diversion(facts: Facts, one: Untold) -> Finding:
    """Members of a share group that no line names: likely, since only their share tells that they are members."""
    share = fraction(one.shared or 0, len(one.sessions))
    since = max(s.last.until or 0.0 for s in one.sessions)
    came = _came(facts, one, since)
    return Finding(
        id=f"persistent-session-diversion:{_ids(one)}",
        incident="persistent-session-diversion",
        severity=Severity.WARNING,
        certainty=Certainty.LIKELY,
        subject=_ids(one),
        started_at=moment(since),
        ended_at=None,
        ongoing=True,
        statement=(
            f"{_ids(one)} is away since {clock(since)} with a session that is kept, and stored messages grew by "
            f"{len(one.sessions)} of {one.shared} of what came in: it is most likely still a member of a share group "
            f"with {one.shared} subscriptions. Which one is not told."
        ),
        measures={
            "members": float(one.shared or 0),
            "dead_members": float(len(one.sessions)),
            "diverted_fraction": share,
            "diverted_messages": float(round(_diverted(facts, came * share, since))),
            **_rate(one),
        },
        evidence=_evidence(facts, one),
        explains=("session-queue-growth", "session-queue-drop"),
        mitigate=f"Connect once with the id {_ids(one)} and clean_session=false: it gets what waits for it; then "
        "unsubscribe. Side effect: what had been in flight comes twice.",
        remedy="Delete the session (connect once with its id and clean_session=true); clean sessions for share groups.",
        verify="Stored messages level off, and received / published = 1.",
    )


def growth(facts: Facts, one: Untold) -> Finding:
    """An unlimited queue that grows for nobody; proven where it grows by all that the broker receives."""
    since = max(s.last.until or 0.0 for s in one.sessions)
    rate = one.grown.per_second if one.grown is not None else 0.0
    proven = one.all_of_it
    return Finding(
        id=f"session-queue-growth:{_ids(one)}",
        incident="session-queue-growth",
        severity=Severity.CRITICAL if proven else Severity.WARNING,
        certainty=Certainty.PROVEN if proven else Certainty.LIKELY,
        subject=_ids(one),
        started_at=moment(since),
        ended_at=None,
        ongoing=True,
        statement=(
            f"{_ids(one)} is away since {clock(since)}, its session stays, and queues have no limit. The broker stores "
            f"{units.digits(rate)} messages/s more" + (", as many as it receives." if proven else ".")
        ),
        measures={"queued_messages": one.waiting, **_rate(one)},
        evidence=_evidence(facts, one),
        mitigate="Limit the queues (max_queued_messages, max_mqueue_len); side effect: what is beyond is dropped.",
        remedy=f"Delete the session (connect once as {_ids(one)} with a clean session) or read it empty; a limit and "
        "an expiry for all sessions.",
        verify="Stored messages and heap fall; resident memory may stay, since the allocator keeps what is free.",
    )


def _ids(one: Untold) -> str:
    return ", ".join(sorted({s.client_id for s in one.sessions}))


def _diverted(facts: Facts, dealt: float, since: float) -> float:
    """Messages that no ledger notes as received, where they are about as many as the broker's counters say."""
    gone = [f for f in facts.flows if f.sender and not f.failed and not f.received and f.last_at >= since]
    lost = sum(f.messages for f in gone)
    return lost if abs(lost - dealt) <= NEAR * max(lost, dealt) else dealt


def _came(facts: Facts, one: Untold, since: float) -> float:
    counter = gauges.gauge(facts, "mqtt.publish_received", one.broker)
    rose = gauges.increase(counter, since, gauges.end_of(facts)) or 0.0
    return max(0.0, rose - _earlier(counter, since))


def _earlier(counter: Series | None, at: float) -> float:
    """How far it rose from its sample before *at* until then, if it rose evenly over the broker's last interval."""
    points = counter.points if counter is not None else ()
    before, after = [p for p in points if p[0] <= at], [p for p in points if p[0] > at]
    if not before or not after:
        return 0.0
    begin = max(before[-1][0], after[0][0] - min(b[0] - a[0] for a, b in pairwise(points)))
    grown = max(0.0, after[0][1] - before[-1][1])
    return grown * max(0.0, at - begin) / (after[0][0] - begin)


def _rate(one: Untold) -> Mapping[str, float]:
    return {} if one.grown is None else {"queue_growth_per_second": one.grown.per_second}


def _evidence(facts: Facts, one: Untold) -> tuple[Evidence, ...]:
    found = []
    for session in one.sessions[:3]:
        begin, end = session.last.begin, session.last.end
        if begin is not None:
            found.append(Evidence(begin.source, begin.line, begin.text, "connects with a persistent session"))
        if end is not None:
            found.append(Evidence(end.source, end.line, end.text, "goes away and keeps its session"))
    shared = gauges.gauge(facts, "mqtt.shared_subscriptions", one.broker)
    if shared is not None:
        found.append(sample(facts, shared, shared.points[-1][0], "shared subscriptions"))
    if one.grown is not None:
        found.append(sample(facts, one.grown.series, one.grown.until, "messages that the broker stores"))
    return (*found, *software.limit_told(facts, one.broker))
