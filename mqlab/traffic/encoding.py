"""Topics whose brokers store and send another form than producers send: by setting, and by bytes per reader."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from mqlab import units
from mqlab.facts import Facts, Setting
from mqlab.findings import Certainty, Evidence, Finding, Severity, Stage, TrafficLedger
from mqlab.shared import actors, configured, counters, flows
from mqlab.shared.wording import clock, instant, moment, sample

_PLAIN = {"none": "uncompressed"}


@dataclass(frozen=True, slots=True)
class Recoding:
    """What one topic's compression.type did to the bytes of each reader."""

    setting: Setting
    at: float
    until: float
    ongoing: bool
    before: float | None
    """Bytes out per reader and byte in; None where nothing was measured before."""
    came: float
    left: float
    readers: int
    readers_known: bool


def settings(facts: Facts) -> list[Setting]:
    """Topics whose compression.type is not what their producers send; the dated change where there is one."""
    logged = [s for s in configured.topic_changes(facts) if s.key == "compression.type"]
    known = {s.owner for s in logged}
    described = [
        s for s in facts.settings if s.key == "compression.type" and s.scope == "topic" and s.owner not in known
    ]
    firsts = {s.owner: s for s in reversed(described)}
    sent = {s.value for s in facts.settings if s.key == "compression.type" and s.scope == "producer"} or {"none"}
    kept = {"producer", "", *(sent if len(sent) == 1 else ()), *(_PLAIN.get(v, "") for v in sent if len(sent) == 1)}
    return [s for s in (*logged, *firsts.values()) if s.value not in kept and not str(s.owner).startswith("__")]


def measured(facts: Facts, setting: Setting) -> Recoding | None:
    """The inflation that *setting* made; None where the bytes show none."""
    pieces = flows.warm(flows.flows(facts))
    counts = [flows.readers(facts, p) for p in pieces]
    known = all(counts)
    values = [
        (p.since, p.until, p.out_per_in / (count or 1))
        for p, count in zip(pieces, counts, strict=True)
        if p.out_per_in is not None
    ]
    if not values or (setting.at is None and not known):
        return None
    back = _taken_back(facts, setting)
    at, until, before, after = _levels(setting.at, back, values)
    if after is None or after < counters.RISE * max(1.0, before or 1.0) or (before is None and not known):
        return None
    came, left = _wire(facts, at, until)
    if not came or left is None:
        return None
    reading = max((c or 1 for p, c in zip(pieces, counts, strict=True) if p.until > at), default=1)
    return Recoding(setting, at, until, until >= values[-1][1], before, came, left, reading, known)


def _taken_back(facts: Facts, setting: Setting) -> float | None:
    later = [
        s.at
        for s in configured.topic_changes(facts)
        if (s.key, s.owner) == (setting.key, setting.owner) and s.at is not None and s.at > (setting.at or 0.0)
    ]
    return later[0] if later and setting.at is not None else None


def _levels(
    at: float | None, back: float | None, values: list[tuple[float, float, float]]
) -> tuple[float, float, float | None, float | None]:
    """(from, to, level before, level after) of a change at *at*, or of the rise that the bytes themselves show."""
    end = values[-1][1]
    if at is None:
        rise = counters.shift(values)
        if rise is not None:
            return rise.at, rise.until, rise.before, rise.after
        return values[0][0], end, None, median(v for _, _, v in values)
    earlier = [v for _, b, v in values if b <= at]
    until = min(back or end, end)
    later = [v for a, b, v in values if a >= at and b <= until] or [v for a, b, v in values if a < until and b > at]
    return at, until, median(earlier) if earlier else None, median(later) if later else None


def _wire(facts: Facts, since: float, until: float) -> tuple[float | None, float | None]:
    card = flows.brokers_card(facts, since, until)
    if card is not None and len(actors.broker_hosts(facts)) == 1:
        return card.bytes_in, card.bytes_out
    whole = flows.flow(facts, since, until)
    return whole.came_in, whole.went_out


