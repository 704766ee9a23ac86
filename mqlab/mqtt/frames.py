"""MQTT connections and sessions as pandas tables, for the notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median, pstdev

import pandas as pd

from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.mqtt.connection import Connection
from mqlab.mqtt.lives import by_client
from mqlab.mqtt.offline import offline_sessions
from mqlab.units import clock, duration, number

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
    return _frame((_peer(client, broker, own) for (broker, client), own in known[:_MOST]), _PEERS)


def away(facts: Facts) -> pd.DataFrame:
    """One row per session that a broker keeps for a client that is away at the end of the material."""
    rows = (
        {
            "client id": one.client_id,
            "broker": one.broker or "",
            "away since": clock(one.since),
            "how it left": (one.connection.ended if one.connection else None) or "not told",
            "queued": "" if one.queued is None else number(one.queued),
            "dropped": "" if one.dropped is None else number(one.dropped),
            "line": next((f"{e.source}:{e.line}" for e in one.evidence[::-1]), ""),
        }
        for one in offline_sessions(facts)
    )
    return _frame(rows, _AWAY)


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


def _frame(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> pd.DataFrame:
    """The first column is the index, so that no running number is shown."""
    frame = pd.DataFrame(list(rows), columns=list(columns)).set_index(columns[0])
    return frame.rename_axis(index=None, columns=columns[0])
