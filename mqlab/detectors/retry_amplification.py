"""The same records leave several times: requests that time out are sent again, or an application submits again.

Fires: produce requests are retried for transport reasons and the number of attempts left falls, or requests time
out, and a share of all transmissions are repeats. Or an application submits failed records again from its callback:
rejected bytes are a multiple of what came in, although nothing was split.
Quiet: splits (attempts stay the same), retries that only follow a leader to another broker, re-sequencing by the
idempotent producer, single disconnects while a broker restarts.
Bound: min(retries + 1, delivery.timeout / (request.timeout + backoff)) transmissions (``Sender``, KIP-91).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mqlab import actors, configured, traffic, units
from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Episode, Facts
from mqlab.findings import Certainty, Evidence, Finding, Severity, Stage, TrafficLedger
from mqlab.models import clients
from mqlab.wording import clock, instant, moment, sample

INCIDENT = "retry-amplification"

TRANSPORT = frozenset({"NETWORK_EXCEPTION", "REQUEST_TIMED_OUT"})
"""Errors after which the broker may have stored the batch already."""
FEW = 10
"""Retry lines below which they are no more than what any disturbance leaves."""
SHARE = 0.02
"""Share of repeats among all transmissions from which traffic is amplified at all."""
RESTART = 60.0
"""Seconds around a broker's restart in which disconnects are its consequence."""
_RESUBMITTED = 1.5
"""Rejected and accepted bytes over received bytes from which records must have been submitted again."""


def detect(facts: Facts) -> Result:
    """One finding per client that repeats itself."""
    retries = [e for e in facts.of_kind("produce-retry") if e.reason in TRANSPORT]
    findings, reasons = [], []
    for client, episodes in actors.by_client(facts, retries).items():
        because = _harmless(facts, episodes)
        if because is None:
            findings.append(_retrying(facts, client, episodes))
        else:
            reasons.append(f"{client}: {because}")
    findings += _resubmitting(facts)
    if findings:
        return Result(tuple(findings))
    constant = facts.of_kind("batch-split")
    if constant:
        left = sorted({f"{e.value_min:.0f}" for e in constant if e.value_min is not None})
        reasons.append(f"attempts left never fall ({', '.join(left)} on every line) and no retry is used")
    if reasons:
        return Result(rejected="; ".join(reasons))
    if not any(s.scope == "producer" for s in facts.settings) and not facts.named("producer.record_retries"):
        return Result(missing=("a log or metrics of the producers",))
    return CLEAR


def _harmless(facts: Facts, episodes: Sequence[Episode]) -> str | None:
    count = sum(e.count for e in episodes)
    if count < FEW:
        return f"only {count} retries in all"
    restarts = [e.first_at for e in facts.of_kind("broker-started", "broker-stopping") if e.first_at is not None]
    alone = [
        e for e in episodes if e.first_at is None or not any(abs(e.first_at - r) <= RESTART for r in restarts)
    ]
    if not alone:
        return f"{count} retries, all within {RESTART:.0f} s of a broker's restart"
    fell = _left(episodes)
    if len(fell) < 2 and not facts.of_kind("request-timeout"):
        return f"{count} retries, each at the first attempt"
    return None


def _left(episodes: Sequence[Episode]) -> list[int]:
    return sorted({round(v) for e in episodes for v in (e.value_min, e.value_max) if v is not None}, reverse=True)


def _retrying(facts: Facts, client: str, episodes: Sequence[Episode]) -> Finding:
    first = episodes[0].first_at
    last = max((e.last_at for e in episodes if e.last_at is not None), default=None)
    sends, again = (_counted(facts, client, name, first, last) for name in ("producer.record_sends", "producer.record_retries"))
    count = sum(e.count for e in episodes)
    share = again / sends if sends and again else None
    failed = _failed(facts, client, first, last)
    measures: dict[str, float] = {"retry_lines": count}
    if sends and again and sends > again:
        measures |= {"retried_records": again, "transmissions_per_record": sends / (sends - again)}
    if failed:
        measures["failed_records"] = failed
    idempotent = _idempotent(facts, client, first)
    if again and idempotent is False:
        measures["duplicated_records_at_most"] = again
    host = actors.host_of(facts, client)
    ledger = _ledger(facts, client, host, share, first, last)
    if ledger is not None:
        measures |= {"bytes_in": ledger.bytes_in, "bytes_out": ledger.bytes_out}
        measures["excess_bytes"] = next(s.bytes for s in ledger.stages if s.name == "retries")
        if ledger.bytes_in:
            measures["amplification_factor"] = ledger.bytes_out / ledger.bytes_in
    proven = share is not None and share >= SHARE and len(_left(episodes)) >= 2
    damage = bool(failed) or idempotent is False or measures.get("transmissions_per_record", 1) > 2
    reasons = Counter({r: sum(e.count for e in episodes if e.reason == r) for r in {e.reason or "?" for e in episodes}})
    timeout = configured.producer_value(facts, client, "request.timeout.ms", first)
    return Finding(
        id=f"{INCIDENT}:{client}",
        incident=INCIDENT,
        severity=Severity.CRITICAL if damage else Severity.WARNING,
        certainty=Certainty.PROVEN if proven else Certainty.LIKELY,
        subject=client,
        started_at=moment(first),
        ended_at=moment(last),
        ongoing=_goes_on(facts, episodes, last),
        statement=_statement(client, count, reasons, measures, timeout, idempotent),
        measures=measures,
        evidence=_evidence(facts, client, episodes, timeout, last),
        explains=("producer-duplicates",) if idempotent is False else (),
        mitigate=(
            "Raise request.timeout.ms above the slowest answer (30000 is the default) and delivery.timeout.ms with it; "
            "side effect: a dead broker is noticed later."
        ),
        remedy="Repair the slow broker or link; set enable.idempotence=true so that a repeat is stored once.",
        verify="increase(record_retry_total[10m]) = 0 and request-latency-max stays below request.timeout.ms.",
        ledger=ledger,
        facts={
            "who": f"producer {client}",
            "attempts": f"{_left(episodes)[0]} .. {_left(episodes)[-1]} left" if _left(episodes) else "",
            "last": f"{clock(last)} last retry",
        },
    )


