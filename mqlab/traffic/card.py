"""Bytes in and bytes out of one host by its network card: how unusual they are, and the ledger of where they went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import Stage, TrafficLedger
from mqlab.shared import counters
from mqlab.shared.counters import Ratio
from mqlab.shared.wording import instant
from mqlab.units import Interval, between

say = words.room("card")


def measures(facts: Facts, host: str, card: Ratio, span: tuple[float, float], calm_until: float) -> dict[str, float]:
    """What the card of *host* counted between two moments, its peak then, and its usual until *calm_until*."""
    usual = counters.usual_factor(facts, host, 0, calm_until)
    top = counters.peak(facts, host, *span)
    numbers = counted(card, counters.ratios(facts, host, *span))
    beyond = excess(numbers, usual) if usual is not None else None
    known = {
        **numbers,
        "healthy_factor": usual,
        **(beyond.measures("excess_bytes") if beyond is not None and beyond.likely > 0 else {}),
        "peak_amplification_factor": top.factor if top else None,
        "factor_after": counters.usual_factor(facts, host, span[1] + counters.PEAK, inf),
    }
    return {name: value for name, value in known.items() if value is not None}


def excess(numbers: Mapping[str, float], usual: float) -> Interval:
    """Bytes that left beyond the *usual* times what came in, between the bounds of both."""
    came, left = (
        Interval(numbers.get(f"{name}_low", numbers[name]), numbers[name], numbers.get(f"{name}_high", numbers[name]))
        for name in ("bytes_in", "bytes_out")
    )
    likely = left.likely - usual * came.likely
    return Interval(max(0.0, left.low - usual * came.high), likely, left.high - usual * came.low)


def counted(card: Ratio, others: Sequence[Ratio]) -> dict[str, float]:
    """Bytes in and out and their ratio, each between those of the *others*: the same time by other scrapes.

    What comes in may leave a scrape later, so the ratio's bounds do not take both from the same window.
    """
    came = between(card.bytes_in, (o.bytes_in for o in others))
    left = between(card.bytes_out, (o.bytes_out for o in others))
    known = came.measures("bytes_in") | left.measures("bytes_out")
    return known if card.factor is None else known | left.over(came).measures("amplification_factor")


def stage(name: str, label: str, size: float | Interval, off: float, how: str, ways: Sequence[str] = ()) -> Stage:
    """A step of the ledger that is known to the share *off*; *ways* count it once more, the last one by itself."""
    known = size if isinstance(size, Interval) else Interval(size, size, size)
    low, high = round(known.low * (1 - off)), round(known.high * (1 + off))
    return Stage(
        name, label, round(known.likely), low, high, how, words.listed(ways) or None, ways[-1] if ways else None
    )


def _within(stages: Sequence[Stage], whole: int) -> list[Stage]:
    """The *stages*, those that are known least made smaller until they are no more than the *whole*."""
    fitting, over = list(stages), sum(one.bytes for one in stages) - whole
    for one in sorted(stages, key=lambda one: one.low / max(1, one.bytes)):
        less = max(0, min(over, one.bytes - one.low))
        fitting[fitting.index(one)] = replace(one, bytes=one.bytes - less)
        over -= less
    return fitting


def ledger(
    host: str, card: Ratio, stages: Sequence[Stage], before: float | None, after: float | None, gaps: tuple[str, ...]
) -> TrafficLedger | None:
    """From what came in to what left; the last stage is what the others leave unexplained.

    None where the card shows less than the least of what the stages count: they are not of one host or one time.
    """
    stages = _within(stages, round(card.bytes_out))
    rest = round(card.bytes_out) - sum(stage.bytes for stage in stages)
    if rest < 0:
        return None
    unexplained = Stage("unexplained", say("unexplained"), rest, rest, rest, say("rest"))
    return TrafficLedger(
        host,
        say("network-card", host=host),
        instant(card.since),
        instant(card.until),
        round(card.bytes_in),
        round(card.bytes_out),
        (*stages, unexplained),
        before,
        after,
        gaps,
    )
