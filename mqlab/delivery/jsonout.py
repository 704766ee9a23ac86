"""The delivery audit as JSON, schema ``mqlab.audit/1``: the same facts give the same bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from mqlab.bridging.jsonout import chain_json
from mqlab.bridging.rows import Chain
from mqlab.delivery.fetch import commands_for
from mqlab.delivery.path import by_number
from mqlab.delivery.rows import Audit, Doubled, GroupRow, LogRow, Loss
from mqlab.delivery_risks.rows import Risk
from mqlab.findings import Evidence
from mqlab.units import iso

SCHEMA = "mqlab.audit/1"


def dumps(audits: Sequence[Audit], because: str = "", risks: Sequence[Risk] = (), ways: Sequence[Chain] = ()) -> str:
    """The JSON text of the audit of each topic and of settings; times in UTC, null for what the material does not say.

    *because* says why there is no topic; *ways* are those of MQTT messages, which are told where there are any.
    """
    topics = [_topic(audit) for audit in sorted(audits, key=lambda audit: audit.topic)]
    told: dict[str, Any] = {
        "schema": SCHEMA,
        "topics": topics,
        "because": None if topics or ways else because,
        "risks": [_risk(risk) for risk in risks],
    }
    told |= {"mqtt": [chain_json(way) for way in ways]} if ways else {}
    return json.dumps(told, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _topic(audit: Audit) -> dict[str, Any]:
    groups = sorted(audit.groups, key=lambda row: (row.group, by_number(row.queue)))
    return {
        "topic": audit.topic,
        "outcome": audit.outcome.value,
        "statement": audit.statement,
        "partitions": [_log(row) for row in sorted(audit.log, key=lambda row: by_number(row.queue))],
        "groups": [_group(row) for row in groups],
        "losses": [_loss(one) for one in audit.losses],
        "doubled": [_doubled(one) for one in audit.doubled],
        "missing": list(audit.missing),
        "fetch": list(commands_for(audit.missing)),
    }


def _log(row: LogRow) -> dict[str, Any]:
    return {
        "partition": row.queue,
        "sent": row.sent,
        "acknowledged": row.acked,
        "failed": row.failed,
        "failed_but_stored": row.failed_stored,
        "unanswered": row.unanswered,
        "stored": row.stored,
        "lost": row.lost,
        "doubled": row.doubled,
        "log_start": row.start,
        "log_end": row.end,
    }


def _group(row: GroupRow) -> dict[str, Any]:
    return {
        "group": row.group,
        "partition": row.queue,
        "handled": row.handled,
        "times_handled": row.times,
        "committed_offset": row.committed,
        "pending": row.pending,
        "lost": row.lost,
        "doubled": row.doubled,
        "unknown": row.unknown,
        "skipped_by_hand": row.by_hand,
        "set_aside": row.aside,
    }


def _loss(one: Loss) -> dict[str, Any]:
    return {
        "incident": one.incident,
        "side": one.side.value,
        "group": one.group,
        "partition": one.queue,
        "records": one.records,
        "at_least": one.least,
        "at_most": one.most,
        "first_offset": one.first_offset,
        "last_offset": one.last_offset,
        "since": iso(one.since),
        "until": iso(one.until),
        "how": one.how,
        "evidence": [_place(place) for place in one.evidence],
    }


def _doubled(one: Doubled) -> dict[str, Any]:
    return {
        "incident": one.incident,
        "side": one.side.value,
        "group": one.group,
        "partition": one.queue,
        "records": one.records,
        "extra": one.extra,
        "at_least": one.least,
        "at_most": one.most,
        "since": iso(one.since),
        "until": iso(one.until),
        "how": one.how,
        "evidence": [_place(place) for place in one.evidence],
    }


def _risk(one: Risk) -> dict[str, Any]:
    return {
        "setting": one.setting,
        "owner": one.owner,
        "value": one.value,
        "effective": one.effective,
        "may": one.may,
        "incident": one.incident,
        "records": one.records,
        "at_least": one.low,
        "at_most": one.high,
        "how": one.how,
        "due_seconds": None if one.due_seconds is None else round(one.due_seconds, 3),
        "evidence": [_place(place) for place in one.evidence],
    }


def _place(one: Evidence) -> dict[str, Any]:
    return {"source": one.source, "line": one.line, "text": one.text}
