"""The same records take more bytes than before, because somebody encodes them differently.

Fires: the topic's ``compression.type`` makes brokers store and send something else than the producer sent, and each
reader receives a multiple of what came in; or a producer's bytes per record rose while its payload did not, after its
compression or batching changed, by no more than headers or lost compression can add.
Quiet: more readers (fan-out), larger payloads, fewer records, repeats and splits, consumers that start later than
producers, a burst in which in and out grow together, key = value as it always was.
"""

from __future__ import annotations

from mqlab import units, words
from mqlab.facts import Facts, Setting
from mqlab.findings import CLEAR, Certainty, Finding, Result, Severity, Stage, TrafficLedger, finding
from mqlab.shared import actors, counters, flows
from mqlab.shared.wording import instant, sample
from mqlab.traffic import batching, card, encoding
from mqlab.traffic.batching import Waste
from mqlab.traffic.encoding import Recoding
from mqlab.words import listed

INCIDENT = "format-inflation"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)


def detect(facts: Facts) -> Result:
    """Findings for brokers that re-encode, and for producers that became wasteful."""
    findings, risks = [], []
    for setting in encoding.settings(facts):
        found = encoding.measured(facts, setting)
        if found is None:
            risks.append(_risk(facts, setting))
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
        return Result(missing=(say("no-bytes"),))
    if facts.of_kind("batch-split"):
        return Result(rejected=say("were-rejected"))
    return _unseen(facts)


def _unseen(facts: Facts) -> Result:
    """Not checked where bytes per record rose and nothing tells the size of the payload; else clear."""
    if any(batching.unseen(facts, client) for client in batching.producers(facts)):
        return Result(missing=(say("no-sizes"),))
    return CLEAR


def _recoded(facts: Facts, found: Recoding) -> Finding:
    """Brokers store and send another form of what producers send to one topic."""
    setting, readers, ratio = found.setting, found.readers, found.left.over(found.came)
    came, left = found.came.times(readers), found.left
    excess = units.Interval(max(0.0, left.low - came.high), left.likely - came.likely, left.high - came.low)
    healthy = found.before.times(readers) if found.before is not None else None
    received = [s for s in facts.named("consumer.bytes_consumed") if len(s.points) > 1]
    cards = [s for h in sorted(actors.broker_hosts(facts)) for s in counters.card(facts, h, "transmit")]
    return finding(
        INCIDENT,
        str(setting.owner),
        Certainty.PROVEN if found.readers_known and found.before is not None else Certainty.LIKELY,
        (found.at, found.until),
        severity=Severity.CRITICAL if ratio.likely > 2 * readers else Severity.WARNING,
        ongoing=found.ongoing,
        slots={
            "codec": setting.value,
            "came": found.came.likely,
            "left": left.likely,
            "ratio": ratio,
            "readers": readers,
            "healthy": healthy,
        },
        measures={
            **found.came.measures("bytes_in"),
            **found.left.measures("bytes_out"),
            **ratio.measures("amplification_factor"),
            **excess.measures("excess_bytes"),
            **(healthy.measures("healthy_factor") if healthy is not None else {}),
        },
        evidence=(
            setting.evidence,
            *(sample(facts, s, found.until, say("received")) for s in received[:4]),
            *(sample(facts, s, found.until, say("sent")) for s in cards[:4]),
        ),
        explains=("batch-split-loop",) if facts.of_kind("batch-split") else (),
        ledger=_ledger(found, excess.likely, healthy.likely if healthy is not None else None),
        facts={"who": say("topic", topic=str(setting.owner)), "compression.type": setting.value},
    )


def _ledger(found: Recoding, excess: float, healthy: float | None) -> TrafficLedger:
    came, left = round(found.came.likely), round(found.left.likely)
    once, off = round(found.came.likely * found.readers), round(0.05 * left)
    encoding, low, high = say("encoding", codec=found.setting.value), round(excess * 0.9), round(excess * 1.1)
    stages = (
        Stage("accepted", say("accepted"), once, once - off, once + off, say("card-or-metrics")),
        Stage("encoding", encoding, left - once, low, high, say("out-less-in")),
        Stage("unexplained", say("unexplained"), 0, -off, off, say("rest")),
    )
    return TrafficLedger("brokers", "", instant(found.at), instant(found.until), came, left, stages, healthy)


def _risk(facts: Facts, setting: Setting) -> Finding:
    """The topic's setting re-encodes; the material shows no inflation, or nothing in which it would show."""
    pieces = [piece for piece in flows.flows(facts) if piece.out_per_in is not None]
    measured = [piece for piece in pieces if setting.at is None or piece.until > setting.at]
    return finding(
        INCIDENT,
        str(setting.owner),
        Certainty.POSSIBLE,
        (None, None),
        severity=Severity.NOTICE,
        name=f"{setting.owner}/settings",
        slots={"codec": setting.value, "measured": bool(measured)},
        measures={},
        evidence=(setting.evidence,),
    )


def _wasted(facts: Facts, found: Waste) -> Finding:
    """One producer lost its batching or its compression."""
    rise, needed = found.shift, found.shift.before * found.records
    changed = listed([f"{s.key} {before} -> {s.value}" for s, before in found.changed], ", ") or say("no-settings")
    return finding(
        INCIDENT,
        found.client,
        Certainty.PROVEN if found.changed else Certainty.LIKELY,
        (rise.at, rise.until),
        severity=Severity.CRITICAL if rise.after > 2 * rise.before else Severity.WARNING,
        ongoing=rise.lasting,
        slots={
            "size": round(rise.after),
            "usual": round(rise.before),
            "times": rise.after / rise.before,
            "changed": changed,
            "earlier": [f"{s.key}={before}" for s, before in found.changed] or None,
            "delays": any(s.key in ("linger.ms", "batch.size") for s, _ in found.changed),
        },
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
                sample(facts, series, rise.until, say(left))
                for name, left in (("producer.outgoing_bytes", "bytes-left"), ("producer.record_sends", "records-left"))
                for series in batching.own(facts, name, found.client)
            ),
        ),
        facts={"who": say("producer", client=found.client), "changed": changed},
    )


def _on_card(facts: Facts, found: Waste) -> dict[str, float]:
    """What the card of the producer's host counted meanwhile and usually; nothing where it is not known."""
    host, rise = actors.host_of(facts, found.client), found.shift
    sent = counters.ratio(facts, host, rise.at, rise.until) if host else None
    return card.measures(facts, host, sent, (rise.at, rise.until), rise.at) if host and sent else {}
