"""What waits in each partition of a Kafka group, as a table for the notebook: Burrow's verdict and the age of it."""

from __future__ import annotations

import pandas as pd

from mqlab.facts import Facts
from mqlab.groups.lag_status import LagStatus, statuses
from mqlab.groups.queues import lag
from mqlab.models.time_lag import TimeLag
from mqlab.rebalances.view import RebalanceView
from mqlab.rocketmq.group_frames import table
from mqlab.units import clock, duration, number, percent

_NOTHING = "—"


def partitions(facts: Facts, view: RebalanceView) -> pd.DataFrame:
    """One row per partition of the group: Burrow's verdict, lag, and how long the next record has waited."""
    rows = [
        {
            "partition": f"{one.topic}-{one.partition}",
            "verdict": one.status.value,
            "since": clock(one.since),
            "commits known": percent(one.complete),
            "highest lag": number(max(map(lag, view.topics[one.topic][one.partition]))),
            "lag at the end": number(one.lag),
            "its next record waits": age(one.time_lag),
            "last seen in": _seen(view, one),
        }
        for one in (statuses(facts, view.group) if view.group else ())
        if one.partition in view.topics.get(one.topic, {})
    ]
    columns = (
        "partition", "verdict", "since", "commits known", "highest lag", "lag at the end", "its next record waits",
        "last seen in",
    )  # fmt: skip
    return table(rows, columns)


def age(known: TimeLag | None) -> str:
    """``25.0 s (20.0 s to 30.0 s)``, ``≥ 40.0 s``."""
    if known is None:
        return _NOTHING
    if known.likely is None or known.high is None:
        return f"≥ {duration(known.low)}"
    if known.high == 0:
        return "nothing waits"
    return f"{duration(known.likely)} ({duration(known.low)} to {duration(known.high)})"


def _seen(view: RebalanceView, one: LagStatus) -> str:
    last = view.topics[one.topic][one.partition][-1]
    return last.source if last.line is None else f"{last.source}:{last.line}"
