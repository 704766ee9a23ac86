"""The way of a topic's messages as rows: sent, acknowledged, stored, handled, committed, one row for each partition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mqlab.delivery.rows import Audit, GroupRow, LogRow, Loss, Side

_SUMMED = ("sent", "acked", "failed", "failed_stored", "unanswered", "stored", "handled", "pending")


@dataclass(frozen=True, slots=True)
class PathRow:
    """One partition on its way to one group, or all of them; None where the material does not say."""

    queue: str | None
    """None for all partitions together; empty for messages of which nothing tells the partition."""
    group: str | None
    sent: int | None = None
    acked: int | None = None
    failed: int | None = None
    failed_stored: int | None = None
    unanswered: int | None = None
    stored: int | None = None
    handled: int | None = None
    committed: int | None = None
    """The group's position: an offset, no count."""
    start: int | None = None
    end: int | None = None
    lost: int = 0
    """Of the log and of the group: a message is lost at one of them only."""
    bound: str = ""
    """What stands before ``lost`` where it was not counted: ``≤``, ``≥`` or ``~``."""
    pending: int | None = None
    doubled: int = 0
    unknown: int = 0
    partly: frozenset[str] = frozenset()
    """Columns that some partition does not tell, so that their sum is a lower bound."""


def path(audit: Audit, group: str | None) -> tuple[PathRow, ...]:
    """The partitions by number, on their way to *group*; None is the way to the log alone."""
    logs = {row.queue: row for row in audit.log}
    own = {row.queue: row for row in audit.groups if row.group == group}
    return tuple(
        replace(_row(queue, group, logs.get(queue), own.get(queue)), bound=_bound(_of(audit, queue, group)))
        for queue in sorted({*logs, *own}, key=by_number)
    )


def groups(audit: Audit) -> tuple[str | None, ...]:
    """Groups to show a way to, by name; one None where no group is told of."""
    return tuple(sorted({row.group for row in audit.groups})) or (None,)


def total(rows: Sequence[PathRow]) -> PathRow:
    """All partitions together."""
    partly = {name for name in _SUMMED if any(_get(row, name) is None for row in rows)}
    return PathRow(
        None,
        rows[0].group if rows else None,
        **{name: added(_get(row, name) for row in rows) for name in _SUMMED},
        lost=sum(row.lost for row in rows),
        bound=_joint({row.bound for row in rows if row.lost or row.bound}),
        doubled=sum(row.doubled for row in rows),
        unknown=sum(row.unknown for row in rows),
        partly=frozenset(partly),
    )


def telling(rows: Sequence[PathRow], most: int) -> list[PathRow]:
    """At most so many of them, in their order: those with losses, doubles or something unknown stay."""
    kept = sorted(rows, key=lambda one: not (one.lost or one.doubled or one.unknown))[:most]
    return [one for one in rows if one in kept]


def added(values: Iterable[int | None]) -> int | None:
    """The sum of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def by_number(queue: str) -> tuple[bool, int, str]:
    """Partitions in the order of their numbers, other names after them."""
    return (not queue.isdigit(), int(queue) if queue.isdigit() else 0, queue)


def _of(audit: Audit, queue: str, group: str | None) -> list[Loss]:
    """What the log and *group* lost of one partition."""
    sides = {(Side.LOG, None), (Side.GROUP, group)}
    return [one for one in audit.losses if one.queue == queue and (one.side, _reader(one)) in sides]


def _reader(one: Loss) -> str | None:
    return one.group if one.side is Side.GROUP else None


def _bound(losses: Sequence[Loss]) -> str:
    return _joint({_sign(one) for one in losses})


def _joint(signs: set[str]) -> str:
    """The sign of a sum: upper and lower bounds together are neither."""
    known = signs - {""}
    return next(iter(known)) if len(known) == 1 else "~" if known else ""


def _sign(one: Loss) -> str:
    if one.exact:
        return ""
    return "≤" if one.records == one.most else "≥" if one.records == one.least else "~"


def _get(row: PathRow, name: str) -> int | None:
    value: int | None = getattr(row, name)
    return value


def _row(queue: str, group: str | None, log: LogRow | None, own: GroupRow | None) -> PathRow:
    return PathRow(
        queue,
        group,
        sent=log.sent if log else None,
        acked=log.acked if log else None,
        failed=log.failed if log else None,
        failed_stored=log.failed_stored if log else None,
        unanswered=log.unanswered if log else None,
        stored=log.stored if log else None,
        handled=own.handled if own else None,
        committed=own.committed if own else None,
        start=log.start if log else None,
        end=log.end if log else None,
        lost=(log.lost if log else 0) + (own.lost if own else 0),
        pending=own.pending if own else None,
        doubled=(log.doubled if log else 0) + (own.doubled if own else 0),
        unknown=own.unknown if own else 0,
    )
