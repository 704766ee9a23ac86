"""Blocks of settings that Java clients and brokers print when they start → SETTINGS.

Sample lines::

    2026-11-21 12:18:54,559 INFO ProducerConfig values:
        acks = -1
        client.id = mqtt-bridge
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from mqlab.loaders import layouts
from mqlab.loaders.signatures import SETTING
from mqlab.sql import filled, group

_IN_ORDER = "OVER (PARTITION BY source ORDER BY line)"


def settings(log_rows: DataFrame) -> DataFrame:
    """SETTINGS with the moment of the block's first line on its own clock (``wall``, ``offset``).

    *log_rows* are those of logs by source and line, with ``tag`` (event or setting) and ``inner``.
    """
    head = filled(group("inner", r"\b(\w+)Config values:"))
    marked = log_rows.selectExpr(
        "source", "line", "text", "tag", f"{layouts.wall('inner')} AS own", f"{layouts.offset('inner')} AS offset",
        f"{head} AS head",
        f"{filled(group('inner', SETTING))} AS key",
        f"{group('inner', SETTING, 2)} AS value",
    )  # fmt: skip
    placed = marked.selectExpr(
        "source", "line", "text", "tag", "offset", "key", "value",
        f"last(head, true) {_IN_ORDER} AS printer",
        f"last(CASE WHEN head IS NOT NULL THEN own END, true) {_IN_ORDER} AS wall",
        f"last(CASE WHEN head IS NOT NULL THEN line END, true) {_IN_ORDER} AS block",
    ).where("tag = 'setting' AND block IS NOT NULL")  # fmt: skip
    owners = ", ".join(
        f"max(CASE WHEN key = '{key}' THEN nullif(value, '') END) OVER (PARTITION BY source, block)"
        for key in ("client.id", "group.id", "broker.id", "node.id")
    )
    return placed.selectExpr(
        "source", "line", "text", "key", "value", "wall", "offset", f"coalesce({owners}) AS owner",
        "CASE printer WHEN 'Kafka' THEN 'broker' ELSE lower(printer) END AS scope",
        "'printed' AS origin",
        "CAST(NULL AS STRING) AS version",
    )  # fmt: skip
