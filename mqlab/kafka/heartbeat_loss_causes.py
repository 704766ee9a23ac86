"""Why the coordinator heard nothing from a member, and how that is said.

Why the coordinator heard nothing from a member: its process stood still or died, or the network was cut.

What is said about members that were expelled: who, after how long a silence, why, and what it cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mqlab import units
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.kafka import log_lines, poll_limits
from mqlab.kafka.groups import once, triggers
from mqlab.kafka.heartbeat_loss import SOON, TAKEN, Expiry
from mqlab.kafka.rows import Behind, Rebalance
from mqlab.units import counted

COVERED = 0.8
"""Share of the session timeout that pauses must make up: the last heartbeat may be an interval old when they begin."""
AWAKE = 1.0
"""Seconds within which a process that wakes up has noticed that its session is over."""
_AGAIN = ("coordinator-found", "join-completed", "partitions-assigned")
_CUT = ("session-timeout", "coordinator-lost", "request-timeout")
_SHOWN = 2


class Kind(StrEnum):
    """What it was."""

    PAUSE = "garbage collection"
    NETWORK = "network"
    DEATH = "process died"
    FROZEN = "process stood still"
    UNKNOWN = "not told"


@dataclass(frozen=True, slots=True)
class Cause:
    """What was behind one expulsion."""

    kind: Kind
    told: str
    evidence: tuple[Evidence, ...]
    seconds: float | None = None
    """How long the member could not be heard, where that is known."""


def cause(facts: Facts, group: str, one: Expiry) -> Cause:
    """The cause of *one*, by what the material shows of its process."""
    paused = _pauses(facts, group, one)
    if paused is not None:
        return paused
    if one.replaced or (one.back is None and _gone(facts, group, one)):
        return Cause(Kind.DEATH, "its process died", _exits(facts, group, one))
    asked = tuple(_asked(facts, group, one))
    if one.working or asked or _unreachable(facts, group, one):
        return _cut(facts, group, one, asked)
    if one.silence is not None and one.silence.telling and one.silence.seconds is not None:
        lasted = one.silence.seconds
        told = f"its process stood still for {units.duration(lasted)}: no line and no poll"
        return Cause(Kind.FROZEN, told, (), lasted)
    if one.silence is not None and one.silence.telling:
        return Cause(Kind.DEATH, "its process wrote nothing any more", ())
    return Cause(Kind.UNKNOWN, "why is not told", ())


def _pauses(facts: Facts, group: str, one: Expiry) -> Cause | None:
    """Collections that stopped the process for most of the session timeout before it was expelled."""
    if one.timeout is None:
        return None
    since = one.at - one.timeout
    own = [e for e in facts.of_kind("gc-pause") if _of(facts, group, one.client_id, e.source)]
    found = [(share, e) for e in own if (share := _overlap(e, since, one.at)) > 0]
    longest = max((e.value_max or 0.0 for _, e in found), default=0.0)
    if sum(share for share, _ in found) < COVERED * one.timeout:
        return None
    places = tuple(Evidence(e.first.source, e.first.line, e.first.text, "stops the process") for _, e in found[:3])
    return Cause(Kind.PAUSE, f"a collection stopped its process for {units.duration(longest)}", places, longest)


def _of(facts: Facts, group: str, client_id: str, source: str) -> bool:
    """The log is not named after another client of the group."""
    others = [c for c in log_lines.homes(facts, group).values() if c != client_id and c not in client_id]
    return client_id in source or not any(other in source for other in others)


def _overlap(pause: Episode, since: float, until: float) -> float:
    """Seconds of *pause* within this time; its line stands at its end (unified logs) or at its begin (older ones)."""
    at, seconds = pause.first_at or 0.0, pause.value_max or 0.0
    spans = ((at - seconds, at), (at, at + seconds))
    return max(0.0, *(min(end, until) - max(begin, since) for begin, end in spans))


def _gone(facts: Facts, group: str, one: Expiry) -> bool:
    """The process is known to have ended."""
    return bool(_exits(facts, group, one))


def _exits(facts: Facts, group: str, one: Expiry) -> tuple[Evidence, ...]:
    reach = (one.timeout or 0.0) + SOON
    exits = [e for e, who in poll_limits.own_lines(facts, group, "process-exit") if who == one.client_id]
    near = [e for e in exits if -reach <= (e.first_at or 0.0) - one.at <= SOON]
    return tuple(Evidence(e.first.source, e.first.line, e.first.text, "its process ends") for e in near)


def _cut(facts: Facts, group: str, one: Expiry, asked: Sequence[Episode]) -> Cause:
    lost = list(_disconnected(facts, group, one))
    if not lost and not asked:
        return Cause(Kind.UNKNOWN, "its process worked on, and no line tells why its heartbeats did not arrive", ())
    places = [(e.first, "it does not reach the broker") for e in lost[:_SHOWN]]
    places += [(e.first, "a request without an answer: it ran") for e in asked[:_SHOWN]]
    back = min((at for at in _again(facts, group, one) if at >= one.at), default=None)
    return Cause(
        Kind.NETWORK,
        "its process worked on, but did not reach the coordinator: the network was cut",
        tuple(Evidence(e.source, e.line, e.text, why) for e, why in places),
        None if back is None or one.timeout is None else back - one.at + one.timeout,
    )


def _asked(facts: Facts, group: str, one: Expiry) -> Iterator[Episode]:
    """Heartbeats and commits that its client made meanwhile and gave up without an answer.

    A process that stands still makes none. Those that were on their way when it stopped are older than half of the
    session timeout: heartbeats come at least three times in one.
    """
    reach = (one.timeout or 0.0) + SOON
    for line, who in poll_limits.own_lines(facts, group, "request-cancelled"):
        given_up = line.first_at or 0.0
        made = [given_up - waited for waited in (line.value_min, line.value_max) if waited is not None]
        if who != one.client_id or one.timeout is None or abs(given_up - one.at) > reach:
            continue
        if any(one.at - one.timeout / 2 <= at <= given_up - AWAKE for at in made):
            yield line


def _unreachable(facts: Facts, group: str, one: Expiry) -> bool:
    """The client noticed the loss when it was expelled, and did not find the coordinator again for long.

    A process that stood still notices when it wakes up, and finds the coordinator at once. The client counts from the
    last answer, the coordinator from the last request, so they notice up to a heartbeat interval apart.
    """
    if one.timeout is None:
        return False
    noticed = [e.first_at or 0.0 for e in _disconnected(facts, group, one)]
    first = min((at for at in noticed if abs(at - one.at) <= max(TAKEN, one.timeout / 2)), default=None)
    if first is None:
        return False
    again = min((at for at in _again(facts, group, one) if at >= first), default=first)
    return again - first >= (one.timeout / 2 if abs(first - one.at) <= TAKEN else one.timeout)


def _again(facts: Facts, group: str, one: Expiry) -> Iterator[float]:
    """Moments at which its client was in touch with a coordinator."""
    for line, who in poll_limits.own_lines(facts, group, *_AGAIN):
        if who == one.client_id:
            yield line.first_at or 0.0


def _disconnected(facts: Facts, group: str, one: Expiry) -> Iterator[Episode]:
    """Lines about a lost coordinator since the last heartbeat that arrived."""
    timeout = one.timeout or 0.0
    for line, who in poll_limits.own_lines(facts, group, *_CUT):
        if who == one.client_id and -timeout - TAKEN <= (line.first_at or 0.0) - one.at <= timeout + SOON:
            yield line


_SHOWN_LINES = 4
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
    if len(often) > _SHOWN_LINES:
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
    found = [place for one, cause in told.each[:_SHOWN_LINES] for place in (*one.evidence, *one.after, *cause.evidence)]
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
