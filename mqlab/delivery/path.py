"""The way of a topic's messages as rows and words, and what all audits say together.

The way of a topic's messages as rows: sent, acknowledged, stored, handled, committed, one row for each partition.

What the audit says, in the words that screen, tables and figures share: intervals, places, offsets.

What all audits say together, for the first screens: lost, of how many, pending, doubled, or why nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from itertools import groupby

from mqlab.delivery.risk_rates import Risk
from mqlab.delivery.rows import Audit, Doubled, GroupRow, LogRow, Loss, Outcome, Side
from mqlab.units import counted, duration, number

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


NOT_TOLD = "–"
UNEXPLAINED = "mechanism not told"
_FROM = {Side.PRODUCER: "at the producer", Side.LOG: "in the log", Side.GROUP: "by group"}


@dataclass(frozen=True, slots=True)
class Toll:
    """What one mechanism lost or doubled at one place, in all partitions."""

    incident: str
    where: str
    records: int
    """Messages lost; copies too many."""
    least: int
    most: int
    since: float | None
    until: float | None
    parts: tuple[Loss | Doubled, ...]
    """By partition and offset."""


def count(value: int | None) -> str:
    """A number, or a dash where the material does not say."""
    return NOT_TOLD if value is None else number(value)


def bounded(records: int, least: int, most: int) -> str:
    """``1,562`` where it was counted, else with the interval: ``≥ 1,200 (≤ 1,300)``, ``about 5 (≥ 3, ≤ 9)``."""
    if least == records == most:
        return number(records)
    if records == least:
        return f"≥ {number(records)} (≤ {number(most)})"
    if records == most:
        return f"≤ {number(records)} (≥ {number(least)})"
    return f"about {number(records)} (≥ {number(least)}, ≤ {number(most)})"


def losses(audit: Audit) -> tuple[Toll, ...]:
    """What log and groups lost, by mechanism and place, the most first."""
    return _tolls([(one, one.records) for one in audit.losses if one.side is not Side.PRODUCER])


def refused(audit: Audit) -> tuple[Toll, ...]:
    """What the producers were told of as failed, by mechanism: nobody acknowledged it, so that no log lost it."""
    return _tolls([(one, one.records) for one in audit.losses if one.side is Side.PRODUCER])


def doubles(audit: Audit) -> tuple[Toll, ...]:
    """What was doubled by mechanism and place, the most first."""
    return _tolls([(one, one.extra) for one in audit.doubled])


def at_stake(risk: Risk) -> str:
    """``about 529 records (≤ 1,558)``, ``up to 417 records``; empty where nothing bounds it."""
    if risk.records is not None:
        bound = f" (≤ {number(risk.high)})" if risk.high not in (None, risk.records) else ""
        return f"about {counted(risk.records, 'record')}{bound}"
    if risk.high is None:
        return f"{counted(risk.low, 'record')} or more" if risk.low else ""
    return (
        f"{number(risk.low)} to {counted(risk.high, 'record')}" if risk.low else f"up to {counted(risk.high, 'record')}"
    )


def due(risk: Risk) -> str:
    """``in 3.20 h if all goes on as it did``; empty where that is not known."""
    return "" if risk.due_seconds is None else f"in {duration(risk.due_seconds)} if all goes on as it did"


def partition(queue: str) -> str:
    """``partition 0``; messages of which nothing tells the partition are named so."""
    return f"partition {queue}" if queue else "partition not told"


def offsets(one: Loss | Doubled) -> str:
    """``at offsets 1,032 to 2,593``; empty where none is known."""
    if isinstance(one, Doubled) or one.first_offset is None:
        return ""
    if one.last_offset in (None, one.first_offset):
        return f"at offset {number(one.first_offset)}"
    return f"at offsets {number(one.first_offset)} to {number(one.last_offset or 0)}"


def between(since: float | None, until: float | None, tz: tzinfo = UTC) -> str:
    """``12:04:32 to 12:04:38``; empty where no moment is known."""
    times = [f"{datetime.fromtimestamp(at, tz):%H:%M:%S}" for at in (since, until) if at is not None]
    return " to ".join(dict.fromkeys(times))


def _tolls(rows: Sequence[tuple[Loss | Doubled, int]]) -> tuple[Toll, ...]:
    ordered = sorted(rows, key=lambda row: (_mechanism(row[0]), *_in_partition(row[0])))
    tolls = [_toll(list(own)) for _, own in groupby(ordered, key=lambda row: _mechanism(row[0]))]
    return tuple(sorted(tolls, key=lambda toll: (-toll.records, toll.incident, toll.where)))


def _toll(rows: Sequence[tuple[Loss | Doubled, int]]) -> Toll:
    parts = tuple(one for one, _ in rows)
    first = parts[0]
    return Toll(
        first.incident or UNEXPLAINED,
        f"{_FROM[first.side]} {first.group}" if first.side is Side.GROUP else _FROM[first.side],
        sum(records for _, records in rows),
        sum(one.least for one in parts),
        sum(one.most for one in parts),
        min((one.since for one in parts if one.since is not None), default=None),
        max((one.until for one in parts if one.until is not None), default=None),
        parts,
    )


def _mechanism(one: Loss | Doubled) -> tuple[str, str, str]:
    return (one.incident or "", one.side, one.group or "")


def _in_partition(one: Loss | Doubled) -> tuple[tuple[bool, int, str], int, float]:
    first = one.first_offset if isinstance(one, Loss) else None
    return (by_number(one.queue), first or 0, one.since or 0.0)


GRAVITY = (Outcome.LOST_AND_DOUBLED, Outcome.LOST, Outcome.DOUBLED, Outcome.UNKNOWN, Outcome.IN_LOG, Outcome.COMPLETE)
"""The worst first."""
_MOST_TOPICS = 3
_MOST_PARTS = 3


@dataclass(frozen=True, slots=True)
class Summary:
    """All topics together."""

    topics: int
    acked: int | None
    """Acknowledged messages, as far as they are told."""
    lost: int
    least: int
    most: int
    extra: int
    """Copies too many, in logs and groups."""
    pending: int
    open: tuple[str, ...]
    """Topics of which the material cannot say whether something was lost."""

    @property
    def words(self) -> str:
        """How many were lost, with the interval where they were not counted."""
        return bounded(self.lost, self.least, self.most)


def by_gravity(audits: Sequence[Audit]) -> list[Audit]:
    """Those with losses first."""
    return sorted(audits, key=lambda audit: (GRAVITY.index(audit.outcome), audit.topic))


def summary(audits: Sequence[Audit]) -> Summary:
    """The sums over *audits*."""
    gone = [one for audit in audits for one in audit.losses if one.side is not Side.PRODUCER]
    return Summary(
        len(audits),
        added(total(path(audit, None)).acked for audit in audits),
        sum(one.records for one in gone),
        sum(one.least for one in gone),
        sum(one.most for one in gone),
        sum(one.extra for audit in audits for one in audit.doubled),
        sum(row.pending or 0 for audit in audits for row in audit.groups),
        tuple(sorted(audit.topic for audit in audits if audit.outcome is Outcome.UNKNOWN)),
    )


def kept(audits: Sequence[Audit]) -> str:
    """What became of topics that are known to have lost nothing, with a blank before; empty where there are none."""
    known = [audit for audit in audits if audit.outcome in (Outcome.COMPLETE, Outcome.IN_LOG)]
    parts = [f" {audit.topic}: {audit.statement}" for audit in by_gravity(known)[:_MOST_TOPICS]]
    more = f" {counted(len(known) - _MOST_TOPICS, 'more topic')} lost nothing." if len(known) > _MOST_TOPICS else ""
    return "".join(parts) + more


def told(audits: Sequence[Audit]) -> Iterator[str]:
    """Each topic in half a sentence, the worst first."""
    shown = by_gravity(audits)[:_MOST_TOPICS]
    yield from (f"{audit.topic}: {', '.join(_parts(audit))}" for audit in shown)
    if len(audits) > len(shown):
        yield f"{counted(len(audits) - len(shown), 'more topic')} (mqlab audit)"


def _parts(audit: Audit) -> Iterator[str]:
    whole = total(path(audit, None))
    least = "≥ " if "acked" in whole.partly else ""
    of = f" of {least}{number(whole.acked)} acknowledged" if whole.acked is not None else ""
    gone = losses(audit)
    for place, toll in enumerate(gone):
        many = bounded(toll.records, toll.least, toll.most)
        yield f"{many}{'' if place else of} lost {toll.where} ({toll.incident}; {_where(toll)})"
    if audit.outcome is Outcome.UNKNOWN:
        yield "CANNOT SAY" + (f" (missing: {audit.missing[0]})" if audit.missing else "")
    elif not gone:
        yield f"none lost{' from the log' if audit.outcome is Outcome.IN_LOG else ''}{of}"
    for group in groups(audit):
        waiting = total(path(audit, group)).pending
        if group and waiting:
            yield f"{number(waiting)} only wait for {group}"
    for toll in doubles(audit):
        yield f"{bounded(toll.records, toll.least, toll.most)} doubled {toll.where}"


def _where(toll: Toll) -> str:
    parts = [f"{partition(one.queue)} {offsets(one)}".strip() for one in toll.parts[:_MOST_PARTS]]
    more = len(toll.parts) - len(parts)
    return ", ".join(parts) + (f" and {number(more)} more" if more else "")
