"""The way of a topic's messages as rows, one for each partition, and words that screens, tables and figures share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from itertools import groupby

from mqlab.delivery.risk_rates import Risk
from mqlab.delivery.rows import Audit, Doubled, Gap, Loss, Outcome, Side
from mqlab.facts import span
from mqlab.units import number
from mqlab.words import room

say = room("delivery-path")

NOT_TOLD = "–"
UNEXPLAINED, AT_CHANGES, SKIPPED = say("unexplained"), say("at-changes"), say("skipped")
_OF_LOG = ("sent", "acked", "failed", "failed_stored", "unanswered", "stored")
_OF_GROUP = ("handled", "pending")
_CELLS = {"sent": "sent", "acknowledged": "acked", "failed": "failed", "of them stored": "failed_stored",
          "unanswered": "unanswered", "stored": "stored", "handled": "handled", "pending": "pending"}  # fmt: skip
"""Columns of tables and the fields that they show."""
GRAVITY = (Outcome.LOST_AND_DOUBLED, Outcome.LOST, Outcome.DOUBLED, Outcome.UNKNOWN, Outcome.IN_LOG, Outcome.COMPLETE)
"""The worst first."""
_SHOWN = 3
"""Topics, and partitions of each, that a sentence names."""


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
    skipped: int = 0
    """Messages that the group left out, of which the material tells why: they are no loss."""
    settled: bool = True
    """The audit can say whether anything was lost: where it cannot, nothing counted is no 0."""
    partly: frozenset[str] = frozenset()
    """Columns that are a lower bound: nothing tells all of them, or some partition does not tell them."""

    @property
    def written(self) -> bool:
        """The material says what producers wrote: without that, nothing tells that no message is lost."""
        return self.acked is not None or self.sent is not None


def path(audit: Audit, group: str | None) -> tuple[PathRow, ...]:
    """The partitions by number, on their way to *group*; None is the way to the log alone."""
    logs = {row.queue: row for row in audit.log}
    own = {row.queue: row for row in audit.groups if row.group == group}
    rows = []
    for queue in sorted({*logs, *own}, key=by_number):
        row, log, read = PathRow(queue, group), logs.get(queue), own.get(queue)
        if log:
            columns = {name: getattr(log, name) for name in (*_OF_LOG, "start", "end", "lost", "doubled")}
            row = replace(row, **columns, partly=frozenset() if log.held_all else frozenset({"stored"}))
        if read:
            columns = {name: getattr(read, name) for name in (*_OF_GROUP, "committed", "unknown")}
            row = replace(row, **columns, lost=row.lost + read.lost, doubled=row.doubled + read.doubled)
            row = replace(row, skipped=read.by_hand + read.aside + read.earlier)
        signs = {_sign(loss) for loss in audit.losses if loss.queue == queue and _is_of(loss, group)}
        rows.append(replace(row, bound=_joint(signs), settled=not leaves_open(audit)))
    return tuple(rows)


def _is_of(one: Loss, group: str | None) -> bool:
    """The log lost it, or *group* did."""
    return one.side is Side.LOG or (one.side is Side.GROUP and one.group == group)


def groups(audit: Audit) -> tuple[str | None, ...]:
    """Groups to show a way to, by name; one None where no group is told of."""
    return tuple(sorted({row.group for row in audit.groups})) or (None,)


def total(rows: Sequence[PathRow]) -> PathRow:
    """All partitions together."""
    columns = {name: [getattr(row, name) for row in rows] for name in (*_OF_LOG, *_OF_GROUP)}
    return PathRow(
        None,
        rows[0].group if rows else None,
        **{name: added(values) for name, values in columns.items()},
        lost=sum(row.lost for row in rows),
        bound=_joint({row.bound for row in rows if row.lost or row.bound}),
        doubled=sum(row.doubled for row in rows),
        unknown=sum(row.unknown for row in rows),
        skipped=sum(row.skipped for row in rows),
        settled=all(row.settled for row in rows),
        partly=frozenset(name for name, values in columns.items() if None in values).union(*(r.partly for r in rows)),
    )


def telling(rows: Sequence[PathRow], most: int) -> list[PathRow]:
    """At most so many of them, in their order: those with losses, doubles or something unknown stay."""
    kept = sorted(rows, key=lambda row: not (row.lost or row.doubled or row.unknown))[:most]
    return [row for row in rows if row in kept]


def cells(row: PathRow) -> Mapping[str, str]:
    """The row as text, by the columns that screens and tables have."""
    whole = row.queue is None
    numbers = {column: getattr(row, name) for column, name in _CELLS.items()}
    words = {
        column: f"≥ {number(value)}" if value is not None and _CELLS[column] in row.partly else count(value)
        for column, value in numbers.items()
    }
    return {
        "partition": say("all") if whole else row.queue or say("not-told"),
        "group": row.group or NOT_TOLD,
        **words,
        "committed at": "" if whole else count(row.committed),
        "log": ""
        if whole or row.start is None is row.end
        else say("range", start=count(row.start), end=count(row.end)),
        "lost": f"{row.bound} {number(row.lost)}".strip() if row.lost or (row.written and row.settled) else NOT_TOLD,
        "doubled": number(row.doubled) if row.doubled or row.handled is not None or _is_whole(row) else NOT_TOLD,
        "unknown": number(row.unknown),
        "skipped": number(row.skipped),
    }


def _is_whole(row: PathRow) -> bool:
    """All that the log holds was seen, so that a copy too many would have been."""
    return row.stored is not None and "stored" not in row.partly


def added(values: Iterable[int | None]) -> int | None:
    """The sum of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def by_number(queue: str) -> tuple[bool, int, str]:
    """Partitions in the order of their numbers, other names after them."""
    return (not queue.isdigit(), int(queue) if queue.isdigit() else 0, queue)


