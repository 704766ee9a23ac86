"""Tables of the delivery audit for the notebook: topics, the way of their messages, log ends, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd

from mqlab.delivery import words as audit_words
from mqlab.delivery.fetch import commands_for
from mqlab.delivery.path import PathRow, by_number, groups, path, telling, total
from mqlab.delivery.rows import Audit
from mqlab.delivery.view import AuditView
from mqlab.delivery.words import Toll, bounded, count
from mqlab.rocketmq.group_frames import table
from mqlab.units import clock, number

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
                "lost": _sum(audit_words.losses(audit)),
                "doubled": _sum(audit_words.doubles(audit)),
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
    silent = [name for name in _IF_TOLD if all(row[name] in (audit_words.NOT_TOLD, "0") for row in rows)]
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
                "in sync": ", ".join(reign.isr) if reign and reign.isr else audit_words.NOT_TOLD,
                "where": one.place,
            }
        )
    columns = ("partition", "UTC", "broker", "what", "log end", "epoch", "high watermark", "in sync", "where")
    return table(rows, columns)


def missing(view: AuditView) -> pd.DataFrame:
    """What would make it certain, and the command that fetches it."""
    told = view.audit.missing if view.audit else ()
    rows = [
        {"missing": words, "fetched by": "\n".join(commands_for([words])) or audit_words.NOT_TOLD} for words in told
    ]
    return table(rows, ("missing", "fetched by"))


def _answers(view: AuditView) -> Iterator[tuple[str, str]]:
    if view.audit is None:
        yield "topic", "this material names no topic of Kafka that could be audited"
        return
    yield "topic", view.audit.topic
    yield "outcome", view.audit.outcome.value
    yield "what that means", view.audit.statement
    for toll in audit_words.losses(view.audit):
        yield f"lost {toll.where}", f"{bounded(toll.records, toll.least, toll.most)}: {toll.incident}"
    for toll in audit_words.doubles(view.audit):
        yield f"doubled {toll.where}", f"{bounded(toll.records, toll.least, toll.most)} copies: {toll.incident}"
    for group in groups(view.audit):
        whole = total(path(view.audit, group))
        if group and whole.pending:
            yield f"pending at group {group}", f"{_cell(whole, 'pending', whole.pending)}: not lost, only not read yet"


def _path(one: PathRow) -> dict[str, object]:
    whole = one.queue is None
    return {
        "partition": "all" if whole else one.queue or "not told",
        "group": one.group or audit_words.NOT_TOLD,
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
