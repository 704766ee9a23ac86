"""Ledgers that note ids of messages and no places: what they are about is told by dumps and ledgers with the same ids.

Two producers may both count from 0: an id alone proves little, so a ledger must share far more of them with one topic
than with any other.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

_ROLES = "role IN ('sent', 'acked', 'failed', 'received', 'consumed', 'processed', 'stored')"
_FAR_MORE = 10
"""Times as many ids in common as with any other topic."""


def with_ids(titles: DataFrame, rows: DataFrame, told: DataFrame) -> DataFrame:
    """*titles* (source, shared), and the topic by ids where nothing else tells one.

    *told* has the sources with ``topic``, ``placed`` and ``unique``, *rows* what they note.
    """
    loose = told.where("topic = '' AND placed = 0 AND unique").groupBy("source").agg(F.expr("true AS loose"))
    wanted = F.broadcast(loose.selectExpr("true AS wanted").limit(1))
    noted = rows.where(f"{_ROLES} AND key IS NOT NULL").crossJoin(wanted).join(F.broadcast(loose), "source", "left")
    keys = noted.groupBy("key").agg(
        F.expr("collect_set(source) FILTER (WHERE loose) AS sources"), F.expr("collect_set(topic) AS topics")
    )
    pairs = keys.where("size(sources) > 0 AND size(topics) > 0").selectExpr("explode(sources) AS source", "topics")
    counted = pairs.selectExpr("source", "explode(topics) AS topic").groupBy("source", "topic").count()
    ranked = counted.groupBy("source").agg(F.expr("sort_array(collect_list(struct(count, topic)), false) AS best"))
    clear = ranked.where(f"size(best) = 1 OR get(best, 0).count > {_FAR_MORE} * get(best, 1).count")
    by_ids = clear.selectExpr("source", "get(best, 0).topic AS by_ids")
    both = titles.join(F.broadcast(by_ids), "source", "left")
    return both.selectExpr("source", "coalesce(shared, by_ids) AS shared")
