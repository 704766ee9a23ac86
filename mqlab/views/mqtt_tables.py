"""MQTT connections, sessions and messages as pandas tables, for the notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median, pstdev

import pandas as pd

from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.frames import whether
from mqlab.models.draining import bounded
from mqlab.models.mqtt import RESIDUAL
from mqlab.mqtt.chain import chains
from mqlab.mqtt.chain_stages import Stage
from mqlab.mqtt.connections import Connection, by_client
from mqlab.mqtt.explained import Explained, explained
from mqlab.mqtt.sessions import offline_sessions
from mqlab.mqtt.subscriptions import share_groups
from mqlab.shared.table import table
from mqlab.symptoms.change_points import risers
from mqlab.units import clock, duration, number, percent
from mqlab.words import listed, room

say, cell = room("chain"), room("mqtt-tables")

_MOST = 40
"""Client ids that are shown, those with most connections first."""


def busiest(facts: Facts, diagnosis: Diagnosis, wanted: str | None = None) -> str | None:
    """The client id that is *wanted*, else one that a finding is about, else that with most connections."""
    known = {client: sum(c.count for c in own) for (_, client), own in by_client(facts).items()}
    blamed = [finding.subject for finding in diagnosis.findings if finding.subject in known]
    if wanted is not None or blamed:
        return wanted if wanted is not None else blamed[0]
    return max(sorted(known), key=lambda client: known[client], default=None)


def peers(facts: Facts) -> pd.DataFrame:
    """One row per client id and broker: from how many addresses and ports it came, how long and how it stayed."""
    known = sorted(
        by_client(facts).items(), key=lambda one: (-sum(c.count for c in one[1]), one[0][1], one[0][0] or "")
    )
    return table(
        (_peer(client, broker, own) for (broker, client), own in known[:_MOST]),
        "client id|broker|connections|addresses|peers|lasted (median)|varies by|ended|keep-alive|session",
    )


def _peer(client: str, broker: str | None, own: Sequence[Connection]) -> Sequence[object]:
    lasted = [c.seconds for c in own if c.seconds is not None]
    ends = Counter(cell("ended", how=c.ended or None) for c in own if c.until is not None)
    most, sessions = sorted(ends.items(), key=lambda e: (-e[1], e[0])), {_session(c.persistent) for c in own} - {""}
    return (
        client,
        broker or "",
        sum(c.count for c in own),
        len({c.address for c in own if c.address}),
        len({c.peer for c in own if c.peer}),
        duration(median(lasted)) if lasted else "",
        _variation(lasted),
        listed((cell("times", what=how, times=str(count)) for how, count in most), ", "),
        ", ".join(map(duration, sorted({c.keep_alive for c in own if c.keep_alive is not None}))),
        cell("sessions", sessions=sorted(sessions)) if sessions else "",
    )


def _session(persistent: bool | None) -> str:
    return "" if persistent is None else cell("session", session="persistent" if persistent else "clean")


def _variation(lasted: Sequence[float]) -> str:
    """Standard deviation by mean, in percent, where there are lengths to compare."""
    mean = sum(lasted) / len(lasted) if lasted else 0.0
    return f"{100 * pstdev(lasted) / mean:.0f} %" if len(lasted) > 1 and mean > 0 else ""


def away(facts: Facts) -> pd.DataFrame:
    """One row per session that a broker keeps for a client that is away at the end of the material."""
    rows = (
        (
            one.client_id,
            one.broker or "",
            clock(one.since),
            cell("ended", how=(one.connection.ended if one.connection else None) or None),
            _known(one.queued),
            _known(one.dropped),
            next((place.place for place in one.evidence[::-1]), ""),
        )
        for one in offline_sessions(facts)
    )
    return table(rows, "client id|broker|away since|how it left|queued|dropped|line")


def shares(facts: Facts) -> pd.DataFrame:
    """One row per member of a share group: whether it is there, and what its queue holds."""
    away = {(o.broker, o.client_id): o for o in offline_sessions(facts)}
    by_id = {o.client_id: o for o in away.values()}
    rows = []
    for group in share_groups(facts):
        for member in group.members:
            off = away.get((group.broker, member.client_id)) or by_id.get(member.client_id)
            session = _session(member.session.persistent if member.session else None)
            queue = (clock(off.since), _known(off.queued), _known(off.dropped)) if off else ("", "", "")
            rows.append((group.name, group.filter, member.client_id, session, *queue, member.evidence.place))
    return table(rows, "share group|filter|member|session|away since|queued|dropped|line")


def worst(facts: Facts) -> Explained | None:
    """The receiver that lacks most messages."""
    return max(explained(facts), key=lambda one: (one.published - one.received, one.receiver), default=None)


def losses(facts: Facts) -> pd.DataFrame:
    """One row per receiver: published for it, received, and what explains the difference."""
    rows = []
    for one in explained(facts):
        known = [
            cell("step", step=step.name, messages=bounded(step.messages)) for step in one.steps if step.name != RESIDUAL
        ]
        numbers = map(number, (one.published, one.received, one.copies, one.published - one.received))
        rest = bounded(one.steps[-1].messages)
        rows.append((one.receiver, *numbers, listed(known, ", "), rest, ", ".join(one.unknown)))
    return table(rows, "receiver|published|received|duplicates|missing|why|unexplained|no ledger of")


def way(facts: Facts) -> pd.DataFrame:
    """One row per stage that messages reach one after the other, of each way through the material."""
    rows = []
    for chain in chains(facts):
        for stage in chain.stages:
            gaps = [gap for gap in chain.gaps if gap.after is stage.step]
            rest = listed((say("rest", where=gap.where, messages=gap.messages, who=gap.who) for gap in gaps), ", ")
            rows.append((say("step", step=stage.step), stage.who, _counted(stage), stage.how, rest))
    return table(rows, "stage|who|messages|how it is known|where the rest is")


def first_risers(facts: Facts) -> pd.DataFrame:
    """One row per quantity that left its own earlier level, the first one first."""
    rows = (
        (
            clock(one.since), clock(one.at), cell("quantity", quantity=one.quantity), one.who,
            cell("level", amount=f"{one.before:,.4g}", unit=one.unit),
            cell("level", amount=f"{one.after:,.4g}", unit=one.unit),
            "" if one.share is None else percent(one.share), whether(one.lasting), one.source,
        )
        for one in risers(facts)
    )  # fmt: skip
    return table(rows, "between|and|what|who|before|after|share|lasting|source")


def _counted(stage: Stage) -> str:
    apart = not stage.exact and stage.low is not None and stage.high is not None
    return cell("messages", messages=stage.messages, low=stage.low, high=stage.high, apart=apart)


def _known(count: int | None) -> str:
    return "" if count is None else number(count)
