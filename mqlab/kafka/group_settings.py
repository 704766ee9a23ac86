"""What the clients of a Kafka group and its brokers were set to, as a table: who with which value, since when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from mqlab.facts import Facts, Setting
from mqlab.frames import where
from mqlab.rebalances.view import RebalanceView
from mqlab.rocketmq.group_frames import table
from mqlab.units import clock

_KEYS: Mapping[str, tuple[str, ...]] = {
    "consumer": (
        "max.poll.interval.ms", "max.poll.records", "session.timeout.ms", "heartbeat.interval.ms",
        "partition.assignment.strategy", "group.protocol", "group.instance.id", "enable.auto.commit",
        "auto.commit.interval.ms",
    ),
    "broker": (
        "group.initial.rebalance.delay.ms", "group.min.session.timeout.ms", "group.max.session.timeout.ms",
        "group.consumer.session.timeout.ms", "group.consumer.heartbeat.interval.ms",
    ),
}  # fmt: skip
"""What decides how long a group waits for a member."""
_UNSET = ("null", "", "[]")
_COLUMNS = ("key", "value", "of", "since", "known from", "where")


def settings(facts: Facts, view: RebalanceView) -> pd.DataFrame:
    """One row per value of each setting, with all that had it; what nobody set is left out."""
    members = {life.client_id for life in view.lives} | {poll.batch.client_id for poll in view.polls}
    alike: dict[tuple[str, str, str], list[Setting]] = {}
    for one in sorted(facts.settings, key=_order):
        wanted = one.key in _KEYS.get(one.scope, ()) and one.value not in _UNSET
        if wanted and (one.scope == "broker" or one.owner in members):
            alike.setdefault((one.scope, one.key, one.value), []).append(one)
    ordered = sorted(alike.items(), key=lambda row: _place(*row[0][:2]))
    return table([_row(same) for _, same in ordered], _COLUMNS)


def _row(same: Sequence[Setting]) -> dict[str, object]:
    first = same[0]
    return {
        "key": first.key,
        "value": first.value.replace("org.apache.kafka.clients.consumer.", "").replace("class ", "").strip("[]"),
        "of": f"{first.scope} {', '.join(sorted({one.owner for one in same if one.owner}))}".strip(),
        "since": clock(first.at),
        "known from": first.origin,
        "where": where(first.evidence) + (f" and {len(same) - 1} more" if len(same) > 1 else ""),
    }


def _order(one: Setting) -> tuple[bool, float, str, int]:
    return (one.at is None, one.at or 0.0, one.source, one.line or 0)


def _place(scope: str, key: str) -> tuple[int, int]:
    return list(_KEYS).index(scope), _KEYS[scope].index(key)
