"""Bytes of a split loop: what left the host, what the broker threw away, and whether two ways of counting agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mqlab import units
from mqlab.amplification import split_evidence
from mqlab.amplification.split_sums import Sums, splits_counted, summed
from mqlab.facts import Episode, Facts
from mqlab.questions import actors, traffic

AGREE = 0.15
"""Two ways of counting the resent bytes agree within this share."""
LEAST_ON_CARD = 0.5
"""Share of the splits' least bytes that the card must show to be the card of that producer."""

Window = tuple[int, int | None]
"""(least, most) bytes of a batch that splits into itself; most is None where batch.size is not known."""


@dataclass(frozen=True, slots=True)
class SplitLedger:
    """What a loop cost, as far as the material says."""

    host: str | None
    started: float | None
    ended: float | None
    count: int
    """Splits: lines of the log, or the counter where the log starts in the middle."""
    sums: Sums | None = None
    measures: Mapping[str, float] | None = None
    resent: float | None = None
    agrees: bool = False
    """The bytes are those of the splits."""
    second_way: str = ""

    @property
    def batch(self) -> float | None:
        """Mean bytes of one resent batch."""
        return self.resent / self.count if self.resent and self.count else None


def of_loop(facts: Facts, client: str, topic: str, splits: Sequence[Episode], window: Window | None) -> SplitLedger:
    """The ledger of the splits that *client* logged for *topic*."""
    host = _own_host(facts, client, splits, window)
    started, change = split_evidence.started_at(facts, host, splits)
    first, ended = splits[0].first_at, max((s.last_at for s in splits if s.last_at is not None), default=None)
    lines = sum(s.count for s in splits)
    if started is None or first is None or ended is None:
        return SplitLedger(host, started, ended, lines)
    count, told = lines, started
    if split_evidence.begins_within(facts, splits):
        counted = splits_counted(facts, client, started, ended)
        count, told = (round(counted), started) if counted and counted > lines else (lines, first)
    calm_until = change.after if change else started
    sums = summed(facts, host, client, topic, (told, ended))
    resent, agrees, second = _resent(sums, count, window)
    whole = sums if told == started else summed(facts, host, client, topic, (started, ended))
    measures = measured(facts, host, whole, (started, ended), calm_until)
    if change is not None:
        measures["onset_uncertainty_seconds"] = change.before - change.after
    return SplitLedger(host, started, ended, count, sums, measures, resent, agrees, second)


def measured(
    facts: Facts, host: str | None, sums: Sums, span: tuple[float, float], calm_until: float
) -> dict[str, float]:
    """The measures of a loop between two moments; it was as usual until *calm_until*."""
    found: dict[str, float] = {}
    if sums.card is not None and host is not None:
        found |= _on_card(facts, host, sums.card, span, calm_until)
    elif sums.outgoing is not None:
        found["bytes_out"] = sums.outgoing
        if sums.accepted:
            found["amplification_factor"] = sums.outgoing / sums.accepted
    if sums.rejected is not None:
        found["bytes_rejected"] = sums.rejected
    return found


def _own_host(facts: Facts, client: str, splits: Sequence[Episode], window: Window | None) -> str | None:
    """The producer's host, unless its card sent less than the splits must have."""
    host = actors.host_of(facts, client)
    first, last = splits[0].first_at, max((s.last_at or 0 for s in splits), default=0)
    if host is None or window is None or first is None:
        return host
    seen = traffic.ratio(facts, host, first, last)
    least = LEAST_ON_CARD * window[0] * sum(s.count for s in splits)
    return None if seen is not None and seen.bytes_out < least else host


def _resent(sums: Sums, count: int, window: Window | None) -> tuple[float | None, bool, str]:
    """(bytes of resent batches, whether they agree with the splits, the second way in words)."""
    ways = _ways(sums)
    if not ways:
        return None, False, ""
    (name, best), each = ways[0], ways[0][1] / count
    fits = window is None or _within(each, window)
    if len(ways) == 1:
        between = ", between limit and batch.size" if window and window[1] and fits else ""
        return best, fits and window is not None, f"{name} / {count} splits = {units.size(each)} a batch{between}"
    other_name, other = ways[1]
    differ = abs(other - best) / best
    words = f"{count} splits x {units.size(each)} = {name}; {other_name}: {units.size(other)}, differs {differ:.1%}"
    return best, fits and (window is not None or differ <= AGREE), words


def _within(each: float, window: Window) -> bool:
    least, most = window
    return least * (1 - AGREE) <= each <= (most or 10 * least) * (1 + AGREE)


def _ways(sums: Sums) -> list[tuple[str, float]]:
    """Bytes of resent batches, by each way of counting them, the most direct first."""
    ways = []
    if sums.rejected is not None:
        ways.append(("rejected by the broker", sums.rejected - sums.oversize))
    needed = sums.accepted
    if sums.card is not None:
        if needed is None and sums.healthy is not None:
            needed = sums.healthy * sums.card.bytes_in
        if needed is not None:
            ways.append(("network card less accepted", sums.card.bytes_out - needed - sums.oversize))
    elif sums.outgoing is not None:
        ways.append(("producer's outgoing bytes less accepted", sums.outgoing - (needed or 0) - sums.oversize))
    return [(name, value) for name, value in ways if value > 0]


def _on_card(
    facts: Facts, host: str, card: traffic.Ratio, span: tuple[float, float], calm_until: float
) -> dict[str, float]:
    healthy = traffic.usual_factor(facts, host, 0, calm_until)
    top = traffic.peak(facts, host, *span)
    known = {
        "amplification_factor": card.factor,
        "healthy_factor": healthy,
        "excess_bytes": None if healthy is None else card.bytes_out - healthy * card.bytes_in,
        "peak_amplification_factor": top.factor if top else None,
        "factor_after": traffic.usual_factor(facts, host, span[1] + traffic.PEAK, float("inf")),
    }
    measured = {name: value for name, value in known.items() if value is not None}
    return {"bytes_in": card.bytes_in, "bytes_out": card.bytes_out} | measured
