"""Tables about one consumer group of Kafka for the notebook: its rebalances, what was behind them, what waited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd

from mqlab.frames import where
from mqlab.rebalances.rows import Behind, End, Rebalance, Trigger
from mqlab.rebalances.view import RebalanceView
from mqlab.rocketmq.group_frames import table
from mqlab.units import clock, digits, number

NOTHING = "—"
_MOST = 400
"""Rebalances that are listed; beyond, the first and the last."""


def triggers(view: RebalanceView) -> pd.DataFrame:
    """How many rebalances each trigger made and what was behind it, the most frequent first."""
    kinds = Counter((one.trigger, one.behind) for one in view.history)
    rows = []
    for (trigger, behind), times in sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0])):
        own = [one for one in view.history if (one.trigger, one.behind) == (trigger, behind)]
        rows.append(
            {
                "trigger": trigger.value,
                "behind it": _behind(trigger, behind),
                "rebalances": times,
                "inferred": sum(one.inferred for one in own),
                "who": counted(one.client_id or "unknown" for one in own),
                "stood still": _seconds(total(one.standstill for one in own)),
                "handed out twice": amount(total(one.repeated for one in own)),
            }
        )
    columns = ("trigger", "behind it", "rebalances", "inferred", "who", "stood still", "handed out twice")
    return table(rows, columns)


def rebalances(view: RebalanceView) -> pd.DataFrame:
    """One row per rebalance: when, why and by whom it began, and what it cost. Inferred triggers are marked."""
    shown = view.history if len(view.history) <= _MOST else (*view.history[: _MOST // 2], *view.history[-_MOST // 2 :])
    columns = (
        "UTC", "generation", "trigger", "behind it", "member", "how it is known", "members", "moved", "stood still",
        "delayed", "twice",
    )  # fmt: skip
    return table([_rebalance(one) for one in shown], columns)


def ends(view: RebalanceView) -> pd.DataFrame:
    """One row per member: how often it came, and how its lives ended."""
    rows = []
    for client, host in sorted({(life.client_id, view.host(life)) for life in view.lives}):
        own = [life for life in view.lives if (life.client_id, view.host(life)) == (client, host)]
        bad = next((life for life in own if life.end not in (End.LEFT, End.OPEN)), own[0])
        rows.append(
            {
                "member": client,
                "host": host or NOTHING,
                "came": len(own),
                "its lives ended": counted(life.end for life in own),
                "static": "yes" if own[-1].static else "no",
                "for example": where(bad.evidence[0]) if bad.evidence else NOTHING,
            }
        )
    return table(rows, ("member", "host", "came", "its lives ended", "static", "for example"))


def counted(words: Iterator[str] | Sequence[str]) -> str:
    """``join 7, poll timeout 6``: the most frequent first."""
    return ", ".join(f"{word} {n}" for word, n in sorted(Counter(words).items(), key=lambda one: (-one[1], one[0])))


def _rebalance(one: Rebalance) -> dict[str, object]:
    return {
        "UTC": clock(one.started),
        "generation": NOTHING if one.generation is None else one.generation,
        "trigger": one.trigger.value,
        "behind it": _behind(one.trigger, one.behind),
        "member": " at ".join(filter(None, (one.client_id, one.host))) or NOTHING,
        "how it is known": _known(one),
        "members": f"{amount(one.members_before)} → {amount(one.members_after)}",
        "moved": amount(one.moved),
        "stood still": _seconds(one.standstill),
        "delayed": amount(one.delayed),
        "twice": amount(one.repeated),
    }


def _known(one: Rebalance) -> str:
    """``inferred: its process stopped, logs/server.log:935``."""
    how = f"inferred: {one.because}" if one.inferred else one.because or "the line says so"
    return ", ".join([how, *[where(line) for line in one.evidence[:1]]])


def _behind(trigger: Trigger, behind: Behind) -> str:
    """Nothing where it says what the trigger says already."""
    return NOTHING if behind.value in (trigger.value, Behind.UNKNOWN.value) else behind.value


def total(values: Iterator[float | None]) -> float | None:
    """None where none of them is known."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def amount(value: float | None) -> str:
    """A number, or a dash where it is not known."""
    return NOTHING if value is None else number(value)


def _seconds(value: float | None) -> str:
    return NOTHING if value is None else f"{digits(value)} s"
