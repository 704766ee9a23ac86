"""MQTT messages as pandas tables: share groups, what receivers lack, ways over bridges, what changed first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from mqlab.bridging.chain import chains
from mqlab.bridging.rows import Stage
from mqlab.facts import Facts
from mqlab.figures.message_funnel import bounded
from mqlab.models.received_count import RESIDUAL
from mqlab.mqtt.explained import Explained, explained
from mqlab.mqtt.offline import offline_sessions
from mqlab.mqtt.share_groups import share_groups
from mqlab.risers.order import risers
from mqlab.units import clock, number, percent

_SHARES = ("share group", "filter", "member", "session", "away since", "queued", "dropped", "line")
_LOST = ("receiver", "published", "received", "again", "missing", "why", "unexplained", "nothing told of")
_WAY = ("stage", "who", "messages", "how it is known", "where the rest is")
_RISERS = ("between", "and", "what", "who", "before", "after", "share", "lasting", "source")


def shares(facts: Facts) -> pd.DataFrame:
    """One row per member of a share group: whether it is there, and what its queue holds."""
    away = {(o.broker, o.client_id): o for o in offline_sessions(facts)}
    by_id = {o.client_id: o for o in away.values()}
    rows = []
    for group in share_groups(facts):
        for member in group.members:
            off = away.get((group.broker, member.client_id)) or by_id.get(member.client_id)
            persistent = member.session.persistent if member.session else None
            rows.append({
                "share group": group.name, "filter": group.filter, "member": member.client_id,
                "session": "" if persistent is None else "persistent" if persistent else "clean",
                "away since": clock(off.since) if off else "",
                "queued": _known(off.queued if off else None), "dropped": _known(off.dropped if off else None),
                "line": f"{member.evidence.source}:{member.evidence.line}",
            })  # fmt: skip
    return _frame(rows, _SHARES)


def worst(facts: Facts) -> Explained | None:
    """The receiver that lacks most messages."""
    return max(explained(facts), key=lambda one: (one.published - one.received, one.receiver), default=None)


def losses(facts: Facts) -> pd.DataFrame:
    """One row per receiver: published for it, received, and what explains the difference."""
    rows = []
    for one in explained(facts):
        known = [f"{step.name} {bounded(step.messages)}" for step in one.steps if step.name != RESIDUAL]
        rest = one.steps[-1].messages
        rows.append({
            "receiver": one.receiver, "published": number(one.published), "received": number(one.received),
            "again": number(one.copies), "missing": number(one.published - one.received), "why": ", ".join(known),
            "unexplained": bounded(rest), "nothing told of": ", ".join(one.unknown),
        })  # fmt: skip
    return _frame(rows, _LOST)


def way(facts: Facts) -> pd.DataFrame:
    """One row per stage that messages reach one after the other, of each way through the material."""
    rows = []
    for chain in chains(facts):
        for stage in chain.stages:
            rest = [
                f"{number(g.messages)} {g.where.value} {g.who}".strip() for g in chain.gaps if g.after is stage.step
            ]
            rows.append({
                "stage": stage.step.value, "who": stage.who, "messages": _counted(stage),
                "how it is known": stage.how, "where the rest is": ", ".join(rest),
            })  # fmt: skip
    return _frame(rows, _WAY)


def first_risers(facts: Facts) -> pd.DataFrame:
    """One row per quantity that left its own earlier level, the first one first."""
    return _frame(
        (
            {
                "between": clock(one.since), "and": clock(one.at), "what": one.quantity, "who": one.who,
                "before": f"{one.before:,.4g} {one.unit}", "after": f"{one.after:,.4g} {one.unit}",
                "share": "" if one.share is None else percent(one.share),
                "lasting": "yes" if one.lasting else "no", "source": one.source,
            }
            for one in risers(facts)
        ),
        _RISERS,
    )  # fmt: skip


def _counted(stage: Stage) -> str:
    if stage.messages is None:
        return "not told"
    told = number(stage.messages)
    if stage.exact or stage.low is None or stage.high is None:
        return told
    return f"{told} ({number(stage.low)} to {number(stage.high)})"


def _known(count: int | None) -> str:
    return "" if count is None else number(count)


def _frame(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> pd.DataFrame:
    """The first column is the index, so that no running number is shown."""
    frame = pd.DataFrame(list(rows), columns=list(columns)).set_index(columns[0])
    return frame.rename_axis(index=None, columns=columns[0])
