"""How many rebalances of a Kafka group had which trigger, in a few words."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.rebalances.rows import Rebalance, Trigger
from mqlab.units import counted

_ENDS = frozenset({Trigger.LEAVE, Trigger.POLL_TIMEOUT, Trigger.HEARTBEAT_EXPIRY})


def triggers(rows: Sequence[Rebalance], own: Sequence[Rebalance], name: str) -> str:
    """``16 rebalances: 5 poll timeouts, 9 joins after them, 2 others``; *name* is what an end among *own* is called.

    Empty without rebalances. A cooperative group makes a second rebalance of each: those are follow-ups.
    """
    ends = sum(row.trigger in _ENDS for row in own)
    joins = sum(row.trigger is Trigger.JOIN for row in own)
    follow = sum(row.trigger is Trigger.FOLLOW_UP for row in rows)
    them = "it" if ends == 1 else "them"
    parts = [
        f"{count} {one if count == 1 else many}"
        for count, one, many in (
            (ends, name, f"{name}s"),
            (joins, f"join after {them}", f"joins after {them}"),
            (follow, "follow-up", "follow-ups"),
            (len(rows) - ends - joins - follow, "other", "others"),
        )
        if count > 0
    ]
    return f"{counted(len(rows), 'rebalance')}: {', '.join(parts)}" if rows else ""
