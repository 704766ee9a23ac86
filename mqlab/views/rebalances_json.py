"""Rebalances of Kafka's consumer groups as JSON, schema ``mqlab.rebalances/1``: the same facts give the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from mqlab.kafka.rows import Rebalance
from mqlab.units import iso

SCHEMA = "mqlab.rebalances/1"


def dumps(histories: Iterable[tuple[str, Sequence[Rebalance]]]) -> str:
    """The JSON text of the rebalances of each group; times in UTC, null for what nothing tells."""
    groups = [{"group": group, "rebalances": [_row(row) for row in rows]} for group, rows in histories]
    return json.dumps({"schema": SCHEMA, "groups": groups}, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _row(row: Rebalance) -> dict[str, Any]:
    return {
        "group": row.group,
        "generation": row.generation,
        "started": iso(row.started),
        "stabilised": iso(row.stabilised),
        "trigger": row.trigger.value,
        "behind": row.behind.value,
        "reason": row.reason,
        "client_id": row.client_id,
        "member_id": row.member_id,
        "host": row.host,
        "inferred": row.inferred,
        "because": row.because,
        "story": row.story,
        "members_before": row.members_before,
        "members_after": row.members_after,
        "moved": row.moved,
        "standstill_seconds": None if row.standstill is None else round(row.standstill, 3),
        "delayed_records": row.delayed,
        "repeated_records": row.repeated,
        "evidence": [{"source": one.source, "line": one.line, "text": one.text} for one in row.evidence],
    }
