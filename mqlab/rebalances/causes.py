"""What is behind a rebalance: the life of the member that caused it, the one before it and the one after it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from mqlab.rebalances.endings import EXITED, WENT_ON
from mqlab.rebalances.kin import Kin
from mqlab.rebalances.lines import CLOSED, POLL_TIMEOUT
from mqlab.rebalances.rows import Behind, End, Life, Trigger
from mqlab.rebalances.starts import Begun

RETURN = 300.0
"""Seconds within which a process that stopped is back, if it is to come back: Kubernetes waits at most so long between
two starts of a container (CrashLoopBackOff)."""
_LEFT = frozenset({Trigger.LEAVE, Trigger.POLL_TIMEOUT})


@dataclass(frozen=True, slots=True)
class Cause:
    """Trigger, what is behind it, and how that is known."""

    trigger: Trigger
    behind: Behind
    inferred: bool
    because: str
    life: Life | None = None


def cause(begun: Begun, known: Kin) -> Cause:
    """What is behind *begun*."""
    if begun.trigger is Trigger.JOIN:
        life = known.joined(begun.member_id, begun.started)
        return _joined(begun, life, known)
    if begun.trigger in _LEFT or begun.trigger is Trigger.HEARTBEAT_EXPIRY:
        life = known.ended(begun.member_id, begun.started)
        return _ended(begun, life, known)
    return Cause(begun.trigger, Behind.UNKNOWN, begun.inferred, begun.because)


def _joined(begun: Begun, life: Life | None, known: Kin) -> Cause:
    old = known.before.get(id(life)) if life else None
    if life is None:
        return Cause(Trigger.JOIN, Behind.UNKNOWN, begun.inferred, begun.because)
    if old is None:
        if known.nameless(life):
            return Cause(Trigger.JOIN, Behind.UNKNOWN, False, "nothing tells which client it is", life)
        began = (life.since or 0.0) if life.process_started is None else life.process_started
        first = known.since == -inf or (life.process_started is not None and began - known.since > RETURN)
        because = "nobody of that name was there before" if first else "what was before it is not in the material"
        return Cause(Trigger.JOIN, Behind.START if first else Behind.UNKNOWN, first, because, life)
    behind, because = _again(life, old)
    return Cause(Trigger.JOIN, behind, behind is not Behind.UNKNOWN, because, life)


def _again(life: Life, old: Life) -> tuple[Behind, str]:
    """What is behind the join of a client that was there before."""
    if old.failed:
        return Behind.CRASH, old.failed
    if life.process_started is not None:
        if old.end is End.POLL_TIMEOUT or old.because == WENT_ON:
            return Behind.RESTART, "its process was started anew when it was out of the group already"
        if old.because != EXITED and (old.process_stopped is not None or old.end is End.LEFT):
            return Behind.RESTART, "its process stopped and a new one joined"
        return Behind.CRASH, "its process was started anew and had not said that it stops"
    if old.end is End.POLL_TIMEOUT:
        return Behind.POLL_TIMEOUT, _told("it comes again after it did not poll in time", old.because)
    if old.end is End.EXPIRED:
        return Behind.EXPIRY, "it comes again after the coordinator gave it up"
    if old.process_stopped is not None or any(word in old.reason for word in CLOSED):
        return Behind.RESTART, "it comes again after it left in good order"
    return Behind.UNKNOWN, "it was there before, and nothing tells why it left"


def _ended(begun: Begun, life: Life | None, known: Kin) -> Cause:
    if begun.trigger is Trigger.HEARTBEAT_EXPIRY:
        return _expired(begun, life, known)
    if begun.trigger is Trigger.POLL_TIMEOUT or (life is not None and life.end is End.POLL_TIMEOUT):
        said = POLL_TIMEOUT in begun.reason
        because = begun.because if said or life is None else life.because or "the client's own log says so"
        return Cause(Trigger.POLL_TIMEOUT, Behind.POLL_TIMEOUT, begun.inferred or not said, because, life)
    if life is not None and life.failed:
        return Cause(Trigger.LEAVE, Behind.CRASH, True, life.failed, life)
    if life is None or (life.process_stopped is None and not any(word in life.reason for word in CLOSED)):
        return Cause(Trigger.LEAVE, Behind.UNKNOWN, begun.inferred, "it left, and nothing tells why", life)
    behind, because = _back(life, known)
    return Cause(Trigger.LEAVE, behind, True, f"its process stopped{because}", life)


def _back(life: Life, known: Kin) -> tuple[Behind, str]:
    new = known.after.get(id(life))
    if new is not None and (new.since or 0.0) - (life.until or 0.0) <= RETURN:
        return Behind.RESTART, " and came again"
    return Behind.STOP, " and did not come again"


def _expired(begun: Begun, life: Life | None, known: Kin) -> Cause:
    trigger = Trigger.HEARTBEAT_EXPIRY
    if life is None:
        return Cause(trigger, Behind.EXPIRY, begun.inferred, begun.because)
    new = known.after.get(id(life))
    if life.failed or life.because == EXITED:
        return Cause(trigger, Behind.CRASH, True, life.failed or EXITED, life)
    if life.because == WENT_ON:
        return Cause(trigger, Behind.EXPIRY, begun.inferred, WENT_ON, life)
    if life.process_stopped is not None:
        behind, because = _back(life, known)
        how = "a static member says nothing when it stops; " if life.static else ""
        return Cause(trigger, behind, True, f"{how}its process stopped{because}", life)
    if new is not None and new.process_started is not None:
        return Cause(trigger, Behind.CRASH, True, "its process was started anew and had not said that it stops", life)
    return Cause(trigger, Behind.EXPIRY, begun.inferred, begun.because, life)


def _told(sentence: str, because: str) -> str:
    return f"{sentence}: {because}" if because else sentence
