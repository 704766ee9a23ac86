"""The replay of a consumer group as one screen: what was, what would have been, and what that is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, tzinfo

from mqlab.models.courses import Interval
from mqlab.replay.answer import Answer, Fit, Told
from mqlab.screens.rows import line, row, safe
from mqlab.units import counted, digits, duration, number, percent

_NAME, _RECORDED, _COLUMN = 24, 14, 34
_SMALL = 0.001


def whatif_screen(answer: Answer, tz: tzinfo = UTC) -> str:
    """Everything that whoever changes a setting wants to read."""
    lines = [_headline(answer, tz), *_table(answer), *_feasible(answer), *_calibration(answer)]
    for place, sentence in enumerate(answer.assumed):
        lines += row("" if place else "ASSUMED", sentence, 3)
    return "\n".join(one.rstrip() for one in lines) + "\n"


def _headline(answer: Answer, tz: tzinfo) -> str:
    what = f"with {safe(answer.changes)}" if answer.changes else "as it was"
    begin, end = (f"{datetime.fromtimestamp(at, tz):%H:%M:%S}" for at in (answer.since, answer.until))
    why = "the incident" if answer.incident else "the time"
    return f"WHAT IF  group {safe(answer.group)} {what}, {why} from {begin} to {end}"


def _table(answer: Answer) -> Iterator[str]:
    real, before, after = answer.recorded, answer.before, answer.after
    heads = ("", "recorded", "replayed as it was", *(("with the change",) if after else ()))
    yield line("", _cells(*heads))
    yield line("", _cells("rebalances", _known(real.rebalances, number), *_both(before, after, _rebalances)))
    yield line("", _cells("longest poll", _known(real.longest_poll_seconds, duration), *_both(before, after, _longest)))
    yield line("", _cells("polls over the interval", _known(real.late_share, _share), *_both(before, after, _late)))
    yield line("", _cells("lag at the end", _known(real.final_lag, _count), *_both(before, after, _lag)))
    yield line("", _cells("records handed out again", _known(real.repeated, number), *_both(before, after, _repeated)))


def _cells(name: str, *cells: str) -> str:
    recorded, *replayed = cells
    return f"{name:<{_NAME}}{recorded:>{_RECORDED}}" + "".join(f"{cell:>{_COLUMN}}" for cell in replayed)


def _both(before: Told, after: Told | None, cell: Callable[[Told], str]) -> Iterator[str]:
    yield cell(before)
    if after is not None:
        yield cell(after)


def _known(value: float | None, told: Callable[[float], str]) -> str:
    return "not known" if value is None else told(value)


def _rebalances(told: Told) -> str:
    return _bounds(told.rebalances, _count)


def _longest(told: Told) -> str:
    return _bounds(told.longest_poll_seconds, duration)


def _late(told: Told) -> str:
    return _share(told.late_share.likely)


def _share(value: float) -> str:
    return f"under {percent(_SMALL)}" if 0 < value < _SMALL else percent(value)


def _lag(told: Told) -> str:
    return _bounds(told.final_lag, _count)


def _repeated(told: Told) -> str:
    return _bounds(told.repeated, _count)


def _count(value: float) -> str:
    return number(round(value))


def _bounds(interval: Interval, told: Callable[[float], str]) -> str:
    low, likely, high = (told(value) for value in (interval.low, interval.likely, interval.high))
    return likely if low == high else f"{likely} ({low} to {high})"


def _feasible(answer: Answer) -> Iterator[str]:
    if answer.changes:
        yield from row("BEFORE", _fits(answer.fit_before, answer.before), 3)
        yield from row("AFTER", _fits(answer.fit_after, answer.after), 3)
    else:
        yield from row("FITS", _fits(answer.fit_before, answer.before), 3)


def _fits(fit: Fit, told: Told | None) -> str:
    poll = f"{counted(fit.records, 'record')} x {digits(fit.record_seconds * 1000)} ms"
    poll += f" / {fit.threads} threads" if fit.threads > 1 else ""
    interval = f"of {duration(fit.interval_seconds)} between polls"
    speed = f"{digits(fit.capacity_per_second)}/s can be handled, {digits(fit.arriving_per_second)}/s come in"
    behind = "" if fit.capacity_per_second >= fit.arriving_per_second else ": lag grows whatever the polls do"
    return f"{poll} = {duration(fit.poll_seconds)} {interval}: {_verdict(fit, told)}, {_advice(fit)}; {speed}{behind}"


def _verdict(fit: Fit, told: Told | None) -> str:
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
    verb = "is" if fit.largest_safe_records == 1 else "are"
    most = f"{counted(fit.largest_safe_records, 'record')} {verb} just enough"
    return most if fit.advised_records is None else f"{most}, {number(fit.advised_records)} leave room for slow polls"


def _calibration(answer: Answer) -> Iterator[str]:
    real, before = answer.recorded, answer.before
    found = []
    if real.rebalances is not None:
        verb = "was" if real.rebalances == 1 else "were"
        found.append(
            f"{counted(round(before.rebalances.likely), 'rebalance')} where {number(real.rebalances)} {verb} recorded"
        )
    if real.final_lag is not None:
        found.append(f"lag {_count(before.final_lag.likely)} where {_count(real.final_lag)}")
    told = f"replay of what was: {', '.join(found) or 'neither rebalances nor lag at the end are recorded'}"
    if answer.agrees:
        told += ": agrees"
    elif answer.after is not None or not answer.changes:
        told += f": off by {percent(answer.error_share)}, so what it says of other settings is not worth much"
    else:
        told += f": off by {percent(answer.error_share)}, so it says nothing of other settings"
    yield from row("CHECKED", told, 3)