def _statement(
    client: str, count: int, reasons: Counter[str], measures: dict[str, float], timeout: configured.Value | None,
    idempotent: bool | None,
) -> str:  # fmt: skip
    why = ", ".join(f"{number} x {reason}" for reason, number in reasons.most_common(2))
    within = f" with request.timeout.ms {timeout.value}" if timeout else ""
    times = measures.get("transmissions_per_record")
    how = f": {times:.3g} transmissions a record" if times else ""
    failed = measures.get("failed_records")
    after = f"{failed:.0f} records were reported as failed, though some may be stored" if failed else "attempts left fall"
    twice = "; idempotence is off, so that repeats may be stored twice" if idempotent is False else ""
    return f"{client} sends the same batches again{within} ({count} retries, {why}){how}. {after.capitalize()}{twice}."


def _counted(facts: Facts, client: str, name: str, first: float | None, last: float | None) -> float | None:
    own = [s for s in facts.named(name) if s.labels.get("client_id") == client]
    if not own or first is None or last is None:
        return None
    found = traffic.increase(own, first, last, traffic.first_scrape(facts, own[0]))
    return found.value if found else None


def _failed(facts: Facts, client: str, first: float | None, last: float | None) -> float:
    counted = _counted(facts, client, "producer.record_errors", first, last)
    if counted is not None:
        return counted
    return sum(e.count for e in facts.of_kind("record-expired") if actors.client_of(facts, e) == client)


def _idempotent(facts: Facts, client: str, at: float | None) -> bool | None:
    keys = ("enable.idempotence", "acks", "retries", "max.in.flight.requests.per.connection")
    known = {k: v.value for k in keys if (v := configured.producer_value(facts, client, k, at)) and v.setting}
    if not known:
        return None
    return clients.idempotence(known, configured.version_of(facts, client, at))


def _goes_on(facts: Facts, episodes: Sequence[Episode], last: float | None) -> bool:
    ends = [e.last_at for e in facts.episodes if e.source == episodes[0].source and e.last_at is not None]
    ends += [c.last_at for c in facts.coverage if c.source == episodes[0].source and c.last_at is not None]
    return last is not None and max(ends, default=last) - last < RESTART / 2


def _ledger(
    facts: Facts, client: str, host: str | None, share: float | None, first: float | None, last: float | None
) -> TrafficLedger | None:
    if host is None or first is None or last is None or share is None:
        return None
    found = traffic.ratio(facts, host, first, last)
    outgoing = _counted(facts, client, "producer.outgoing_bytes", first, last)
    if found is None:
        return None
    base = outgoing if outgoing is not None else found.bytes_out
    again, once = base * share, base * (1 - share)
    stages = (
        Stage("accepted", "first transmissions", round(once), round(once * 0.9), round(once * 1.1), "record-send-total less retries"),
        Stage("retries", "transmitted again", round(again), round(again * 0.8), round(again * 1.2), "share of retries x outgoing bytes"),
        Stage("unexplained", "UNEXPLAINED (framing, other traffic)", *[round(found.bytes_out - base)] * 3, "rest"),
    )  # fmt: skip
    how = f"network card of {host}, {clock(found.since)} to {clock(found.until)} UTC"
    return TrafficLedger(
        host, how, instant(found.since), instant(found.until), round(found.bytes_in), round(found.bytes_out),
        (stages[0], stages[1], _closing(stages, found.bytes_out)),
    )  # fmt: skip


def _closing(stages: Sequence[Stage], bytes_out: float) -> Stage:
    rest = round(bytes_out) - stages[0].bytes - stages[1].bytes
    return Stage("unexplained", "UNEXPLAINED (framing, other traffic)", rest, rest, rest, "rest")


