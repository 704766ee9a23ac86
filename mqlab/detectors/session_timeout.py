"""Kafka: the coordinator hears nothing from a member for session.timeout.ms and expels it.

Fires: a member is expelled and was silent for as long, because its process stood still or died, or worked on without
reaching the coordinator. Proven where that silence, a collection that covers it, or the cut network is seen.
Quiet: static members that were stopped (their expiry is the normal trace), members whose new process took over in a
release, those that had left the group before for a late poll, members that die in a loop or fence each other.
"""

from __future__ import annotations

from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts
from mqlab.findings import Certainty, Finding, Severity
from mqlab.kafka import churn, heartbeat_loss, heartbeat_loss_causes
from mqlab.kafka import groups as kafka_groups
from mqlab.kafka.heartbeat_loss import SOON, Expiry
from mqlab.kafka.heartbeat_loss_causes import Cause, Kind, Told
from mqlab.kafka.lives import lives
from mqlab.kafka.rebalances import history, whole
from mqlab.kafka.redelivery import extra
from mqlab.memo import per_facts
from mqlab.shared.wording import moment
from mqlab.sources import Role
from mqlab.units import counted

INCIDENT = "session-timeout"
SYSTEMS: tuple[str, ...] = ("kafka",)

AGAIN = 2
"""Expulsions of members that stood still or were cut off, from which it is no single pause."""
ALIVE = 0.6
"""Share of the session timeout that a silence must have lasted: the last heartbeat may be a third of it late."""
AFTER = 60.0
"""Seconds after the last expulsion in which its rebalances come, and after which it is over."""
_SHOWN = frozenset({Kind.PAUSE, Kind.NETWORK, Kind.FROZEN})
"""Causes that lines show."""
CLIENT_LOGS = "the consumers' logs: members were expelled, and what they did meanwhile is not told"
COORDINATORS = "the whole log of the coordinator: lines are missing around the moment at which members were expelled"


def detect(facts: Facts) -> Result:
    """One finding for each group."""
    if not facts.logs_of("kafka", Role.CLIENT_LOG, Role.BROKER_LOG):
        return Result(missing=("server.log of the brokers, or the consumers' logs",))
    groups = kafka_groups.groups(facts)
    every = [told for group in groups if (told := _told(facts, group)) is not None]
    if every:
        return Result(tuple(_finding(one) for one in every))
    expelled = [(group, one.client_id) for group in groups for one in _expelled(facts, group)]
    if expelled:
        off = frozenset(client for group, client in expelled if client in kafka_groups.astray(facts, group))
        cut = any(one.seen for group in groups for one in _expelled(facts, group))
        return Result(missing=(kafka_groups.missing(off) if off else COORDINATORS if cut else CLIENT_LOGS,))
    reasons = [reason for group in groups if (reason := _traces(facts, group))]
    return Result(rejected="; ".join(reasons)) if reasons else CLEAR


@per_facts
def _expelled(facts: Facts, group: str) -> list[Expiry]:
    """Expulsions that are no trace of anything else."""
    dying = churn.dying(facts, group)
    return [one for one in heartbeat_loss.expiries(facts, group, lives(facts, group)) if one.client_id not in dying]


def _told(facts: Facts, group: str) -> Told | None:
    """Those of which the material shows what the member did: a release that kills looks the same to a coordinator."""
    every = [(one, heartbeat_loss_causes.cause(facts, group, one)) for one in _expelled(facts, group) if one.seen]
    each = tuple((one, why) for one, why in every if _is_shown(why) or _all_there(facts, group, one))
    if not each:
        return None
    left = [one for one, _ in each]
    last = max((c.last_at for c in facts.coverage if c.last_at is not None), default=left[-1].at)
    times = [(one.silence.since if one.silence else one.at, one.at + AFTER) for one in left]
    rebalances = tuple(r for r in history(facts, group) if any(a <= r.started <= b for a, b in times) and not r.empty)
    open_ = left[-1].silence is not None and left[-1].silence.until is None and left[-1].back is None
    again = extra(facts, group, min(a for a, _ in times), max(b for _, b in times))
    return Told(group, each, rebalances, again, ongoing=open_ and last - left[-1].at <= AFTER)


def _is_shown(cause: Cause) -> bool:
    """Lines tell of it; what only no line contradicts may be a stop in good order of which the lines are missing."""
    return cause.kind in _SHOWN or bool(cause.evidence)


def _all_there(facts: Facts, group: str, one: Expiry) -> bool:
    """No line of the coordinator is missing that might tell of another reason."""
    reach = (one.timeout or 0.0) + SOON
    return whole(facts, group, one.at - reach, one.at + reach)


def _traces(facts: Facts, group: str) -> str | None:
    """Why expulsions of this group are none."""
    dying = churn.dying(facts, group)
    found = heartbeat_loss.judged(facts, group, lives(facts, group))
    if not found:
        return None
    reasons = sorted({why or "dies again and again" for one, why in found if why or one.client_id in dying})
    who = "the member" if len(found) == 1 else "each member"
    return f"{group}: {counted(len(found), 'expulsion')}: {who} {' or '.join(reasons)}"


def _finding(told: Told) -> Finding:
    living = [one for one, cause in told.each if cause.kind is not Kind.DEATH]
    proven = any(_measured(one, cause) for one, cause in told.each)
    return Finding(
        id=f"{INCIDENT}:{told.group}",
        incident=INCIDENT,
        severity=Severity.CRITICAL if len(living) >= AGAIN else Severity.WARNING,
        certainty=Certainty.PROVEN if proven else Certainty.LIKELY,
        subject=told.group,
        started_at=moment(told.since),
        ended_at=None if told.ongoing else moment(told.until),
        ongoing=told.ongoing,
        statement=heartbeat_loss_causes.statement(told),
        measures=heartbeat_loss_causes.measures(told),
        evidence=heartbeat_loss_causes.evidence(told),
        explains=("reprocess-duplicates", "backlog-drain") if living else ("backlog-drain",),
        mitigate=(
            "Raise session.timeout.ms above the longest silence, within group.max.session.timeout.ms of the broker; "
            "side effect: a member that is dead is noticed later."
        ),
        remedy=heartbeat_loss_causes.remedy(told),
        verify=(
            f"No member of {told.group} is expelled for an hour, and last-heartbeat-seconds-ago stays below two "
            "heartbeat intervals."
        ),
        facts=heartbeat_loss_causes.remarks(told),
    )


def _measured(one: Expiry, cause: Cause) -> bool:
    """A coordinator expelled it, and what its process did fits the session timeout."""
    if not one.told or one.timeout is None:
        return False
    if cause.kind in (Kind.PAUSE, Kind.NETWORK):
        return True
    return one.silence is not None and one.silence.telling and one.at - one.silence.since >= ALIVE * one.timeout
