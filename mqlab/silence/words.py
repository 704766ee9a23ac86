"""What is said about members that were expelled: who, after how long a silence, why, and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mqlab import units
from mqlab.findings import Evidence
from mqlab.kafka.coordinator_words import once
from mqlab.kafka.trigger_words import triggers
from mqlab.rebalances.rows import Behind, Rebalance
from mqlab.silence.case import Expiry
from mqlab.silence.causes import Cause, Kind
from mqlab.units import counted

_SHOWN = 4
_REMEDY = {
    Kind.PAUSE: "Heap and collector so that no pause comes near session.timeout.ms.",
    Kind.NETWORK: "Repair the way between the member and the coordinator: the member itself worked on.",
    Kind.DEATH: "Find why the process died: its last lines, the kernel's log, the limits of its container.",
    Kind.FROZEN: "Find what stopped the process: pauses of the machine, CPU limits, collections (write a GC log).",
    Kind.UNKNOWN: "Find what the process did in the session timeout before it was expelled.",
}


@dataclass(frozen=True, slots=True)
class Told:
    """All expulsions of one group, each with its cause."""

    group: str
    each: tuple[tuple[Expiry, Cause], ...]
    rebalances: tuple[Rebalance, ...]
    """Those that came of them."""
    repeated: int
    """Times that a record was handled again after them, by the ledgers."""
    ongoing: bool

    @property
    def since(self) -> float:
        """When the first silence began, at the latest."""
        return min(_begin(one) for one, _ in self.each)

    @property
    def until(self) -> float:
        """When the last one was over, as far as it is told."""
        return max(one.silence.until if one.silence and one.silence.until else one.at for one, _ in self.each)

    @property
    def kind(self) -> Kind:
        """The most frequent cause."""
        return min(Counter(c.kind for _, c in self.each).items(), key=lambda item: (-item[1], item[0]))[0]

    @property
    def timeout(self) -> float | None:
        """Session timeout of the first."""
        return self.each[0][0].timeout


def _begin(one: Expiry) -> float:
    if one.silence is not None:
        return max(one.silence.since, one.at - 2 * (one.timeout or 0.0))
    return one.at - (one.timeout or 0.0)


def statement(told: Told) -> str:
    """Two sentences: who was expelled and why, and what came of it."""
    often = Counter(one.client_id for one, _ in told.each)
    who = ", ".join(f"{client} {counted(count, 'time')}" for client, count in sorted(often.items()))
    if len(often) > _SHOWN:
        who = f"{len(often)} members {counted(len(told.each), 'time')}"
    after = f" ({units.duration(told.timeout)})" if told.timeout else ""
    cause = min((c for _, c in told.each if c.kind is told.kind), key=lambda c: (-(c.seconds or 0.0), c.told))
    came = counted(len(told.rebalances), "rebalance") if told.rebalances else "rebalances"
    again = f" and {counted(told.repeated, 'record')} handled again" if told.repeated else ""
    return (
        f"The coordinator of {told.group} expelled {who}, having heard nothing for session.timeout.ms{after}: "
        f"{cause.told}. It cost {came}{again}."
    )


def measures(told: Told) -> dict[str, float]:
    """The numbers of the finding."""
    silent = [seconds for _, cause in told.each if (seconds := cause.seconds) is not None]
    found = {
        "members": float(len({one.client_id for one, _ in told.each})),
        "expired_members": float(len(told.each)),
        "rebalances": float(len(told.rebalances)),
    }
    if told.repeated:
        found["duplicated_records"] = float(told.repeated)
    if told.timeout is not None:
        found["session_timeout_seconds"] = told.timeout
    if silent:
        found["silent_seconds"] = max(silent)
    return found


def evidence(told: Told) -> tuple[Evidence, ...]:
    """The first expulsion as coordinator and client tell of it, what shows its cause; then the others."""
    found = [place for one, cause in told.each[:_SHOWN] for place in (*one.evidence, *one.after, *cause.evidence)]
    return once(Evidence(e.source, e.line, e.text, e.why or "a member is expelled", e.pointer) for e in found)


def remedy(told: Told) -> str:
    """What helps against the cause, and which timeout would have been enough."""
    paused = [c.seconds for _, c in told.each if c.kind in (Kind.PAUSE, Kind.FROZEN) and c.seconds is not None]
    silent = max(paused) if paused and told.kind in (Kind.PAUSE, Kind.FROZEN) else None
    enough = f" session.timeout.ms above {units.duration(silent)} would have covered it." if silent else ""
    return _REMEDY[told.kind] + enough


def remarks(told: Told) -> dict[str, str]:
    """Short words for the screen: what is behind it, who it is, what made the group rebalance."""
    own = [row for row in told.rebalances if row.behind in (Behind.EXPIRY, Behind.CRASH)]
    found = {
        "cause": causes(told.each),
        "members": ", ".join(sorted({one.client_id for one, _ in told.each})),
        "triggers": triggers(told.rebalances, own, "expulsion"),
    }
    return {name: words for name, words in found.items() if words}


def causes(each: Sequence[tuple[Expiry, Cause]]) -> str:
    """Kinds of causes and how often, for the screen."""
    counted = Counter(cause.kind.value for _, cause in each)
    return ", ".join(f"{kind} {count}×" if count > 1 else kind for kind, count in sorted(counted.items()))
