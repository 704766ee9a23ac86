"""The same records leave several times: requests that time out are sent again, or an application submits again.

Fires: produce requests are retried for transport reasons and the number of attempts left falls, or requests time
out, and a share of all transmissions are repeats. Or an application submits failed records again from its callback:
it says so, or more failed than ever came in.
Quiet: splits (attempts stay the same), retries for other reasons, such as too few replicas, a leader that moved or
the re-sequencing of the idempotent producer, disconnects while a broker restarts, many records over the limit.
Bound: min(retries + 1, delivery.timeout / (request.timeout + backoff)) transmissions (``Sender``, KIP-91).
"""

from __future__ import annotations

from collections.abc import Sequence

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.shared import actors, configured, counters
from mqlab.shared.wording import sample
from mqlab.traffic import card, payload, resending
from mqlab.traffic.resending import TIMED_OUT, TRANSPORT, Resending, Resubmission
from mqlab.words import listed
from mqlab.words.filling import Value

INCIDENT = "retry-amplification"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)

_LIBRDKAFKA = "#producer-"
"""What librdkafka appends to the client id in each of its lines."""
TWICE = 2.0
"""Transmissions a record above which traffic is more than twice what is needed."""


def detect(facts: Facts) -> Result:
    """One finding per client that repeats itself."""
    retries = [e for e in facts.of_kind("produce-retry") if e.reason in TRANSPORT]
    findings: list[Finding] = []
    reasons: list[str] = []
    for client, episodes in actors.by_client(facts, retries).items():
        found = resending.of_client(facts, client, episodes)
        because = resending.harmless(facts, client, episodes, found)
        if because is None:
            findings.append(_finding(facts, client, episodes, found))
        else:
            reasons.append(say("trace", client=client, reason=because))
    findings += [_resubmitted(facts, one) for one in resending.found(facts)]
    if findings:
        return Result(tuple(findings))
    missing = (*resending.unclear(facts), *resending.untold(facts))
    if missing:
        return Result(missing=missing)
    reasons += resending.other_reasons(facts)
    if reasons:
        return Result(rejected=listed(reasons))
    if not (actors.producers_told(facts) or _warned(facts) or facts.named("producer.record_retries")):
        return Result(missing=(say("no-producers"),))
    return CLEAR


def _warned(facts: Facts) -> bool:
    """A producer of librdkafka writes here, which warns of each request that times out and prints no settings."""
    return any(_LIBRDKAFKA in shape.shape for shape in facts.shapes)


def _finding(facts: Facts, client: str, episodes: Sequence[Episode], found: Resending) -> Finding:
    ledger = resending.ledger(facts, client, found)
    repeated = found.again if found.transmissions else None
    proven = found.share is not None and found.share >= counters.REPEATED and len(found.attempts) >= 2
    damage = bool(found.failed.records) or found.idempotent is False or (found.transmissions or 1) > TWICE
    timeout = configured.producer_value(facts, client, "request.timeout.ms", found.first)
    ends = [str(left) for left in (*found.attempts[:1], *found.attempts[-1:])]
    return finding(
        INCIDENT,
        client,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (found.first, found.last),
        severity=Severity.CRITICAL if damage else Severity.WARNING,
        ongoing=actors.goes_on(facts, {episodes[0].source}, found.last),
        slots={
            "timed_out": _timed_out(facts, client, episodes),
            "counter": counters.queried(facts, "producer.record_retries", client),
            **_slots(episodes, found, timeout),
        },
        measures={
            "retry_lines": found.lines,
            "retried_records": repeated or None,
            "transmissions_per_record": found.transmissions if repeated else None,
            "failed_records": found.failed.records or None,
            "duplicated_records_at_most": (found.again or None) if found.idempotent is False else None,
            **resending.wire(facts, ledger, found),
            "resent_bytes": next(s.bytes for s in ledger.stages if s.name == "retries") if ledger else None,
            **payload.measures(
                facts, {e.source for e in episodes}, ledger.bytes_out if ledger else None, found.first, found.last
            ),
        },
        evidence=_evidence(facts, client, episodes, timeout, found.last),
        explains=("producer-duplicates",) if found.idempotent is False else (),
        ledger=ledger,
        facts={
            "who": say("producer", client=client),
            "attempts": words.seen(INCIDENT, "attempts", {"left": ends or None}),
        },
        moments=[(found.last, say("last-retry"))],
    )


def _timed_out(facts: Facts, client: str, episodes: Sequence[Episode]) -> bool:
    """True where a request of *client* had no answer in time; else connections were closed."""
    late = facts.of_kind("request-timeout")
    return any(e.reason == TIMED_OUT for e in episodes) or any(actors.client_of(facts, e) == client for e in late)


def _slots(episodes: Sequence[Episode], found: Resending, timeout: configured.Value | None) -> dict[str, Value]:
    """Why it sends again, after how long, and whether the broker may keep both."""
    often = resending.reasons(episodes)
    return {
        "reasons": [resending.say("times", count=n, reason=reason) if often[1:] else reason for reason, n in often],
        "timeout": timeout.value if timeout else None,
        "counted_by": found.failed.how,
        "falling": len(found.attempts) > 1,
        "not_idempotent": found.idempotent is False,
        "may_duplicate": found.idempotent is not True,
    }


def _evidence(
    facts: Facts, client: str, episodes: Sequence[Episode], timeout: configured.Value | None, last: float | None
) -> tuple[Evidence, ...]:
    lowest = min(episodes, key=lambda e: e.value_min if e.value_min is not None else float("inf"))
    found = [episodes[0].first, lowest.last, actors.latest(episodes).last]
    if timeout is not None and timeout.setting is not None:
        found.append(timeout.setting.evidence)
    found += [
        e.first for e in facts.of_kind("request-timeout", "record-expired") if actors.client_of(facts, e) == client
    ][:2]
    own = [s for s in counters.of_client(facts, "producer.record_retries", client) if s.points]
    counted = [sample(facts, s, last, say("retried")) for s in own if last is not None]
    return tuple(dict.fromkeys((*found, *counted)))


def _resubmitted(facts: Facts, found: Resubmission) -> Finding:
    """An application submits records again that can never be accepted."""
    lines = found.lines
    return finding(
        INCIDENT,
        found.client,
        Certainty.PROVEN if found.agrees else Certainty.LIKELY,
        (found.first, found.last),
        severity=Severity.CRITICAL,
        ongoing=actors.goes_on(facts, {lines[-1].source}, found.last),
        name=f"{found.client}/resubmission",
        slots={
            "resubmitted": True,
            "how": found.how,
            "accepted": found.accepted,
            "counter": counters.queried(facts, "producer.record_errors", found.client),
        },
        measures={
            "resubmitted_records": found.count,
            "bytes_rejected": found.rejected,
            **_traffic(facts, found),
        },
        evidence=(
            lines[0].first,
            lines[-1].last,
            *(sample(facts, s, found.last, say("resubmitted")) for s in found.counters if s.points),
        ),
        explains=("oversize-record-rejected",),
        facts={"who": say("application", client=found.client)},
        moments=[(found.last, say("last-resubmission"))],
    )


def _traffic(facts: Facts, found: Resubmission) -> dict[str, float]:
    """What the card of the application's host sent and received meanwhile, and usually."""
    host, span = actors.host_of(facts, found.client), (found.first, found.last)
    sent = counters.ratio(facts, host, *span) if host else None
    if host is None or sent is None or sent.factor is None:
        return {}
    offered = payload.measures(facts, {e.source for e in found.lines}, sent.bytes_out, *span)
    return card.measures(facts, host, sent, span, found.first) | offered
