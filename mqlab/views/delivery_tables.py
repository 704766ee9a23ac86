"""Tables of the delivery audit for the notebook: topics, the way of their messages, losses, positions, settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd

from mqlab.delivery import offset_gaps
from mqlab.delivery import path as delivery_path
from mqlab.delivery import positions as delivery_positions
from mqlab.delivery.path import NOT_TOLD, Toll, bounded, by_number, cells, count, groups, path, telling, total
from mqlab.delivery.positions import Mark
from mqlab.delivery.risks import risks as of_settings
from mqlab.delivery.rows import Audit, Doubled, GroupRow, Loss
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.shared.table import table
from mqlab.units import clock, number
from mqlab.views.audit_json import commands_for
from mqlab.views.delivery import AuditView
from mqlab.words import room

say, cell = room("delivery-audit"), room("delivery-tables")

_MOST = 300
"""Rows of one table; beyond, those with losses or changes stay."""
_IF_TOLD = ("failed", "unanswered", "skipped", "unknown")
"""Columns that are left out where they have nothing to say."""


def topics(audits: Sequence[Audit]) -> pd.DataFrame:
    """One row per topic: the outcome and the numbers behind it."""
    rows = [
        (
            audit.topic,
            say("outcome", outcome=audit.outcome),
            cells(total(path(audit, None)))["acknowledged"],
            _sum(delivery_path.losses(audit)),
            _sum(delivery_path.doubles(audit)),
            audit.statement,
        )
        for audit in sorted(audits, key=lambda one: one.topic)
    ]
    return table(rows, "topic|outcome|acknowledged|lost|doubled|what that means")


def _sum(tolls: Sequence[Toll]) -> str:
    return bounded(sum(t.records for t in tolls), sum(t.least for t in tolls), sum(t.most for t in tolls))


def answer(view: AuditView) -> pd.DataFrame:
    """The topic that is looked at, in a few lines."""
    return table(list(_answers(view)), "question|answer")


def _answers(view: AuditView) -> Iterator[tuple[str, str]]:
    if view.audit is None:
        yield cell("topic"), cell("no-topic")
        return
    yield cell("topic"), view.audit.topic
    yield cell("outcome"), say("outcome", outcome=view.audit.outcome)
    yield cell("meaning"), view.audit.statement
    for toll in delivery_path.losses(view.audit):
        yield cell("lost", where=toll.where), cell("toll", amount=toll.words, incident=toll.incident)
    for toll in delivery_path.doubles(view.audit):
        yield cell("doubled", where=toll.where), cell("copies", amount=toll.words, incident=toll.incident)
    for group in groups(view.audit):
        whole = total(path(view.audit, group))
        if group and whole.pending:
            yield cell("pending", group=group), cell("not-read", amount=cells(whole)["pending"])


def way(view: AuditView) -> pd.DataFrame:
    """One row per partition and group, and one for all partitions: how far the messages got."""
    rows = []
    for group in groups(view.audit) if view.audit and (view.audit.log or view.audit.groups) else ():
        own = path(view.audit, group) if view.audit else ()
        rows += [cells(one) for one in (*telling(own, _MOST), *([total(own)] if len(own) > 1 else []))]
    silent = [name for name in _IF_TOLD if all(row[name] in (NOT_TOLD, "0") for row in rows)]
    return table(
        rows,
        "partition|group|sent|acknowledged|failed|unanswered|stored|handled|committed at|log|lost|pending|doubled"
        "|skipped|unknown",
    ).drop(columns=silent)


def replicas(view: AuditView) -> pd.DataFrame:
    """One row per log end that a broker told of: as it became leader or follower, and as it cut its log."""
    reigns = {(one.queue, one.broker, one.place): one for one in view.reigns}
    changes = Counter(one.queue for one in view.reigns)
    kept = sorted(view.levels, key=lambda level: -changes[level.queue])[:_MOST]
    rows = []
    for one in sorted(kept, key=lambda level: (by_number(level.queue), level.at, by_number(level.broker))):
        reign = reigns.get((one.queue, one.broker, one.place))
        what = cell("unclean", what=one.what) if reign and reign.unclean else one.what
        election = (count(reign.epoch), count(reign.high_watermark), ", ".join(reign.isr)) if reign else ("", "", "")
        told = [text or NOT_TOLD for text in election]
        rows.append((one.queue, clock(one.at), one.broker, what, number(one.offset), *told, one.place))
    return table(rows, "partition|UTC|broker|what|log end|epoch|high watermark|in sync|where")


def missing(view: AuditView) -> pd.DataFrame:
    """What would make it certain, and the command that fetches it."""
    told = view.audit.missing if view.audit else ()
    return table([(lack, "\n".join(commands_for([lack])) or NOT_TOLD) for lack in told], "missing|fetched by")


def positions(facts: Facts, view: AuditView) -> pd.DataFrame:
    """One row per group and partition: its position as first and last seen, the log around it, what it handled."""
    rows = []
    for row in _group_rows(view):
        known = delivery_positions.offsets(facts, row.group, row.topic, row.queue)
        marks = (known.committed[0] if known.committed else None, known.last, known.start, known.end)
        numbers = (row.handled, row.pending, row.lost, row.doubled, row.unknown)
        rows.append((row.group, row.queue, *map(_mark, marks), *map(count, numbers)))
    return table(
        rows,
        "group|partition|first position|last position|log start|log end|handled|pending|lost|doubled|unknown",
    )


def _mark(mark: Mark | None) -> str:
    """``5,035 at 12:07:10``."""
    return NOT_TOLD if mark is None else cell("mark", offset=mark.offset, at=mark.at)


def skips(facts: Facts, view: AuditView) -> pd.DataFrame:
    """One row per range of offsets that a group passed over without reading it, and why."""
    rows = []
    for row in _group_rows(view):
        for one in offset_gaps.skips(facts, row.group, row.topic, row.queue):
            why = cell("not-back", why=one.why) if one.ongoing else one.why
            offsets = (number(one.low), number(one.high - 1), number(one.high - one.low))
            rows.append((row.group, row.queue, clock(one.at), *offsets, why, _place(one.places)))
    return table(rows, "group|partition|UTC|from|up to|offsets|why|for example")


def _group_rows(view: AuditView) -> list[GroupRow]:
    return sorted(view.audit.groups if view.audit else (), key=lambda row: (row.group, by_number(row.queue)))


def _place(evidence: Sequence[Evidence]) -> str:
    return evidence[0].place if evidence else NOT_TOLD


def lost(view: AuditView) -> pd.DataFrame:
    """One row per mechanism and partition that lost messages."""
    rows = []
    for toll, one in _parts(delivery_path.losses(view.audit) if view.audit else ()):
        many = bounded(one.records, one.least, one.most)
        rows.append((*_mechanism(toll, one), many, _offsets(one), *_shown(one)))
    return table(rows, "mechanism|where|partition|messages|offsets|acknowledged|how it was counted|for example")


def _offsets(one: Loss | Doubled) -> str:
    """``1,032 to 2,593``."""
    if isinstance(one, Doubled) or one.first_offset is None:
        return NOT_TOLD
    return cell(
        "offsets", first=one.first_offset, last=one.last_offset if one.last_offset != one.first_offset else None
    )


def doubled(view: AuditView) -> pd.DataFrame:
    """One row per mechanism and partition that doubled messages."""
    rows = []
    for toll, one in _parts(delivery_path.doubles(view.audit) if view.audit else ()):
        extra = one.extra if isinstance(one, Doubled) else 0
        numbers = (number(one.records), bounded(extra, one.least, one.most))
        rows.append((*_mechanism(toll, one), *numbers, *_shown(one)))
    return table(rows, "mechanism|where|partition|messages|extra copies|when|how it was counted|for example")


def _parts(tolls: Sequence[Toll]) -> Iterator[tuple[Toll, Loss | Doubled]]:
    yield from ((toll, one) for toll in tolls for one in toll.parts)


def _mechanism(toll: Toll, one: Loss | Doubled) -> tuple[str, str, str]:
    return toll.incident, toll.where, one.queue or cell("unknown")


def _shown(one: Loss | Doubled) -> tuple[str, str, str]:
    return delivery_path.between(one.since, one.until) or NOT_TOLD, one.how, _place(one.evidence)


def risks(facts: Facts) -> pd.DataFrame:
    """One row per setting that may lose or double records; nothing in it says that it did."""
    rows = []
    for one in of_settings(facts):
        may = cell("may", may=one.may, incident=one.incident) if one.incident else one.may
        each = (delivery_path.at_stake(one) or NOT_TOLD, one.how or NOT_TOLD)
        rows.append((one.owner, one.setting, one.value, one.effective, may, *each, _place(one.evidence)))
    return table(rows, "whose|setting|value|what it means here|what may happen|each time|how that is known|where")
