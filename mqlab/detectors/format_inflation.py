"""The same records take more bytes than before, because somebody encodes them differently.

Fires: the topic's ``compression.type`` makes brokers store and send something else than the producer sent, and each
reader receives a multiple of what came in; or a producer's bytes per record rose while its payload did not, after its
compression or batching changed, by no more than headers or lost compression can add.
Quiet: more readers (fan-out), larger payloads, fewer records, repeats and splits, consumers that start later than
producers, a burst in which in and out grow together, key = value as it always was.
"""

from __future__ import annotations

from mqlab import units
from mqlab.facts import Facts, Setting
from mqlab.findings import CLEAR, Certainty, Finding, Result, Severity, Stage, TrafficLedger, finding
from mqlab.shared import actors, counters, flows
from mqlab.shared.wording import clock, instant, sample
from mqlab.traffic import batching, card, encoding
from mqlab.traffic.batching import Waste
from mqlab.traffic.encoding import Recoding

INCIDENT = "format-inflation"
SYSTEMS: tuple[str, ...] = ("kafka",)


def detect(facts: Facts) -> Result:
    """Findings for brokers that re-encode, and for producers that became wasteful."""
    findings, risks = [], []
    for setting in encoding.settings(facts):
        found = encoding.measured(facts, setting)
        if found is None:
            risks.append(_risk(setting))
        else:
            findings.append(_recoded(facts, found))
    for client in batching.producers(facts):
        waste = batching.measured(facts, client)
        if waste is not None:
            findings.append(_wasted(facts, waste))
    if findings or risks:
        named = {f.subject for f in findings}
        return Result((*findings, *{r.id: r for r in risks if r.subject not in named}.values()))
    if not facts.named("producer.record_sends") and not flows.flows(facts):
        return Result(missing=("bytes in and out of brokers, or producer metrics",))
    if facts.of_kind("batch-split"):
        return Result(rejected="the bytes that left beyond the accepted ones were rejected, not stored in another form")
    return _unseen(facts)


def _unseen(facts: Facts) -> Result:
    """Not checked where bytes per record rose and nothing tells the size of the payload; else clear."""
    if any(batching.unseen(facts, client) for client in batching.producers(facts)):
        return Result(missing=("the size of records before compression: producer record-size-avg",))
    return CLEAR


def _recoded(facts: Facts, found: Recoding) -> Finding:
    """Brokers store and send another form of what producers send to one topic."""
    setting, readers, ratio = found.setting, found.readers, found.left.over(found.came)
    came, left = found.came.times(readers), found.left
    excess = units.Interval(max(0.0, left.low - came.high), left.likely - came.likely, left.high - came.low)
    healthy = found.before.times(readers) if found.before is not None else None
    before = f" (before: {healthy.words(units.factor)})" if healthy is not None else ""
    received = [s for s in facts.named("consumer.bytes_consumed") if len(s.points) > 1]
    cards = [s for h in sorted(actors.broker_hosts(facts)) for s in counters.card(facts, h, "transmit")]
    return finding(
        INCIDENT,
        str(setting.owner),
        Certainty.PROVEN if found.readers_known and found.before is not None else Certainty.LIKELY,
        (found.at, found.until),
        severity=Severity.CRITICAL if ratio.likely > 2 * readers else Severity.WARNING,
        ongoing=found.ongoing,
        statement=(
            f"The topic {setting.owner} has compression.type={setting.value}, so brokers re-encode what producers "
            f"send: {units.size(found.came.likely)} in, {units.size(found.left.likely)} out = "
            f"{ratio.words(units.factor)} for {units.counted(readers, 'reader')}{before}. Network, disks and readers "
            "carry the difference."
        ),
        measures={
            **found.came.measures("bytes_in"),
            **found.left.measures("bytes_out"),
            **ratio.measures("amplification_factor"),
            **excess.measures("excess_bytes"),
            **(healthy.measures("healthy_factor") if healthy is not None else {}),
        },
        evidence=(
            setting.evidence,
            *(sample(facts, s, found.until, "bytes that this reader received") for s in received[:4]),
            *(sample(facts, s, found.until, "bytes sent by the broker's card") for s in cards[:4]),
        ),
        explains=("batch-split-loop",) if facts.of_kind("batch-split") else (),
        mitigate=(
            f"Set compression.type=producer on {setting.owner}: it ends for new records; side effect: none for "
            "consumers that can read the producers' codec."
        ),
        remedy="Keep compression.type=producer on topics and let producers choose the codec.",
        verify="Bytes out over bytes in (per reader) is back at about 1.",
        ledger=_ledger(found, excess.likely, healthy.likely if healthy is not None else None),
        facts={"who": f"topic {setting.owner}", "compression.type": setting.value},
    )


