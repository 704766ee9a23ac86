"""Tables about polls: what was allowed, how long they took, and which settings would have been enough."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import pandas as pd

from mqlab.catalogue import INCIDENTS
from mqlab.frames import where
from mqlab.models.polling import ADVISED_MARGIN, largest_safe_records, share_over, smallest_safe_interval
from mqlab.rebalances.view import Phase, RebalanceView
from mqlab.rocketmq.group_frames import table
from mqlab.units import clock, digits, duration, number, percent

_NOTHING = "—"


def polls(view: RebalanceView) -> pd.DataFrame:
    """How long polls took, for each pair of settings that was in force; empty without lines of applications."""
    return table([_polls(phase) for phase in view.phases], ("time", *_COLUMNS))


_COLUMNS = (
    "may pass", "max.poll.records", "polls", "records", "one record, half", "one record, 99 %", "one poll, half",
    "one poll, 99 %", "too late", "longest",
)  # fmt: skip


def enough(view: RebalanceView) -> pd.DataFrame:
    """For each pair of settings: the records a poll may have, and the interval that its records need, at the 99 %.

    *Just enough* leaves nothing for a slow call or a pause; *with room* keeps half of the interval free.
    """
    return table([_enough(phase) for phase in view.phases if phase.interval is not None], ("time", *_ENOUGH))


_ENOUGH = (
    "set", "a full poll takes", "fits", "largest max.poll.records, just enough", "with room",
    "smallest max.poll.interval.ms, just enough", "with room ",
)  # fmt: skip


def actions(view: RebalanceView) -> pd.DataFrame:
    """What to do now, for good, and how to see that it worked; empty without a finding about the group."""
    finding = view.finding
    if finding is None:
        return table([], ("step", "what"))
    steps = (("now", finding.mitigate), ("fix", finding.remedy), ("verify", finding.verify))
    rows = [{"step": step, "what": what} for step, what in (*steps, *_commands(view)) if what]
    return table(rows, ("step", "what"))


def _commands(view: RebalanceView) -> Iterator[tuple[str, str]]:
    finding = view.finding
    known = INCIDENTS[finding.incident].commands if finding else ()
    for command in known:
        if command.system == "kafka" and "{file}" not in command.run:
            yield "command", command.run


def _polls(phase: Phase) -> dict[str, object]:
    longest = max((poll.batch for poll in phase.polls), key=lambda b: (b.longest_seconds, -b.at))
    share = share_over(phase.pairs, phase.interval) if phase.interval is not None else None
    each, whole = phase.work.record_seconds, phase.work.poll_seconds
    return {
        "time": _time(phase),
        "may pass": _NOTHING if phase.interval is None else duration(phase.interval),
        "max.poll.records": _NOTHING if phase.most_records is None else number(phase.most_records),
        "polls": number(phase.work.polls),
        "records": number(phase.work.records),
        "one record, half": f"{digits(each.p50 * 1000)} ms",
        "one record, 99 %": f"{digits(each.p99 * 1000)} ms",
        "one poll, half": f"{digits(whole.p50)} s",
        "one poll, 99 %": f"{digits(whole.p99)} s",
        "too late": _NOTHING if share is None else _late(phase, share),
        "longest": f"{digits(longest.longest_seconds)} s, {where(longest.evidence)}",
    }


def _late(phase: Phase, share: float) -> str:
    return f"{number(round(share * phase.work.polls))} ({percent(share)})" if share else "none"


def _enough(phase: Phase) -> dict[str, object]:
    each, interval = phase.work.record_seconds.p99, phase.interval or 0.0
    takes = phase.records * each
    return {
        "time": _time(phase),
        "set": f"{number(phase.records)} in {duration(interval)}",
        "a full poll takes": f"{digits(takes)} s",
        "fits": "yes" if takes < interval else "no",
        "largest max.poll.records, just enough": _most(interval, each, 0.0),
        "with room": _most(interval, each, ADVISED_MARGIN),
        "smallest max.poll.interval.ms, just enough": _least(phase, each, 0.0),
        "with room ": _least(phase, each, ADVISED_MARGIN),
    }


def _most(interval: float, each: float, margin: float) -> str:
    most = largest_safe_records(interval, each, margin=margin) if each > 0 else None
    return _NOTHING if most is None else number(most)


def _least(phase: Phase, each: float, margin: float) -> str:
    return number(ceil(1000 * smallest_safe_interval(phase.records, each, margin=margin)))


def _time(phase: Phase) -> str:
    first = phase.since
    return f"{clock(first)} to {clock(phase.until)}"