def _evidence(
    facts: Facts, client: str, episodes: Sequence[Episode], timeout: configured.Value | None, last: float | None
) -> tuple[Evidence, ...]:
    lowest = min(episodes, key=lambda e: (e.value_min if e.value_min is not None else float("inf"), e.first_at or 0))
    final = max(episodes, key=lambda e: (e.last_at or 0, e.last.line or 0))
    found = [episodes[0].first, lowest.last, final.last]
    if timeout is not None and timeout.setting is not None:
        found.append(timeout.setting.evidence)
    found += [e.first for e in facts.of_kind("request-timeout", "record-expired") if actors.client_of(facts, e) == client][:2]
    own = [s for s in facts.named("producer.record_retries") if s.labels.get("client_id") == client and last is not None]
    return tuple(found) + tuple(sample(facts, s, last or 0, "records sent again") for s in own)


def _resubmitting(facts: Facts) -> list[Finding]:
    """Applications that submit failed records again: they say so, or bytes came out that never came in."""
    found = []
    for series in facts.named("app.resubmitted"):
        rose = [(a, b, v) for a, b, v in traffic.summed([series]) if v > 0]
        if rose:
            found.append(_resubmitted(facts, series.source, rose[0][0], rose[-1][1], sum(v for _, _, v in rose)))
    if found or facts.of_kind("batch-split"):
        return found
    for client, episodes in actors.by_client(facts, facts.of_kind("record-too-large")).items():
        finding = _by_bytes(facts, client, episodes)
        found += [finding] if finding else []
    return found


def _by_bytes(facts: Facts, client: str, episodes: Sequence[Episode]) -> Finding | None:
    first = episodes[0].first_at
    last = max((e.last_at for e in episodes if e.last_at is not None), default=None)
    source = episodes[0].source
    came = [s for s in facts.series if s.source == source and s.name in ("app.receivedBytes", "app.received_bytes")]
    host = actors.host_of(facts, client)
    if first is None or last is None or host is None or not came:
        return None
    received, sent = traffic.increase(came, first, last), traffic.ratio(facts, host, first, last)
    usual = _usual_per_payload(facts, host, came, first)
    if received is None or sent is None or received.value <= 0 or usual is None:
        return None
    if sent.bytes_out < _RESUBMITTED * usual * received.value:
        return None
    return _resubmitted(facts, source, first, last, sum(e.count for e in episodes))


def _usual_per_payload(facts: Facts, host: str, came: list[traffic.Series], until: float) -> float | None:
    start = min((s.points[0][0] for s in came if s.points), default=until)
    received, sent = traffic.increase(came, start, until), traffic.ratio(facts, host, start, until)
    return sent.bytes_out / received.value if received and sent and received.value > 0 and until - start > 30 else None


def _resubmitted(facts: Facts, source: str, first: float, last: float, count: float) -> Finding:
    episodes = [e for e in facts.of_kind("record-too-large", "send-failed", "record-expired") if e.source == source]
    client = actors.client_of(facts, episodes[0]) if episodes else source.rsplit("/", 1)[-1].split(".")[0]
    host = actors.host_of(facts, client)
    measures: dict[str, float] = {"resubmitted_records": count}
    sent = traffic.ratio(facts, host, first, last) if host else None
    usual = traffic.usual_factor(facts, host, 0, first) if host else None
    if sent is not None and sent.factor is not None:
        measures |= {"bytes_in": sent.bytes_in, "bytes_out": sent.bytes_out, "amplification_factor": sent.factor}
        if usual is not None:
            measures |= {"healthy_factor": usual, "excess_bytes": sent.bytes_out - usual * sent.bytes_in}
        top = traffic.peak(facts, host, first, last) if host else None
        if top and top.factor is not None:
            measures["peak_amplification_factor"] = top.factor
    rejected = traffic.increase([s for s in facts.named("broker.bytes_rejected") if "topic" not in s.labels], first, last)
    accepted = traffic.increase([s for s in facts.named("broker.bytes_in") if "topic" not in s.labels], first, last)
    shown = f"; the broker rejected {units.size(rejected.value)}" if rejected else ""
    over = f" and accepted {units.size(accepted.value)}" if rejected and accepted else ""
    agrees = measures.get("excess_bytes", 0) > 0 or bool(rejected and accepted and rejected.value > accepted.value)
    evidence = tuple(e.first for e in episodes[:1]) + tuple(e.last for e in episodes[-1:])
    evidence += tuple(sample(facts, s, last, "records submitted again") for s in facts.named("app.resubmitted") if s.source == source)
    return Finding(
        f"{INCIDENT}:{client}/resubmission", INCIDENT, Severity.CRITICAL,
        Certainty.PROVEN if agrees else Certainty.LIKELY, client, moment(first), moment(last),
        _goes_on(facts, episodes, last) if episodes else False,
        f"The application behind {client} submits failed records again ({count:.0f} times), although their error is not "
        f"retriable{shown}{over}. Nothing was split, so that this is the application's own loop.",
        measures, evidence, ("oversize-record-rejected",),
        "Stop submitting again from the callback, divert the record instead; side effect: it is delayed.",
        "Treat RecordTooLargeException as final; keep a dead-letter path for such records.",
        "record-error-total rises by at most one a record.",
        None, {"who": f"application {client}", "last": f"{clock(last)} last resubmission"},
    )  # fmt: skip
