"""What each ledger or dump tells of each partition, counted inside Spark."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

_RECORD = "role <> 'dump' AND (status IS NULL OR status <> 'control')"


def parts(rows: DataFrame, topics: DataFrame) -> DataFrame:
    """One row for each source, role, topic and queue of LEDGER, with the topic that the ledger is about.

    Records of control and the row that stands for a dump itself are not counted, but their offsets are covered.
    """
    titles = topics.selectExpr("source", "topic", "title")
    known = rows.where("role IS NOT NULL").selectExpr(
        "source", "line", "told", "party", "`group`", "position", "wall", "key", "role <> 'dump' AS inside",
        "CASE role WHEN 'dump' THEN 'stored' ELSE role END AS role", "coalesce(topic, '') AS topic",
        "coalesce(queue, '') AS queue", f"{_RECORD} AS record",
    )  # fmt: skip
    titled = known.join(F.broadcast(titles), ["source", "topic"], "left")
    named = titled.selectExpr("* EXCEPT (topic, title)", "coalesce(title, topic) AS topic")
    return named.groupBy("source", "role", "topic", "queue").agg(
        F.expr("min(told) AS told"),
        F.expr("min(party) AS party"),
        F.expr("min(`group`) AS `group`"),
        F.expr("count_if(record) AS messages"),
        F.expr("approx_count_distinct(key, 0.02) FILTER (WHERE record) AS keys"),
        F.expr("min(position) FILTER (WHERE inside) AS first_offset"),
        F.expr("max(position) FILTER (WHERE inside) AS last_offset"),
        F.expr("unix_micros(min(wall) FILTER (WHERE inside)) AS first_at"),
        F.expr("unix_micros(max(wall) FILTER (WHERE inside)) AS last_at"),
        F.expr("min(line) AS first_line"),
        F.expr("max(line) AS last_line"),
        F.expr("min(position) FILTER (WHERE NOT inside) AS start"),
        F.expr("unix_micros(max(wall) FILTER (WHERE NOT inside)) AS taken_at"),
    )
