"""Changes of who is in a RocketMQ group: ids that went and ids that came, from one steady time to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from mqlab.facts import Facts
from mqlab.findings import Change, Evidence
from mqlab.rocketmq.members import groups
from mqlab.rocketmq.memberships import Era, eras
from mqlab.rocketmq.slots import SETTLING

_MOST = 4
"""Ids that are named, and lines that show them."""


def member_changes(facts: Facts) -> Iterator[Change]:
    """One change for each time in which a group was steady again with other ids; a restart under one id is none."""
    for group in groups(facts):
        steady = [era for era in eras(facts, group) if era.members and era.seconds > SETTLING]
        for before, after in pairwise(steady):
            went, came = Counter(before.ids) - Counter(after.ids), Counter(after.ids) - Counter(before.ids)
            if went or came:
                places = _places(after, came) or _places(before, went)
                now = _named(came) or "gone"
                yield Change(after.since, f"group {group} members", _named(went), now, places)


def _places(era: Era, ids: Counter[str]) -> tuple[Evidence, ...]:
    return tuple(m.evidence for m in era.members if m.client_id in ids)[:_MOST]


def _named(ids: Counter[str]) -> str | None:
    """``a, 3 × b and 2 more``; None without any."""
    names = [name if times == 1 else f"{times} × {name}" for name, times in sorted(ids.items())]
    return ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "") or None
