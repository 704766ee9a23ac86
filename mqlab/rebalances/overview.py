"""The consumer groups of Kafka that the material tells of, and one of them in a few lines, as tables."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from mqlab.facts import Facts
from mqlab.kafka.lives import lives
from mqlab.rebalances.choice import positions, told_of
from mqlab.rebalances.frames import NOTHING, amount, counted, total
from mqlab.rebalances.history import history, standstills
from mqlab.rebalances.view import RebalanceView, peak_lag
from mqlab.rocketmq.group_frames import table
from mqlab.units import clock, duration, number, percent


def groups(facts: Facts) -> pd.DataFrame:
    """One row per consumer group of the material: members, rebalances and what was behind them, highest lag."""
    rows = [
        {
            "group": group,
            "members": number(len({life.client_id for life in lives(facts, group)}))
            if lives(facts, group)
            else NOTHING,
            "rebalances": number(len(history(facts, group))),
            "behind them": counted(one.behind for one in history(facts, group)) or NOTHING,
            "topics": ", ".join(positions(facts, group)) or NOTHING,
            "highest lag": amount(peak_lag(positions(facts, group))),
        }
        for group in told_of(facts)
    ]
    return table(rows, ("group", "members", "rebalances", "behind them", "topics", "highest lag"))


def overview(view: RebalanceView) -> pd.DataFrame:
    """The group that is looked at, in a few lines."""
    return table([{"question": asked, "answer": told} for asked, told in _overview(view)], ("question", "answer"))


def _overview(view: RebalanceView) -> Iterator[tuple[str, str]]:
    if view.group is None:
        yield "group", "this material names no consumer group of Kafka"
        return
    yield "group", view.group
    yield "topics", ", ".join(view.topics) or "none that the material names"
    clients = sorted({life.client_id for life in view.lives})
    yield "members", f"{len(clients)}: {', '.join(clients[:8])}" if clients else "nobody is named"
    if view.history:
        yield (
            "rebalances",
            f"{len(view.history)}, {clock(view.history[0].started)} to {clock(view.history[-1].started)}",
        )
        yield "behind them", counted(one.behind for one in view.history)
        yield from _standstill(view)
    else:
        yield "rebalances", "none in this material"
    late, polled = sum(poll.late for poll in view.polls), sum(poll.batch.polls for poll in view.polls)
    if polled:
        yield "polls that were too late", f"{number(late)} of {number(polled)} ({percent(late / polled)})"
    yield "highest lag", amount(peak_lag(view.topics))


def _standstill(view: RebalanceView) -> Iterator[tuple[str, str]]:
    stood, window = sum(end - since for since, end in standstills(view.history)), view.window
    if stood and window is not None and window[1] > window[0]:
        of = f" of {duration(window[1] - window[0])} ({percent(min(1.0, stood / (window[1] - window[0])))})"
        yield "stood still for them", f"{duration(stood)}{of}"
    repeated = total(one.repeated for one in view.history)
    if repeated is not None:
        yield "records handed out twice", number(repeated)
