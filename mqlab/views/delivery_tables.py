"""Tables of the delivery audit.

Tables of the delivery audit for the notebook: topics, the way of their messages, log ends, what is missing.

Tables of the groups that read an audited topic: where they stood, and which offsets they passed over unread.

Tables of what was lost and doubled, by mechanism and partition, for the notebook.

Table of what settings of the delivery path may lose or double, for the notebook.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd

from mqlab.delivery import offset_gaps
from mqlab.delivery import path as delivery_path
from mqlab.delivery import positions as delivery_positions
from mqlab.delivery.path import (
    NOT_TOLD,
    PathRow,
    Toll,
    at_stake,
    bounded,
    by_number,
    count,
    due,
    groups,
    path,
    telling,
    total,
)
from mqlab.delivery.positions import Mark
from mqlab.delivery.risks import risks as of_settings
from mqlab.delivery.rows import Audit, Doubled, GroupRow, Loss
from mqlab.facts import Facts
from mqlab.frames import where
from mqlab.shared.table import table
from mqlab.units import clock, number
from mqlab.views.audit_json import commands_for
from mqlab.views.delivery import AuditView

_PATH = (
    "partition", "group", "sent", "acknowledged", "failed", "unanswered", "stored", "handled", "committed at",
    "log", "lost", "pending", "doubled", "unknown",
)  # fmt: skip
_MOST = 300
"""Rows of one table; beyond, those with losses or changes stay."""
_IF_TOLD = ("failed", "unanswered", "unknown")
"""Columns that are left out where they have nothing to say."""


def topics(audits: Sequence[Audit]) -> pd.DataFrame:
    """One row per topic: the outcome and the numbers behind it."""
    rows = []
    for audit in sorted(audits, key=lambda one: one.topic):
        log = total(path(audit, None))
        rows.append(
            {
                "topic": audit.topic,
                "outcome": audit.outcome.value,
                "acknowledged": _cell(log, "acked", log.acked),
                "lost": _sum(delivery_path.losses(audit)),
                "doubled": _sum(delivery_path.doubles(audit)),
                "what that means": audit.statement,
            }
        )
    return table(rows, ("topic", "outcome", "acknowledged", "lost", "doubled", "what that means"))


def answer(view: AuditView) -> pd.DataFrame:
    """The topic that is looked at, in a few lines."""
    return table([{"question": asked, "answer": told} for asked, told in _answers(view)], ("question", "answer"))


def way(view: AuditView) -> pd.DataFrame:
    """One row per partition and group, and one for all partitions: how far the messages got."""
    rows = []
    for group in groups(view.audit) if view.audit and (view.audit.log or view.audit.groups) else ():
        own = path(view.audit, group) if view.audit else ()
        rows += [_path(one) for one in (*telling(own, _MOST), *([total(own)] if len(own) > 1 else []))]
    silent = [name for name in _IF_TOLD if all(row[name] in (delivery_path.NOT_TOLD, "0") for row in rows)]
    return table(rows, tuple(name for name in _PATH if name not in silent))


def replicas(view: AuditView) -> pd.DataFrame:
    """One row per log end that a broker told of: as it became leader or follower, and as it cut its log."""
    reigns = {(one.queue, one.broker, one.place): one for one in view.reigns}
    changes = Counter(one.queue for one in view.reigns)
    kept = sorted(view.levels, key=lambda level: -changes[level.queue])[:_MOST]
    rows = []
    for one in sorted(kept, key=lambda level: (by_number(level.queue), level.at, by_number(level.broker))):
        reign = reigns.get((one.queue, one.broker, one.place))
        rows.append(
            {
                "partition": one.queue,
                "UTC": clock(one.at),
                "broker": one.broker,
                "what": f"{one.what}{', unclean election' if reign and reign.unclean else ''}",
                "log end": number(one.offset),
                "epoch": count(reign.epoch if reign else None),
                "high watermark": count(reign.high_watermark if reign else None),
                "in sync": ", ".join(reign.isr) if reign and reign.isr else delivery_path.NOT_TOLD,
                "where": one.place,
            }
        )
    columns = ("partition", "UTC", "broker", "what", "log end", "epoch", "high watermark", "in sync", "where")
    return table(rows, columns)


def missing(view: AuditView) -> pd.DataFrame:
    """What would make it certain, and the command that fetches it."""
    told = view.audit.missing if view.audit else ()
    rows = [
        {"missing": words, "fetched by": "\n".join(commands_for([words])) or delivery_path.NOT_TOLD} for words in told
    ]
    return table(rows, ("missing", "fetched by"))


def _answers(view: AuditView) -> Iterator[tuple[str, str]]:
    if view.audit is None:
        yield "topic", "this material names no topic of Kafka that could be audited"
        return
    yield "topic", view.audit.topic
    yield "outcome", view.audit.outcome.value
    yield "what that means", view.audit.statement
    for toll in delivery_path.losses(view.audit):
        yield f"lost {toll.where}", f"{bounded(toll.records, toll.least, toll.most)}: {toll.incident}"
    for toll in delivery_path.doubles(view.audit):
        yield f"doubled {toll.where}", f"{bounded(toll.records, toll.least, toll.most)} copies: {toll.incident}"
    for group in groups(view.audit):
        whole = total(path(view.audit, group))
        if group and whole.pending:
            yield f"pending at group {group}", f"{_cell(whole, 'pending', whole.pending)}: not lost, only not read yet"


def _path(one: PathRow) -> dict[str, object]:
    whole = one.queue is None
    return {
        "partition": "all" if whole else one.queue or "not told",
        "group": one.group or delivery_path.NOT_TOLD,
        "sent": _cell(one, "sent", one.sent),
        "acknowledged": _cell(one, "acked", one.acked),
        "failed": _cell(one, "failed", one.failed),
        "unanswered": _cell(one, "unanswered", one.unanswered),
        "stored": _cell(one, "stored", one.stored),
        "handled": _cell(one, "handled", one.handled),
        "committed at": "" if whole else count(one.committed),
        "log": "" if whole or one.start is None is one.end else f"{count(one.start)} to {count(one.end)}",
        "lost": f"{one.bound} {number(one.lost)}".strip(),
        "pending": _cell(one, "pending", one.pending),
        "doubled": number(one.doubled),
        "unknown": number(one.unknown),
    }


def _cell(row: PathRow, column: str, value: int | None) -> str:
    return f"≥ {number(value)}" if value is not None and column in row.partly else count(value)


def _sum(tolls: Sequence[Toll]) -> str:
    parts = [(toll.records, toll.least, toll.most) for toll in tolls]
    return bounded(*(sum(column) for column in zip(*parts, strict=True))) if parts else "0"


_POSITIONS = (
    "group", "partition", "first position", "last position", "log start", "log end", "handled", "pending", "lost",
    "doubled", "unknown",
)  # fmt: skip
_SKIPS = ("group", "partition", "UTC", "from", "up to", "offsets", "why", "for example")


def positions(facts: Facts, view: AuditView) -> pd.DataFrame:
    """One row per group and partition: its position as first and last seen, the log around it, what it handled."""
    return table([_position(facts, row) for row in _rows(view)], _POSITIONS)


def skips(facts: Facts, view: AuditView) -> pd.DataFrame:
    """One row per range of offsets that a group passed over without reading it, and why."""
    rows = [
        {
            "group": row.group,
            "partition": row.queue,
            "UTC": clock(one.at),
            "from": number(one.low),
            "up to": number(one.high - 1),
            "offsets": number(one.high - one.low),
            "why": f"{one.why}{', it has not come back' if one.ongoing else ''}",
            "for example": where(one.places[0]) if one.places else NOT_TOLD,
        }
        for row in _rows(view)
        for one in offset_gaps.skips(facts, row.group, row.topic, row.queue)
    ]
    return table(rows, _SKIPS)


def _rows(view: AuditView) -> list[GroupRow]:
    groups = view.audit.groups if view.audit else ()
    return sorted(groups, key=lambda row: (row.group, by_number(row.queue)))


def _position(facts: Facts, row: GroupRow) -> dict[str, object]:
    known = delivery_positions.offsets(facts, row.group, row.topic, row.queue)
    return {
        "group": row.group,
        "partition": row.queue,
        "first position": _mark(known.committed[0] if known.committed else None),
        "last position": _mark(known.last),
        "log start": _mark(known.start),
        "log end": _mark(known.end),
        "handled": count(row.handled),
        "pending": count(row.pending),
        "lost": number(row.lost),
        "doubled": number(row.doubled),
        "unknown": number(row.unknown),
    }


def _mark(mark: Mark | None) -> str:
    """``5,035 at 12:07:10``."""
    return NOT_TOLD if mark is None else f"{number(mark.offset)} at {clock(mark.at)}"


_PARTS = ("mechanism", "where", "partition", "messages", "offsets", "acknowledged", "how it was counted", "for example")
_DOUBLES = (
    "mechanism",
    "where",
    "partition",
    "messages",
    "copies too many",
    "when",
    "how it was counted",
    "for example",
)


def lost(view: AuditView) -> pd.DataFrame:
    """One row per mechanism and partition that lost messages."""
    tolls = delivery_path.losses(view.audit) if view.audit else ()
    return table([_loss(toll, one) for toll in tolls for one in toll.parts if isinstance(one, Loss)], _PARTS)


def doubled(view: AuditView) -> pd.DataFrame:
    """One row per mechanism and partition that doubled messages."""
    tolls = delivery_path.doubles(view.audit) if view.audit else ()
    return table([_double(toll, one) for toll in tolls for one in toll.parts if isinstance(one, Doubled)], _DOUBLES)


def _loss(toll: Toll, one: Loss) -> dict[str, object]:
    return {
        "mechanism": toll.incident,
        "where": toll.where,
        "partition": one.queue or "not told",
        "messages": bounded(one.records, one.least, one.most),
        "offsets": delivery_path.offsets(one).removeprefix("at offset").removeprefix("s").strip()
        or delivery_path.NOT_TOLD,
        "acknowledged": delivery_path.between(one.since, one.until) or delivery_path.NOT_TOLD,
        "how it was counted": one.how,
        "for example": where(one.evidence[0]) if one.evidence else delivery_path.NOT_TOLD,
    }


def _double(toll: Toll, one: Doubled) -> dict[str, object]:
    return {
        "mechanism": toll.incident,
        "where": toll.where,
        "partition": one.queue or "not told",
        "messages": number(one.records),
        "copies too many": bounded(one.extra, one.least, one.most),
        "when": delivery_path.between(one.since, one.until) or delivery_path.NOT_TOLD,
        "how it was counted": one.how,
        "for example": where(one.evidence[0]) if one.evidence else delivery_path.NOT_TOLD,
    }


_COLUMNS = (
    "whose",
    "setting",
    "value",
    "what it means here",
    "what may happen",
    "each time",
    "how that is known",
    "where",
)


def risks(facts: Facts) -> pd.DataFrame:
    """One row per setting that may lose or double records; nothing in it says that it did."""
    rows = [
        {
            "whose": one.owner,
            "setting": one.setting,
            "value": one.value,
            "what it means here": one.effective,
            "what may happen": f"{one.may}{f' ({one.incident})' if one.incident else ''}",
            "each time": ", ".join(part for part in (at_stake(one), due(one)) if part) or NOT_TOLD,
            "how that is known": one.how or NOT_TOLD,
            "where": where(one.evidence[0]) if one.evidence else NOT_TOLD,
        }
        for one in of_settings(facts)
    ]
    return table(rows, _COLUMNS)
