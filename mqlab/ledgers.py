"""LEDGER, thinned inside Spark: counts instead of messages.

A message is (topic, queue, offset); where a ledger notes no offset, (topic, key).
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

BUCKET = 10
"""Seconds that one row spans."""
_HANDLED = "role IN ('received', 'consumed', 'processed')"
_BEGIN = f"floor(unix_seconds(wall) / {BUCKET}) * {BUCKET}"


def tallies(ledger: DataFrame) -> DataFrame:
    """source, role, topic, queue, at (seconds), messages, and the first line; no text, so that it is only counted."""
    known = ledger.where("wall IS NOT NULL AND topic IS NOT NULL").selectExpr(
        "source", "line", "role", "topic", "coalesce(queue, '') AS queue", f"{_BEGIN} AS at"
    )
    return known.groupBy("source", "role", "topic", "queue", "at").agg(
        F.expr("count(1) AS messages"), F.expr("min(line) AS line")
    )


def deliveries(ledger: DataFrame) -> DataFrame:
    """Source (of the first ledger), topic, queue, at (seconds, of the first time), sources and messages.

    Only what was received, consumed or processed. The sources of a message are sorted; one that notes it twice stands
    there twice.
    """
    named = "CASE WHEN queue IS NOT NULL AND position IS NOT NULL THEN CAST(position AS STRING) ELSE key END AS message"
    handled = ledger.where(f"{_HANDLED} AND wall IS NOT NULL AND topic IS NOT NULL").selectExpr(
        "source", "topic", "coalesce(queue, '') AS queue", f"{_BEGIN} AS at", named
    )
    messages = handled.where("message IS NOT NULL").groupBy("topic", "queue", "message").agg(
        F.expr("min(at) AS at"), F.expr("sort_array(collect_list(source)) AS sources")
    )  # fmt: skip
    counted = messages.groupBy("topic", "queue", "at", "sources").agg(F.expr("count(1) AS messages"))
    return counted.selectExpr("sources[0] AS source", "topic", "queue", "at", "sources", "messages")