def _joint(signs: set[str]) -> str:
    """The sign of a sum: upper and lower bounds together are neither."""
    known = signs - {""}
    return next(iter(known)) if len(known) == 1 else "~" if known else ""


def _sign(one: Loss) -> str:
    if one.exact:
        return ""
    return "≤" if one.records == one.most else "≥" if one.records == one.least else "~"


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

    @property
    def words(self) -> str:
        """How many, with the interval where they were not counted."""
        return bounded(self.records, self.least, self.most)


def count(value: int | None) -> str:
    """A number, or a dash where the material does not say."""
    return NOT_TOLD if value is None else number(value)


def bounded(records: int, least: int, most: int) -> str:
    """``1,562`` where it was counted, else with the interval: ``≥ 1,200 (≤ 1,300)``, ``about 5 (≥ 3, ≤ 9)``."""
    exact = records if least == records == most else None
    bound = None if exact is not None or records not in (least, most) else ("≥" if records == least else "≤")
    other = ("≤", most) if bound == "≥" else ("≥", least)
    return say(
        "bounded", exact=exact, bound=bound, records=records, mark=other[0], other=other[1], least=least, most=most
    )


def losses(audit: Audit) -> tuple[Toll, ...]:
    """What log and groups lost, by mechanism and place, the most first."""
    return _tolls([loss for loss in audit.losses if loss.side is not Side.PRODUCER])


def refused(audit: Audit) -> tuple[Toll, ...]:
    """What the producers were told of as failed, by mechanism: nobody acknowledged it, so that no log lost it."""
    return _tolls([loss for loss in audit.losses if loss.side is Side.PRODUCER])


def doubles(audit: Audit) -> tuple[Toll, ...]:
    """What was doubled by mechanism and place, the most first."""
    return _tolls(audit.doubled)


def _tolls(rows: Sequence[Loss | Doubled]) -> tuple[Toll, ...]:
    def whose(row: Loss | Doubled) -> tuple[str, str, str]:
        return (mechanism(row), row.side.value, row.group or "")

    def place(row: Loss | Doubled) -> tuple[tuple[bool, int, str], int, float]:
        first = row.first_offset if isinstance(row, Loss) else None
        return (by_number(row.queue), first or 0, row.since or 0.0)

    tolls = []
    for (incident, side, group), own in groupby(sorted(rows, key=lambda row: (whose(row), place(row))), whose):
        parts = tuple(own)
        tolls.append(
            Toll(
                incident or (AT_CHANGES if all(map(_came_at_changes, parts)) else UNEXPLAINED),
                say("side", side=side, group=group),
                sum(row.extra if isinstance(row, Doubled) else row.records for row in parts),
                sum(row.least for row in parts),
                sum(row.most for row in parts),
                span(row.since for row in parts)[0],
                span(row.until for row in parts)[1],
                parts,
            )
        )
    return tuple(sorted(tolls, key=lambda toll: (-toll.records, toll.incident, toll.where)))


def mechanism(row: Loss | Doubled) -> str:
    """The class that lost or doubled it, or how that is known to have come; empty where nothing tells."""
    return row.incident or (SKIPPED if isinstance(row, Loss) and row.gap is Gap.FAILED else "")


def _came_at_changes(row: Loss | Doubled) -> bool:
    return isinstance(row, Doubled) and row.at_changes == row.extra


