"""Values that an MQTT broker publishes about itself, at any moment: it publishes a value only when it changes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab.facts import Facts, Series
from mqlab.memo import per_facts
from mqlab.mqtt.brokers import broker_of, brokers

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Rise:
    """How much a value rose between two of its samples."""

    since: float
    until: float
    by: float
    series: Series

    @property
    def per_second(self) -> float:
        """Rise a second."""
        return self.by / (self.until - self.since)


def gauge(facts: Facts, name: str, broker: str | None) -> Series | None:
    """The series with this canonical name that is *broker*'s; None where there is none, or several nodes tell it."""
    own = [s for s in facts.named(name) if len(s.points) > 0 and _of(facts, s, broker)]
    return own[0] if len(own) == 1 else None


def _of(facts: Facts, series: Series, broker: str | None) -> bool:
    return broker is None or broker_of(facts, series.source) in (broker, None)


def value(series: Series | None, at: float) -> float | None:
    """What it was at that moment: its last sample by then."""
    if series is None:
        return None
    place = bisect_right([moment for moment, _ in series.points], at)
    return series.points[place - 1][1] if place else None


def rise(series: Series | None, since: float, until: float) -> Rise | None:
    """From its first sample in that time to its last one; None where there are no two."""
    inside = [p for p in series.points if since <= p[0] <= until] if series is not None else []
    if series is None or len(inside) < 2 or inside[-1][0] <= inside[0][0]:
        return None
    return Rise(inside[0][0], inside[-1][0], inside[-1][1] - inside[0][1], series)


def increase(series: Series | None, since: float, until: float) -> float | None:
    """How much a counter rose in that time, by what it was at both moments; None where it is not known at either.

    Before its first sample it had that sample's value; a fall is a restart of the broker, which begins at zero.
    """
    if series is None or not series.points or series.points[0][0] > until:
        return None
    begin = value(series, since)
    points = [p for p in series.points if since < p[0] <= until]
    before, rose = series.points[0][1] if begin is None else begin, 0.0
    for _, now in points:
        rose += now - before if now >= before else now
        before = now
    return rose


def counted(series: Series | None, at: float) -> float | None:
    """What a counter was at that moment, on a straight line between two samples.

    After the last one it goes on as before, for one more interval. None before the first one, or where it fell: a
    broker that starts again counts from zero.
    """
    points = series.points if series is not None else ()
    place = bisect_right([moment for moment, _ in points], at)
    if place == 0 or len(points) < 2 or any(b < a for (_, a), (_, b) in pairwise(points)):
        return None
    (begin, before), (end, after) = points[place - 1 : place + 1] if place < len(points) else points[-2:]
    return before + (after - before) * min(2.0, (at - begin) / (end - begin))


@per_facts
def end_of(facts: Facts) -> float:
    """The last moment that brokers' logs and values, and publishers' ledgers, tell of.

    Values are sampled, and logs may be silent at the end, while messages are still published. Receivers and clients
    are asked only where nothing else tells.
    """
    logs = {source for broker in brokers(facts) for source in broker.sources}
    values = [s.points[-1][0] for s in facts.series if s.points and s.name.startswith("mqtt.")]
    told = [c.last_at for c in facts.coverage if c.source in logs and c.last_at is not None]
    sent = [flow.last_at for flow in facts.flows if flow.sender]
    return max(
        [*told, *values, *sent], default=max((c.last_at for c in facts.coverage if c.last_at is not None), default=0.0)
    )
