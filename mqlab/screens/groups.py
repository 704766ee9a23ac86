"""A consumer group as a screen: its rebalances, a replay with other settings, the plan of a drain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo

from mqlab.kafka.rebalance_costs import standstills
from mqlab.kafka.rows import Rebalance
from mqlab.languages import said
from mqlab.scenarios.drain import DrainAnswer
from mqlab.scenarios.replay import Fit, ReplayAnswer, Simulated
from mqlab.screens.rows import clipped, columns, labelled, row
from mqlab.terminal import safe
from mqlab.units import Interval, duration, number
from mqlab.views.scenarios import drain_rows
from mqlab.words import room

say = room("group-screen")

_HEADS = ("at", "generation", "trigger", "behind", "client", "members", "moved", "still", "delayed", "repeated")
_WIDE = 28
"""Characters of a client's name."""


def rebalances_screen(histories: Sequence[tuple[str, Sequence[Rebalance]]], tz: tzinfo = UTC) -> str:
    """Every group with its rebalances; an asterisk marks what is concluded and not told by the line itself."""
    lines = [line for group, rows in histories for line in _group(group, rows, tz)]
    return "\n".join(line.rstrip() for line in lines or [said(say("none"))]) + "\n"


def _group(group: str, rows: Sequence[Rebalance], tz: tzinfo) -> Iterator[str]:
    still = sum(end - since for since, end in standstills(rows))
    counts = sorted(Counter(str(r.behind) for r in rows).items())
    causes = [say("cause", many=count, what=what) for what, count in counts]
    told = say("group", group=group, rebalances=len(rows), standstill=still, causes=causes)
    yield labelled("GROUP") + safe(said(told))
    yield from columns([_heads(_HEADS), *(_cells(row, tz) for row in rows)], left=(0, 2, 3, 4)) if rows else ()


def _heads(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(say("head", head=name) for name in names)


def _cells(row: Rebalance, tz: tzinfo) -> tuple[str, ...]:
    return (
        f"{datetime.fromtimestamp(row.started, tz):%H:%M:%S}",
        _count(row.generation),
        f"{said(str(row.trigger))}{'*' if row.inferred else ''}",
        str(row.behind),
        clipped(safe(row.client_id), _WIDE) or "-",
        f"{_count(row.members_before)} -> {_count(row.members_after)}",
        _count(row.moved),
        "-" if row.standstill is None else duration(row.standstill),
        _count(row.delayed),
        _count(row.repeated),
    )


def _count(value: int | None) -> str:
    return "-" if value is None else number(value)


_SMALL = 0.001
"""Share below which a table would print zero."""


def whatif_screen(answer: ReplayAnswer, tz: tzinfo = UTC) -> str:
    """Everything that whoever changes a setting wants to read."""
    lines = [_headline(answer, tz), *_table(answer), *_feasible(answer), *_calibration(answer)]
    for place, sentence in enumerate(answer.assumed):
        lines += row("" if place else "ASSUMED", sentence, 3)
    return "\n".join(one.rstrip() for one in lines) + "\n"


def _headline(answer: ReplayAnswer, tz: tzinfo) -> str:
    begin, end = (f"{datetime.fromtimestamp(at, tz):%H:%M:%S}" for at in (answer.since, answer.until))
    of = "incident" if answer.incident else "time"
    told = say("what-if", group=answer.group, changes=answer.changes, span=of, since=begin, until=end)
    return safe(said(told))


def _table(answer: ReplayAnswer) -> Iterator[str]:
    real, replayed = answer.recorded, [told for told in (answer.before, answer.after) if told is not None]
    rows: tuple[tuple[str, str, float | None, Callable[[Simulated], float | Interval]], ...] = (
        ("rebalances", "whole", real.rebalances, lambda told: told.rebalances),
        ("longest poll", "seconds", real.longest_poll_seconds, lambda told: told.longest_poll_seconds),
        ("polls over the interval", "share", real.late_share, lambda told: told.late_share.likely),
        ("lag at the end", "whole", real.final_lag, lambda told: told.final_lag),
        ("different records handled more than once", "whole", real.repeated, lambda told: told.repeated),
    )
    cells = [("", *_heads(("recorded", "unchanged", "changed")[: len(replayed) + 1]))]
    for name, unit, value, column in rows:
        known = "not known" if value is None else _cell(unit, value)
        cells.append((name, known, *(_cell(unit, column(told)) for told in replayed)))
    yield from columns(cells, left=(0,))


def _cell(unit: str, amount: float | Interval) -> str:
    """An amount of whole things, of seconds, or a share."""
    if unit == "share":
        return say(unit, amount=amount, small=isinstance(amount, float) and 0 < amount < _SMALL, least=_SMALL)
    return say(unit, amount=_whole(amount) if unit == "whole" else amount)


def _whole(amount: float | Interval) -> float | Interval:
    if isinstance(amount, Interval):
        return Interval(round(amount.low), round(amount.likely), round(amount.high))
    return round(amount)


def _feasible(answer: ReplayAnswer) -> Iterator[str]:
    if answer.changes:
        yield from row("BEFORE", _fits(answer.fit_before, answer.before), 3)
        yield from row("AFTER", _fits(answer.fit_after, answer.after), 3)
    else:
        yield from row("FITS", _fits(answer.fit_before, answer.before), 3)


def _fits(fit: Fit, told: Simulated | None) -> str:
    return say(
        "fits",
        records=fit.records,
        each=fit.record_seconds * 1000,
        several=fit.threads if fit.threads > 1 else None,
        poll=fit.poll_seconds,
        interval=fit.interval_seconds,
        fit=_verdict(fit, told),
        longest=told.longest_poll_seconds.high if told else None,
        largest=fit.largest_safe_records,
        advised=fit.advised_records,
        capacity=fit.capacity_per_second,
        arriving=fit.arriving_per_second,
        short=fit.capacity_per_second < fit.arriving_per_second,
    )


def _verdict(fit: Fit, told: Simulated | None) -> str:
    """An average poll that fits is not enough: one that takes a little longer is late, and the loop goes on."""
    if not fit.feasible:
        return "no"
    if fit.advised_records is not None and fit.records <= fit.advised_records:
        return "yes"
    return "tight" if told is None or told.late_share.high == 0 else "average"


def _calibration(answer: ReplayAnswer) -> Iterator[str]:
    real, before = answer.recorded, answer.before
    found = []
    if real.rebalances is not None:
        found.append(say("rebalances", replayed=round(before.rebalances.likely), recorded=real.rebalances))
    if real.final_lag is not None:
        found.append(say("lag", replayed=round(before.final_lag.likely), recorded=round(real.final_lag)))
    quality = "careful" if answer.after is not None or not answer.changes else "nothing"
    told = say("replay", known=found, quality="agrees" if answer.agrees else quality, error=answer.error_share)
    yield from row("CHECKED", told, 3)


def drain_screen(answer: DrainAnswer, tz: tzinfo = UTC) -> str:
    """Everything that whoever drains wants to read."""
    lines = [one for label, text in drain_rows(answer, tz) for one in row(label, text, 2)]
    return "\n".join(one.rstrip() for one in lines) + "\n"
