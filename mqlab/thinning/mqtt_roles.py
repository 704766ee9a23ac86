"""Whose side the ledgers of MQTT are on that do not say it: receivers, where a publisher noted most messages before.

Messages are told apart by topic and id, since publishers may count alike. Another publisher's messages are its own, so
nobody else noted them: that leaves it open.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.sql import quoted
from mqlab.thinning.mqtt_notes import mqtt

NEARLY_ALL = 0.9
"""Share of messages that a publisher must have noted before: clocks differ, and some may be of others."""


def filled(rows: DataFrame, links: Collection[str]) -> DataFrame:
    """Rows of LEDGER, parsed, with the role ``received`` where an MQTT ledger tells none.

    *links* are ledgers of MQTT. Runs Spark once, and once more where there are such ledgers.
    """
    own = rows.where(f"{mqtt(links)} AND key IS NOT NULL AND wall IS NOT NULL")
    silent = own.where("role IS NULL")
    if silent.isEmpty():
        return rows
    heard = _heard(silent, own.where("role = 'sent'"))
    if not heard:
        return rows
    here = f"role IS NULL AND source IN ({', '.join(map(quoted, heard))})"
    return rows.withColumns({
        "told": F.expr(f"CASE WHEN {here} THEN 'shape' ELSE told END"),
        "role": F.expr(f"CASE WHEN {here} THEN 'received' ELSE role END"),
    })  # fmt: skip


def _heard(silent: DataFrame, sent: DataFrame) -> Sequence[str]:
    """Sources of which nearly all messages were sent before they are noted there."""
    first = sent.groupBy("topic", "key").agg(F.expr("min(wall) AS sent_at"))
    noted = (
        silent.groupBy("source", "topic", "key").agg(F.expr("min(wall) AS at")).join(first, ["topic", "key"], "left")
    )
    counted = noted.groupBy("source").agg(F.expr("count_if(at >= sent_at) AS later"), F.expr("count(1) AS messages"))
    return sorted(row["source"] for row in counted.where(f"later >= {NEARLY_ALL} * messages").collect())
