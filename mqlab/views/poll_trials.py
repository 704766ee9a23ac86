"""What if the settings of a Kafka group had been others? Replays of what was recorded, as tables for the notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import pandas as pd

from mqlab.facts import Facts
from mqlab.kafka.rows import Behind
from mqlab.models.draining import Interval
from mqlab.models.polling import ADVISED_MARGIN, largest_safe_records, smallest_safe_interval
from mqlab.scenarios.replay import Recorded, ReplayAnswer, Simulated, replay
from mqlab.scenarios.replay_changes import BadChangeError, changes
from mqlab.scenarios.replay_inputs import NoReplayError
from mqlab.shared.table import table
from mqlab.units import clock, digits, number, percent
from mqlab.views.kafka_group import Phase, RebalanceView

_COLUMNS = ("with", "rebalances", "longest poll", "polls too late", "lag at the end", "handed out twice")
_THREADS = 4
_SESSION_MS = 45_000
"""Default of session.timeout.ms since 3.0 (KIP-735)."""
_NOTHING = "—"


def answered(facts: Facts, view: RebalanceView, pairs: Sequence[str] = ()) -> ReplayAnswer | None:
    """The replay with these ``KEY=VALUE``; None where nobody fell out, or the material does not suffice for one."""
    if view.group is None or not troubled(view):
        return None
    try:
        return replay(facts, view.group, changes(pairs))
    except (NoReplayError, BadChangeError):
        return None


def troubled(view: RebalanceView) -> bool:
    """Members fell out of the group: something is to be repaired by settings."""
    fell_out = any(one.behind in (Behind.POLL_TIMEOUT, Behind.EXPIRY) for one in view.history)
    return fell_out or any(poll.late for poll in view.polls)


def trials(facts: Facts, view: RebalanceView) -> pd.DataFrame:
    """What was recorded, its replay, and replays with one setting changed at a time; empty without a replay."""
    first = answered(facts, view)
    if first is None:
        return table([], _COLUMNS)
    rows = list(_known(first))
    for pair in variants(view):
        found = answered(facts, view, (pair,))
        if found is not None and found.after is not None:
            rows.append(_told(found.changes, found.after))
    return table(rows, _COLUMNS)


def trial(found: ReplayAnswer | None) -> pd.DataFrame:
    """One replay beside what was recorded; empty without one."""
    if found is None:
        return table([], _COLUMNS)
    return table([*_known(found), *([_told(found.changes, found.after)] if found.after else [])], _COLUMNS)


def assumptions(facts: Facts, view: RebalanceView) -> pd.DataFrame:
    """What a replay takes for granted, and how far it is from the record; empty without one."""
    found = answered(facts, view)
    rows = [] if found is None else [{"replay": what, "told": said} for what, said in _assumed(found)]
    return table(rows, ("replay", "told"))


def variants(view: RebalanceView) -> tuple[str, ...]:
    """Settings that are worth a try: those that would have been enough, more threads, a longer session."""
    return tuple(dict.fromkeys(_variants(view)))


def _variants(view: RebalanceView) -> Iterator[str]:
    late = next((phase for phase in view.phases if any(poll.late for poll in phase.polls)), None)
    if late is not None and late.interval is not None:
        yield from _enough(late, late.interval)
        yield f"threads={_THREADS}"
    if any(one.behind is Behind.EXPIRY for one in view.history):
        yield f"session.timeout.ms={_SESSION_MS}"


def _enough(late: Phase, interval: float) -> Iterator[str]:
    each = late.work.record_seconds.p99
    for margin in (ADVISED_MARGIN, 0.0):
        most = largest_safe_records(interval, each, margin=margin)
        if most is not None:
            yield f"max.poll.records={most}"
    yield f"max.poll.interval.ms={ceil(1000 * smallest_safe_interval(late.records, each, margin=ADVISED_MARGIN))}"


def _known(found: ReplayAnswer) -> Iterator[dict[str, object]]:
    yield _recorded(found.recorded)
    yield _told("the replay of it", found.before)


def _recorded(known: Recorded) -> dict[str, object]:
    longest, late = known.longest_poll_seconds, known.late_share
    return {
        "with": "as it was recorded",
        "rebalances": _NOTHING if known.rebalances is None else number(known.rebalances),
        "longest poll": _NOTHING if longest is None else f"{digits(longest)} s",
        "polls too late": _NOTHING if late is None else percent(late),
        "lag at the end": _NOTHING if known.final_lag is None else number(round(known.final_lag)),
        "handed out twice": _NOTHING if known.repeated is None else number(known.repeated),
    }


def _told(name: str, told: Simulated) -> dict[str, object]:
    return {
        "with": name,
        "rebalances": _between(told.rebalances),
        "longest poll": f"{digits(told.longest_poll_seconds.likely)} s",
        "polls too late": percent(told.late_share.likely),
        "lag at the end": _between(told.final_lag),
        "handed out twice": _between(told.repeated),
    }


def _between(found: Interval) -> str:
    """``1,353 (1,103 to 1,603)``; bounds that agree are left out."""
    low, likely, high = (number(round(value)) for value in (found.low, found.likely, found.high))
    return likely if low == likely == high else f"{likely} ({low} to {high})"


def _assumed(found: ReplayAnswer) -> Iterator[tuple[str, str]]:
    yield "time", f"{clock(found.since)} to {clock(found.until)}" + (", until a change" if found.incident else "")
    how = "agrees with the record" if found.agrees else "does not agree with the record: take it with care"
    yield "as it was", f"{how}, off by {percent(found.error_share)}"
    for sentence in found.assumed:
        yield "assumed", sentence
