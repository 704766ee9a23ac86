"""Topics whose brokers store and send another form than producers send: by setting, and by bytes per reader."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from mqlab.facts import Facts, Setting
from mqlab.shared import actors, configured, counters, flows
from mqlab.units import Interval, between

_PLAIN = {"none": "uncompressed"}


@dataclass(frozen=True, slots=True)
class Recoding:
    """What one topic's compression.type did to the bytes of each reader."""

    setting: Setting
    at: float
    until: float
    ongoing: bool
    before: Interval | None
    """Bytes out per reader and byte in; None where nothing was measured before."""
    came: Interval
    left: Interval
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
    windows = counters.edges(facts.named("host.transmit_bytes", "broker.bytes_out"), at, until)
    others = [_wire(facts, a, b) for a, b in windows]
    return Recoding(
        setting,
        at,
        until,
        until >= values[-1][1],
        _usual(facts, at, before),
        between(came, (other for other, _ in others if other is not None)),
        between(left, (other for _, other in others if other is not None)),
        reading,
        known,
    )


def _usual(facts: Facts, at: float, level: float | None) -> Interval | None:
    """The *level* until *at*, between those of the windows in which anybody read.

    A reader that starts late reads what waited besides: no more than each byte once is usual, unless all bytes until
    then bear it out.
    """
    if level is None:
        return None
    pieces = [p for p in flows.flows(facts) if p.until <= at and p.out_per_in is not None]
    each = [(p.out_per_in or 0.0) / (flows.readers(facts, p) or 1) for p in pieces]
    came = sum(p.came_in or 0.0 for p in pieces)
    whole = sum(e * (p.came_in or 0.0) for p, e in zip(pieces, each, strict=True)) / came if came else level
    return between(min(level, max(1.0, whole)), (e for e in each if e >= flows.WARM))


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
