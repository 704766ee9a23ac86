"""Tables of what was lost and doubled, by mechanism and partition, for the notebook."""

from __future__ import annotations

import pandas as pd

from mqlab.delivery import words
from mqlab.delivery.rows import Doubled, Loss
from mqlab.delivery.view import AuditView
from mqlab.delivery.words import Toll, bounded
from mqlab.frames import where
from mqlab.rocketmq.group_frames import table
from mqlab.units import number

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
    tolls = words.losses(view.audit) if view.audit else ()
    return table([_loss(toll, one) for toll in tolls for one in toll.parts if isinstance(one, Loss)], _PARTS)


def doubled(view: AuditView) -> pd.DataFrame:
    """One row per mechanism and partition that doubled messages."""
    tolls = words.doubles(view.audit) if view.audit else ()
    return table([_double(toll, one) for toll in tolls for one in toll.parts if isinstance(one, Doubled)], _DOUBLES)


def _loss(toll: Toll, one: Loss) -> dict[str, object]:
    return {
        "mechanism": toll.incident,
        "where": toll.where,
        "partition": one.queue or "not told",
        "messages": bounded(one.records, one.least, one.most),
        "offsets": words.offsets(one).removeprefix("at offset").removeprefix("s").strip() or words.NOT_TOLD,
        "acknowledged": words.between(one.since, one.until) or words.NOT_TOLD,
        "how it was counted": one.how,
        "for example": where(one.evidence[0]) if one.evidence else words.NOT_TOLD,
    }


def _double(toll: Toll, one: Doubled) -> dict[str, object]:
    return {
        "mechanism": toll.incident,
        "where": toll.where,
        "partition": one.queue or "not told",
        "messages": number(one.records),
        "copies too many": bounded(one.extra, one.least, one.most),
        "when": words.between(one.since, one.until) or words.NOT_TOLD,
        "how it was counted": one.how,
        "for example": where(one.evidence[0]) if one.evidence else words.NOT_TOLD,
    }