def _ledger(found: Recoding, excess: float, healthy: float | None) -> TrafficLedger:
    came, left = round(found.came.likely), round(found.left.likely)
    once, off = round(found.came.likely * found.readers), round(0.05 * left)
    stages = (
        Stage(
            "accepted", "what came in, once for each reader", once, once - off, once + off, "broker's card or metrics"
        ),
        Stage(
            "encoding", f"stored and sent as {found.setting.value}", left - once, round(excess * 0.9),
            round(excess * 1.1), "out less in x readers",
        ),
        Stage("unexplained", "UNEXPLAINED", 0, -off, off, "rest"),
    )  # fmt: skip
    return TrafficLedger(
        "brokers", "", instant(found.at), instant(found.until),
        came, left, stages, healthy,
    )  # fmt: skip


def _risk(setting: Setting) -> Finding:
    """The topic's setting re-encodes; the material shows no inflation."""
    return finding(
        INCIDENT,
        str(setting.owner),
        Certainty.POSSIBLE,
        (None, None),
        severity=Severity.NOTICE,
        name=f"{setting.owner}/settings",
        statement=(
            f"The topic {setting.owner} has compression.type={setting.value}: brokers re-encode what producers send. "
            "The material shows no inflation from it."
        ),
        measures={},
        evidence=(setting.evidence,),
        mitigate="None needed now.",
        remedy="Prefer compression.type=producer.",
        verify="Bytes out over bytes in per reader stays at about 1.",
    )


def _wasted(facts: Facts, found: Waste) -> Finding:
    """One producer lost its batching or its compression."""
    rise, needed = found.shift, found.shift.before * found.records
    changed = ", ".join(f"{s.key} {before} -> {s.value}" for s, before in found.changed)
    changed = changed or "its settings are not in the material"
    return finding(
        INCIDENT,
        found.client,
        Certainty.PROVEN if found.changed else Certainty.LIKELY,
        (rise.at, rise.until),
        severity=Severity.CRITICAL if rise.after > 2 * rise.before else Severity.WARNING,
        ongoing=rise.lasting,
        statement=(
            f"{found.client} puts {rise.after:.0f} bytes on the wire per record, {rise.after / rise.before:.3g} times "
            f"as many as before {clock(rise.at)} UTC ({rise.before:.0f}): {changed}. The payload did not grow; "
            "batching or compression was lost."
        ),
        measures={
            "bytes_per_record": rise.after,
            "bytes_per_record_before": rise.before,
            "amplification_factor": rise.after / rise.before,
            "bytes_out": found.left,
            **_on_card(facts, found),
            "needed_bytes": needed,
            "excess_bytes": found.left - needed,
        },
        evidence=(
            *(s.evidence for s, _ in found.changed),
            *(
                sample(facts, series, rise.until, f"{what} that left the producer")
                for name, what in (("producer.outgoing_bytes", "bytes"), ("producer.record_sends", "records"))
                for series in batching.own(facts, name, found.client)
            ),
        ),
        mitigate=(
            "Restore the earlier linger.ms, batch.size and compression.type; side effect: up to linger.ms more latency."
        ),
        remedy="Keep batching and compression of producers under review: they are worth a multiple of the network.",
        verify="outgoing-byte-total per record-send-total is back at its earlier value.",
        facts={"who": f"producer {found.client}", "changed": changed},
    )


def _on_card(facts: Facts, found: Waste) -> dict[str, float]:
    """What the card of the producer's host counted meanwhile and usually; nothing where it is not known."""
    host, rise = actors.host_of(facts, found.client), found.shift
    sent = counters.ratio(facts, host, rise.at, rise.until) if host else None
    return card.measures(facts, host, sent, (rise.at, rise.until), rise.at) if host and sent else {}
