"""The same records take more bytes than before, because somebody encodes them differently.

Fires: the topic's ``compression.type`` makes brokers store and send something else than the producer sent, and each
reader receives a multiple of what came in; or a producer's bytes per record rose while its payload did not, after its
compression or batching changed.
Quiet: more readers (fan-out), larger payloads, key = value as it always was.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from mqlab import actors, configured, flows, traffic, units
from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts, Setting
from mqlab.findings import Certainty, Finding, Severity, Stage, TrafficLedger
from mqlab.wording import clock, instant, moment, sample

INCIDENT = "format-inflation"

RISE = 1.5
"""Times more bytes per record (or per byte in) from which an encoding matters."""
_SETTINGS = ("compression.type", "linger.ms", "batch.size")


def detect(facts: Facts) -> Result:
    """Findings for brokers that re-encode, and for producers that became wasteful."""
    recoded = [f for s in _recoding(facts) if (f := _by_broker(facts, s)) is not None]
    wasteful = [f for c in _producers(facts) if (f := _by_client(facts, c)) is not None]
    if recoded or wasteful:
        return Result((*recoded, *wasteful))
    measured = facts.named("producer.record_sends", "consumer.bytes_consumed", "broker.bytes_out", "host.transmit_bytes")
    if not measured:
        return Result(missing=("bytes in and out of brokers, or producer metrics",))
    loops = facts.of_kind("batch-split")
    if loops:
        return Result(rejected="the bytes that left beyond the accepted ones were rejected, not stored in another form")
    return CLEAR


def _recoding(facts: Facts) -> list[Setting]:
    """Topics whose compression.type is not what their producers send; the dated change where there is one."""
    changed = [s for s in configured.topic_changes(facts) if s.key == "compression.type" and s.value != "producer"]
    known = {s.owner for s in changed}
    described = [
        s
        for s in facts.settings
        if s.key == "compression.type" and s.scope == "topic" and s.value not in ("producer", "") and s.owner not in known
        and not str(s.owner).startswith("__")
    ]  # fmt: skip
    firsts = {s.owner: s for s in reversed(described)}
    sent = {s.value for s in facts.settings if s.key == "compression.type" and s.scope == "producer"} or {"none"}
    plain = {"none": "uncompressed"}
    return [s for s in [*changed, *firsts.values()] if {plain.get(v, v) for v in sent} != {s.value}
            and not str(s.owner).startswith("__")]  # fmt: skip


def _by_broker(facts: Facts, setting: Setting) -> Finding | None:
    pieces = flows.flows(facts)
    edge = setting.at
    values = [(p.since, p.until, p.out_per_in / max(1, p.consumers)) for p in pieces if p.out_per_in is not None]
    if not values:
        return _risk(setting)
    if edge is None:
        shift = flows.shift(values, RISE)
        level, edge = (shift.after, shift.at) if shift else (median(v for _, _, v in values), pieces[0].since)
        before = shift.before if shift else None
    else:
        known = [v for _, b, v in values if b <= edge]
        later = [v for a, _, v in values if a >= edge] or [values[-1][2]]
        level, before = median(later), median(known) if known else None
    if level < RISE * max(1.0, before or 1.0):
        return _risk(setting)
    end = pieces[-1].until
    came, left = _wire(facts, edge, end)
    earlier, sent = _wire(facts, 0.0, edge)
    if earlier and sent is not None:
        before = sent / earlier / max(1, min(p.consumers for p in pieces if p.consumers or p.until > edge))
    if came is None or left is None or came <= 0:
        return None
    ratio = left / came
    readers = max(1, max(p.consumers for p in pieces if p.until > edge))
    stages = (
        Stage("accepted", "what came in, once for each reader", round(came * readers), round(came * readers * 0.95), round(came * readers * 1.05), "broker's card or metrics"),
        Stage("encoding", f"stored and sent as {setting.value}", round(left - came * readers), round((left - came * readers) * 0.9), round((left - came * readers) * 1.1), "out less in x readers"),
        Stage("unexplained", "UNEXPLAINED", 0, round(-0.05 * left), round(0.05 * left), "rest"),
    )  # fmt: skip
    readers_lines = [s for s in facts.named("consumer.bytes_consumed") if len(s.points) > 1]
    cards = [s for h in sorted(actors.broker_hosts(facts)) for s in traffic.card(facts, h, "transmit")]
    return Finding(
        id=f"{INCIDENT}:{setting.owner}",
        incident=INCIDENT,
        severity=Severity.CRITICAL if ratio > 2 * readers else Severity.WARNING,
        certainty=Certainty.PROVEN,
        subject=str(setting.owner),
        started_at=moment(edge),
        ended_at=moment(end),
        ongoing=True,
        statement=(
            f"The topic {setting.owner} has compression.type={setting.value}, so brokers store and send another form than "
            f"producers send: {units.size(came)} in, {units.size(left)} out = {ratio:.3g}x for {readers} reader(s)"
            + (f" (before: {before * readers:.3g}x)" if before is not None else "")
            + ". No record is lost; network, disks and readers carry the difference."
        ),
        measures={
            "bytes_in": came, "bytes_out": left, "amplification_factor": ratio,
            "excess_bytes": left - came * readers, **({"healthy_factor": before * readers} if before is not None else {}),
        },
        evidence=(
            setting.evidence,
            *(sample(facts, s, end, "bytes that this reader received") for s in readers_lines[:4]),
            *(sample(facts, s, end, "bytes sent by the broker's card") for s in cards[:4]),
        ),
        explains=("batch-split-loop",) if facts.of_kind("batch-split") else (),
        mitigate=f"kafka-configs --alter is not needed to look; setting compression.type=producer on {setting.owner} ends "
        "it for new records; side effect: none for consumers that can read the producers' codec.",
        remedy="Keep compression.type=producer on topics and let producers choose the codec.",
        verify="Bytes out over bytes in (per reader) is back at about 1.",
        ledger=TrafficLedger(
            "brokers", f"{clock(edge)} to {clock(end)} UTC", instant(edge), instant(end), round(came), round(left),
            stages, before * readers if before is not None else None,
        ),
        facts={"who": f"topic {setting.owner}", "compression.type": setting.value},
    )  # fmt: skip


def _wire(facts: Facts, since: float, until: float) -> tuple[float | None, float | None]:
    card = flows.brokers_card(facts, since, until)
    if card is not None and len(actors.broker_hosts(facts)) == 1:
        return card.bytes_in, card.bytes_out
    whole = flows.flow(facts, since, until)
    return whole.came_in, whole.went_out


def _risk(setting: Setting) -> Finding:
    return Finding(
        f"{INCIDENT}:{setting.owner}/settings", INCIDENT, Severity.NOTICE, Certainty.POSSIBLE, str(setting.owner),
        None, None, False,
        f"The topic {setting.owner} has compression.type={setting.value}: brokers re-encode what producers send. "
        "The material shows no inflation from it.",
        {}, (setting.evidence,), (), "None needed now.", "Prefer compression.type=producer.",
        "Bytes out over bytes in per reader stays at about 1.",
    )  # fmt: skip


def _producers(facts: Facts) -> list[str]:
    return sorted({s.labels.get("client_id") or "" for s in facts.named("producer.record_sends")} - {""})


def _by_client(facts: Facts, client: str) -> Finding | None:
    sends, outgoing = (_own(facts, n, client) for n in ("producer.record_sends", "producer.outgoing_bytes"))
    repeated = traffic.increase(_own(facts, "producer.record_retries", client), 0, float("inf"))
    splits = traffic.increase(_own(facts, "producer.batch_splits", client), 0, float("inf"))
    if not sends or not outgoing or (splits and splits.value) or (repeated and repeated.value):
        return None
    values = [(a, b, _per_record(sends, outgoing, a, b)) for a, b in _pieces(outgoing)]
    shift = flows.shift(values, RISE)
    if shift is None:
        return None
    payload = [(a, b, _payload(facts, client, a, b)) for a, b, _ in values]
    if any(v is not None for _, _, v in payload) and flows.shift(payload, 1.2) is not None:
        return None
    changed = _changed(facts, client, shift.at)
    if not changed and not any(v is not None for _, _, v in payload):
        return None
    end = shift.until
    sent = traffic.increase(sends, shift.at, end)
    left = traffic.increase(outgoing, shift.at, end)
    if sent is None or left is None:
        return None
    proven = bool(changed)
    what = ", ".join(f"{s.key} {before} -> {s.value}" for s, before in changed) or "its settings are not in the material"
    needed = shift.before * sent.value
    return Finding(
        id=f"{INCIDENT}:{client}",
        incident=INCIDENT,
        severity=Severity.CRITICAL if shift.after > 2 * shift.before else Severity.WARNING,
        certainty=Certainty.PROVEN if proven else Certainty.LIKELY,
        subject=client,
        started_at=moment(shift.at),
        ended_at=moment(end),
        ongoing=True,
        statement=(
            f"{client} puts {shift.after:.0f} bytes on the wire per record, {shift.after / shift.before:.3g} times as many as "
            f"before {clock(shift.at)} UTC ({shift.before:.0f}): {what}. The payload did not grow; batching or "
            "compression was lost."
        ),
        measures={
            "bytes_per_record": shift.after, "bytes_per_record_before": shift.before,
            "amplification_factor": shift.after / shift.before, "bytes_in": needed, "bytes_out": left.value,
            "excess_bytes": left.value - needed,
        },
        evidence=(
            *(s.evidence for s, _ in changed),
            *(sample(facts, s, end, "bytes that left the producer") for s in outgoing),
            *(sample(facts, s, end, "records that left the producer") for s in sends),
        ),
        mitigate="Restore the earlier linger.ms, batch.size and compression.type; side effect: up to linger.ms more latency.",
        remedy="Keep batching and compression of producers under review: they are worth a multiple of the network.",
        verify="outgoing-byte-total per record-send-total is back at its earlier value.",
        facts={"who": f"producer {client}", "changed": what},
    )  # fmt: skip


def _own(facts: Facts, name: str, client: str) -> list[traffic.Series]:
    return [s for s in facts.named(name) if s.labels.get("client_id") == client]


def _pieces(series: Sequence[traffic.Series]) -> list[tuple[float, float]]:
    start, end = min(s.points[0][0] for s in series), max(s.points[-1][0] for s in series)
    step = traffic.scrape(series) or 10.0
    count = max(1, min(flows.WINDOWS, int((end - start) / (3 * step))))
    return [(start + (end - start) * n / count, start + (end - start) * (n + 1) / count) for n in range(count)]


def _per_record(
    sends: Sequence[traffic.Series], outgoing: Sequence[traffic.Series], since: float, until: float
) -> float | None:
    sent, left = traffic.increase(sends, since, until), traffic.increase(outgoing, since, until)
    return left.value / sent.value if sent and left and sent.value >= 10 else None


def _payload(facts: Facts, client: str, since: float, until: float) -> float | None:
    """Mean payload per record as the producer measures it before compression."""
    values = [v for s in _own(facts, "producer.record_size_avg", client) for at, v in s.points if since <= at <= until and v > 0]
    return median(values) if values else None


def _changed(facts: Facts, client: str, at: float) -> list[tuple[Setting, str]]:
    """Settings of batching and compression that this producer printed differently around the rise."""
    found = []
    for key in _SETTINGS:
        own = [s for s in facts.settings if s.key == key and s.owner == client and s.scope == "producer" and s.at is not None]
        for before, after in zip(own, own[1:], strict=False):
            if before.value != after.value and abs((after.at or 0) - at) <= 120:
                found.append((after, before.value))
    return found


