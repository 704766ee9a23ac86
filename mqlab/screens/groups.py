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
from mqlab.units import counted, digits, duration, number, percent
from mqlab.views.scenarios import drain_rows

_HEAD = ("at", "gen", "trigger", "behind it", "client", "members", "moved", "still", "delayed", "repeated")
_WIDE = 28
"""Characters of a client's name."""


def rebalances_screen(histories: Sequence[tuple[str, Sequence[Rebalance]]], tz: tzinfo = UTC) -> str:
    """Every group with its rebalances; an asterisk marks what is concluded and not told by the line itself."""
    lines = [line for group, rows in histories for line in _group(group, rows, tz)]
    return "\n".join(line.rstrip() for line in lines or ["This material names no consumer group of Kafka."]) + "\n"


def _group(group: str, rows: Sequence[Rebalance], tz: tzinfo) -> Iterator[str]:
    still = sum(end - since for since, end in standstills(rows))
    counts = ", ".join(f"{count} {what}" for what, count in sorted(Counter(str(r.behind) for r in rows).items()))
    told = counted(len(rows), "rebalance") + (f", {duration(still)} of standstill" if still else "")
    yield labelled("GROUP") + said(f"{safe(group)}: {told}{f'; behind them: {counts}' if counts else ''}")
    yield from columns([_HEAD, *(_cells(row, tz) for row in rows)], left=(0, 2, 3, 4)) if rows else ()


def _cells(row: Rebalance, tz: tzinfo) -> tuple[str, ...]:
    return (
        f"{datetime.fromtimestamp(row.started, tz):%H:%M:%S}",
        _count(row.generation),
        f"{row.trigger}{'*' if row.inferred else ''}",
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
    what = f"with {safe(answer.changes)}" if answer.changes else "as it was"
    begin, end = (f"{datetime.fromtimestamp(at, tz):%H:%M:%S}" for at in (answer.since, answer.until))
    why = "the incident" if answer.incident else "the time"
    return f"WHAT IF  group {safe(answer.group)} {what}, {why} from {begin} to {end}"


def _table(answer: ReplayAnswer) -> Iterator[str]:
    real, replayed = answer.recorded, [told for told in (answer.before, answer.after) if told is not None]
    rows: tuple[tuple[str, float | None, Callable[[float], str], Callable[[Simulated], str]], ...] = (
        ("rebalances", real.rebalances, number, lambda told: told.rebalances.words(_whole)),
        ("longest poll", real.longest_poll_seconds, duration, lambda told: told.longest_poll_seconds.words(duration)),
        ("polls over the interval", real.late_share, _share, lambda told: _share(told.late_share.likely)),
        ("lag at the end", real.final_lag, _whole, lambda told: told.final_lag.words(_whole)),
        ("different records handled more than once", real.repeated, number, lambda told: told.repeated.words(_whole)),
    )
    heads = ("replayed as it was", "with the change")[: len(replayed)]
    cells = [("", "recorded", *heads)]
    for name, value, cell, column in rows:
        cells.append((name, "not known" if value is None else cell(value), *map(column, replayed)))
    yield from columns(cells, left=(0,))


def _share(value: float) -> str:
    return f"under {percent(_SMALL)}" if 0 < value < _SMALL else percent(value)


def _whole(value: float) -> str:
    return number(round(value))


def _feasible(answer: ReplayAnswer) -> Iterator[str]:
    if answer.changes:
        yield from row("BEFORE", _fits(answer.fit_before, answer.before), 3)
        yield from row("AFTER", _fits(answer.fit_after, answer.after), 3)
    else:
        yield from row("FITS", _fits(answer.fit_before, answer.before), 3)


def _fits(fit: Fit, told: Simulated | None) -> str:
    poll = f"{counted(fit.records, 'record')} x {digits(fit.record_seconds * 1000)} ms"
    poll += f" / {fit.threads} threads" if fit.threads > 1 else ""
    interval = f"of {duration(fit.interval_seconds)} between polls"
    speed = f"{digits(fit.capacity_per_second)}/s can be handled, {digits(fit.arriving_per_second)}/s come in"
    behind = "" if fit.capacity_per_second >= fit.arriving_per_second else ": lag grows whatever the polls do"
    return f"{poll} = {duration(fit.poll_seconds)} {interval}: {_verdict(fit, told)}, {_advice(fit)}; {speed}{behind}"


def _verdict(fit: Fit, told: Simulated | None) -> str:
    """An average poll that fits is not enough: one that takes a little longer is late, and the loop goes on."""
    if not fit.feasible:
        return "does not fit"
    if fit.advised_records is not None and fit.records <= fit.advised_records:
        return "fits"
    if told is None or told.late_share.high == 0:
        return "fits with little room"
    return f"fits on average only, polls take up to {duration(told.longest_poll_seconds.high)}"


def _advice(fit: Fit) -> str:
    if fit.largest_safe_records is None:
        return "not even one record fits"
    many = fit.largest_safe_records
    most = f"{counted(many, 'record')} {'is' if many == 1 else 'are'} just enough"
    return most if fit.advised_records is None else f"{most}, {number(fit.advised_records)} leave room for slow polls"


def _calibration(answer: ReplayAnswer) -> Iterator[str]:
    real, before = answer.recorded, answer.before
    found = []
    if real.rebalances is not None:
        replayed, many = counted(round(before.rebalances.likely), "rebalance"), number(real.rebalances)
        found.append(f"{replayed} where {many} {'was' if real.rebalances == 1 else 'were'} recorded")
    if real.final_lag is not None:
        found.append(f"lag {_whole(before.final_lag.likely)} where {_whole(real.final_lag)}")
    told = f"replay of what was: {', '.join(found) or 'neither rebalances nor the lag at the end were recorded'}"
    if answer.agrees:
        told += ": agrees"
    elif answer.after is not None or not answer.changes:
        told += f": off by {percent(answer.error_share)}, so take what it says of other settings with care"
    else:
        told += f": off by {percent(answer.error_share)}, so it says nothing about other settings"
    yield from row("CHECKED", told, 3)


def drain_screen(answer: DrainAnswer, tz: tzinfo = UTC) -> str:
    """Everything that whoever drains wants to read."""
    lines = [one for label, text in drain_rows(answer, tz) for one in row(label, text, 2)]
    return "\n".join(one.rstrip() for one in lines) + "\n"
