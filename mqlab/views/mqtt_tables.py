"""MQTT connections, sessions and messages as pandas tables, for the notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median, pstdev

import pandas as pd

from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
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

_MOST = 40
"""Client ids that are shown, those with most connections first."""
_PEERS = (
    "client id", "broker", "connections", "addresses", "peers", "lasted (median)", "varies by", "ended", "keep-alive",
    "session",
)  # fmt: skip
_AWAY = ("client id", "broker", "away since", "how it left", "queued", "dropped", "line")


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
    return table((_peer(client, broker, own) for (broker, client), own in known[:_MOST]), _PEERS)


def away(facts: Facts) -> pd.DataFrame:
    """One row per session that a broker keeps for a client that is away at the end of the material."""
    rows = (
        {
            "client id": one.client_id,
            "broker": one.broker or "",
            "away since": clock(one.since),
            "how it left": (one.connection.ended if one.connection else None) or "not told",
            "queued": _known(one.queued),
            "dropped": _known(one.dropped),
            "line": next((f"{e.source}:{e.line}" for e in one.evidence[::-1]), ""),
        }
        for one in offline_sessions(facts)
    )
    return table(rows, _AWAY)


def _peer(client: str, broker: str | None, own: Sequence[Connection]) -> Mapping[str, object]:
    lasted = [c.seconds for c in own if c.seconds is not None]
    ends = Counter(c.ended or "not told" for c in own if c.until is not None)
    kept = {c.keep_alive for c in own if c.keep_alive is not None}
    known = {c.persistent for c in own} - {None}
    return {
        "client id": client,
        "broker": broker or "",
        "connections": sum(c.count for c in own),
        "addresses": len({c.address for c in own if c.address}),
        "peers": len({c.peer for c in own if c.peer}),
        "lasted (median)": duration(median(lasted)) if lasted else "",
        "varies by": _variation(lasted),
        "ended": ", ".join(f"{how} {count}" for how, count in sorted(ends.items(), key=lambda e: (-e[1], e[0]))),
        "keep-alive": ", ".join(duration(seconds) for seconds in sorted(kept)),
        "session": " and ".join(sorted("persistent" if one else "clean" for one in known)),
    }


def _variation(lasted: Sequence[float]) -> str:
    """Standard deviation by mean, in percent, where there are lengths to compare."""
    mean = sum(lasted) / len(lasted) if lasted else 0.0
    return f"{100 * pstdev(lasted) / mean:.0f} %" if len(lasted) > 1 and mean > 0 else ""


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
    return table(rows, _SHARES)


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
    return table(rows, _LOST)


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
    return table(rows, _WAY)


def first_risers(facts: Facts) -> pd.DataFrame:
    """One row per quantity that left its own earlier level, the first one first."""
    return table(
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