def finding(facts: Facts, found: Recoding, incident: str) -> Finding:
    """The finding about one topic."""
    setting, ratio, excess = found.setting, found.left / found.came, found.left - found.came * found.readers
    healthy = {"healthy_factor": found.before * found.readers} if found.before is not None else {}
    proven = found.readers_known and found.before is not None
    shown = f" (before: {found.before * found.readers:.3g}x)" if found.before is not None else ""
    return Finding(
        id=f"{incident}:{setting.owner}",
        incident=incident,
        severity=Severity.CRITICAL if ratio > 2 * found.readers else Severity.WARNING,
        certainty=Certainty.PROVEN if proven else Certainty.LIKELY,
        subject=str(setting.owner),
        started_at=moment(found.at),
        ended_at=moment(found.until),
        ongoing=found.ongoing,
        statement=(
            f"The topic {setting.owner} has compression.type={setting.value}, so brokers store and send another form "
            f"than producers send: {units.size(found.came)} in, {units.size(found.left)} out = {ratio:.3g}x for "
            f"{units.counted(found.readers, 'reader')}{shown}. No record is lost; network, disks and readers carry "
            "the difference."
        ),
        measures={
            "bytes_in": found.came, "bytes_out": found.left, "amplification_factor": ratio, "excess_bytes": excess,
            **healthy,
        },
        evidence=_evidence(facts, found),
        explains=("batch-split-loop",) if facts.of_kind("batch-split") else (),
        mitigate=(
            f"Set compression.type=producer on {setting.owner}: it ends for new records; side effect: none for "
            "consumers that can read the producers' codec."
        ),
        remedy="Keep compression.type=producer on topics and let producers choose the codec.",
        verify="Bytes out over bytes in (per reader) is back at about 1.",
        ledger=_ledger(found, excess),
        facts={"who": f"topic {setting.owner}", "compression.type": setting.value},
    )  # fmt: skip


def _evidence(facts: Facts, found: Recoding) -> tuple[Evidence, ...]:
    received = [s for s in facts.named("consumer.bytes_consumed") if len(s.points) > 1]
    cards = [s for h in sorted(actors.broker_hosts(facts)) for s in counters.card(facts, h, "transmit")]
    return (
        found.setting.evidence,
        *(sample(facts, s, found.until, "bytes that this reader received") for s in received[:4]),
        *(sample(facts, s, found.until, "bytes sent by the broker's card") for s in cards[:4]),
    )


def _ledger(found: Recoding, excess: float) -> TrafficLedger:
    once, more = round(found.came * found.readers), round(found.left) - round(found.came * found.readers)
    off, form = round(0.05 * found.left), f"stored and sent as {found.setting.value}"
    stages = (
        Stage(
            "accepted", "what came in, once for each reader", once, once - off, once + off, "broker's card or metrics"
        ),
        Stage("encoding", form, more, round(excess * 0.9), round(excess * 1.1), "out less in x readers"),
        Stage("unexplained", "UNEXPLAINED", 0, -off, off, "rest"),
    )
    before = found.before * found.readers if found.before is not None else None
    how = f"{clock(found.at)} to {clock(found.until)} UTC"
    since, until = instant(found.at), instant(found.until)
    return TrafficLedger("brokers", how, since, until, round(found.came), round(found.left), stages, before)


def risk(setting: Setting, incident: str) -> Finding:
    """The notice about a topic whose setting re-encodes, where the material shows no inflation."""
    return Finding(
        f"{incident}:{setting.owner}/settings", incident, Severity.NOTICE, Certainty.POSSIBLE, str(setting.owner),
        None, None, False,
        f"The topic {setting.owner} has compression.type={setting.value}: brokers re-encode what producers send. "
        "The material shows no inflation from it.",
        {}, (setting.evidence,), (), "None needed now.", "Prefer compression.type=producer.",
        "Bytes out over bytes in per reader stays at about 1.",
    )  # fmt: skip