def at_stake(risk: Risk) -> str:
    """``about 529 records (≤ 1,558)``, ``up to 417 records``, and when; empty where nothing bounds it."""
    known = risk.records is not None or risk.high is not None or risk.low
    if not known and risk.due_seconds is None:
        return ""
    bound = None if risk.high == risk.records else risk.high
    own = {"low": risk.low or None, "high": risk.high, "records": risk.records, "bound": bound}
    return say("at-stake", **own, due=risk.due_seconds, dated=bool(known) or None)


def partition(queue: str) -> str:
    """``partition 0``; messages of which nothing tells the partition are named so."""
    return say("partition", queue=queue or None)


def offsets(loss: Loss | Doubled) -> str:
    """``at offsets 1,032 to 2,593``; empty where none is known."""
    if isinstance(loss, Doubled) or loss.first_offset is None:
        return ""
    last = None if loss.last_offset == loss.first_offset else loss.last_offset
    return say("offsets", first=loss.first_offset, last=last)


def between(since: float | None, until: float | None, tz: tzinfo = UTC) -> str:
    """``12:04:32 to 12:04:38``; empty where no moment is known."""
    times = [f"{datetime.fromtimestamp(at, tz):%H:%M:%S}" for at in (since, until) if at is not None]
    return say("between", since=times[0], until=times[-1] if times[-1] != times[0] else None) if times else ""


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
    losses = [row for audit in audits for row in audit.losses if row.side is not Side.PRODUCER]
    return Summary(
        len(audits),
        added(row.acked for audit in audits for row in audit.log),
        sum(row.records for row in losses),
        sum(row.least for row in losses),
        sum(row.most for row in losses),
        sum(row.extra for audit in audits for row in audit.doubled),
        sum(row.pending or 0 for audit in audits for row in audit.groups),
        tuple(sorted(audit.topic for audit in audits if leaves_open(audit))),
    )


def leaves_open(audit: Audit) -> bool:
    """Whether anything was lost cannot be said: copies that were counted tell nothing of that."""
    return audit.outcome is Outcome.UNKNOWN or (audit.outcome is Outcome.DOUBLED and bool(audit.missing))


def sentences(audits: Sequence[Audit], tz: tzinfo = UTC) -> Iterator[str]:
    """Each topic in half a sentence, the worst first."""
    worst = by_gravity(audits)[:_SHOWN]
    yield from (say("topic", topic=audit.topic, parts=tuple(_parts(audit, tz))) for audit in worst)
    if len(audits) > len(worst):
        yield say("more-topics", more=len(audits) - len(worst))


def _ranges(parts: Sequence[Loss | Doubled]) -> list[Loss | Doubled]:
    """*parts* by partition and offset; of two that follow one another in one partition one."""
    found: list[Loss | Doubled] = []
    for one in parts:
        last = found[-1] if found else None
        if (
            isinstance(one, Loss)
            and isinstance(last, Loss)
            and last.queue == one.queue
            and last.last_offset is not None
            and last.last_offset + 1 == one.first_offset
        ):
            found[-1] = replace(last, last_offset=one.last_offset)
        else:
            found.append(one)
    return found


def _parts(audit: Audit, tz: tzinfo) -> Iterator[str]:
    whole = total(path(audit, None))
    acked = {"acked": whole.acked, "partly": "acked" in whole.partly}
    tolls = losses(audit)
    for place, toll in enumerate(tolls):
        ranges = _ranges(toll.parts)
        parts = tuple(say("piece", partition=partition(loss.queue), at=offsets(loss) or None) for loss in ranges)
        own = {"amount": toll.words, "where": toll.where, "incident": toll.incident, "parts": parts}
        yield say("lost", **own, **(acked if not place else {}))
    if leaves_open(audit):
        yield say("open", missing=audit.missing[0] if audit.missing else None)
    elif not tolls:
        yield say("none-lost", in_log=audit.outcome is Outcome.IN_LOG, **acked)
    for group in groups(audit):
        whole = total(path(audit, group))
        if group and whole.skipped:
            yield say("skipped-by", skipped=whole.skipped, group=group)
        if group and whole.pending:
            # Lag counts what a group handled and has not committed; with ledgers that is known to be done.
            yield say("waiting", pending=whole.pending, group=group, by_lag=whole.handled is None)
    for where, same in groupby(sorted(doubles(audit), key=lambda toll: toll.where), lambda toll: toll.where):
        several = list(same)
        # A finding that did it may count those of its own time.
        explained = any(toll.incident != UNEXPLAINED for toll in several)
        when = "" if explained else between(several[0].since, several[0].until, tz)
        least, most = sum(toll.least for toll in several), sum(toll.most for toll in several)
        amount = bounded(sum(toll.records for toll in several), least, most)
        yield say("doubled", amount=amount, where=where, when=when or None)
