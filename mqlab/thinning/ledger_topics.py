"""Which topic each ledger is about, and whether its keys tell messages apart.

Many ledgers note no topic, and many note as key what a device or a customer is called. Both are told by what the
ledgers share and by how often their keys differ; the counts of different keys are sketches (HyperLogLog, 1.6 % off).
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.thinning.ledger_ids import with_ids

IDS = 0.9
"""Different keys for each message from which keys are ids of messages: some records are noted twice, and the counts
are sketches; keys of devices come again after every few records."""
_PLACED = "queue IS NOT NULL AND position IS NOT NULL"
_ROLES = "role IN ('sent', 'acked', 'failed', 'received', 'consumed', 'processed', 'stored')"


def topics(rows: DataFrame) -> DataFrame:
    """One row for each source and topic that it notes: source, topic, title, scope and ids.

    ``topic`` is what the row notes, empty where it notes none; ``title`` is the topic it is about, empty where that
    stays unknown; messages of one ``scope`` may be the same: the topic, else who keeps the ledger. ``ids`` is true
    where keys of these rows tell the messages of the scope apart.
    """
    told = _told(rows).localCheckpoint()
    titles = with_ids(_of_party(told, _shared(rows, told)), rows, told)
    kin = _kin(rows, told)
    scoped = (
        told.join(F.broadcast(titles), "source", "left")
        .join(F.broadcast(kin), "source", "left")
        .selectExpr(
            "* EXCEPT (shared, kin)",
            "coalesce(nullif(topic, ''), shared, '') AS title",
            "coalesce(nullif(topic, ''), shared, concat('?', coalesce(kin, party, source))) AS scope",
        )
    )
    known = scoped.join(F.broadcast(_keyed(scoped)), "scope", "left").groupBy("source", "topic", "title", "scope")
    return known.agg(F.expr("bool_and(unique AND coalesce(keyed, false)) AS ids"))


def _told(rows: DataFrame) -> DataFrame:
    """One row for each source, role and topic: how many messages, places and keys it notes, the latter as sketches."""
    keys = f"hll_sketch_agg(key) FILTER (WHERE {_PLACED})"
    places = f"hll_sketch_agg(concat(queue, ' ', position)) FILTER (WHERE {_PLACED})"
    counted = (
        rows.where(_ROLES)
        .selectExpr("source", "role", "coalesce(topic, '') AS topic", "party", "queue", "position", "key")
        .groupBy("source", "role", "topic")
        .agg(
            F.expr("min(party) AS party"),
            F.expr("count(1) AS messages"),
            F.expr("count(key) AS noted"),
            F.expr(f"count_if({_PLACED}) AS placed"),
            F.expr("hll_sketch_agg(key) AS keys"),
            F.expr(f"{keys} AS keys_placed"),
            F.expr(f"{places} AS places"),
        )
    )
    differ = f"""noted >= {IDS} * messages AND CASE
        WHEN placed > 0 THEN {_estimate("keys_placed")} >= {IDS} * {_estimate("places")}
        ELSE {_estimate("keys")} >= {IDS} * messages END"""
    return counted.selectExpr("* EXCEPT (keys_placed, places)", f"{differ} AS unique")


def _estimate(sketch: str) -> str:
    return f"coalesce(hll_sketch_estimate({sketch}), 0)"


def _keyed(told: DataFrame) -> DataFrame:
    """Scopes with ``keyed``: each ledger of acknowledgements, else of what was sent, has keys of its own.

    Two producers that both count from 0 for one topic give the same keys to different messages.
    """
    first = "min(CASE role WHEN 'acked' THEN 1 WHEN 'sent' THEN 2 END) OVER (PARTITION BY scope) AS teller"
    tellers = told.selectExpr("*", first).where("teller = CASE role WHEN 'acked' THEN 1 WHEN 'sent' THEN 2 END")
    apart = f"{_estimate('hll_union_agg(keys)')} >= {IDS} * sum({_estimate('keys')})"
    return tellers.groupBy("scope").agg(F.expr(f"bool_and(unique) AND {apart} AS keyed"))


def _shared(rows: DataFrame, told: DataFrame) -> DataFrame:
    """Source and topic of ledgers without one: that of the ledgers with which they share most places and keys."""
    without = told.where("topic = ''").selectExpr("true AS wanted").limit(1)
    noted = rows.where(f"{_ROLES} AND {_PLACED} AND key IS NOT NULL").crossJoin(F.broadcast(without))
    places = noted.groupBy("queue", "position", "key").agg(
        F.expr("collect_set(source) FILTER (WHERE topic IS NULL) AS sources"), F.expr("collect_set(topic) AS topics")
    )
    pairs = places.where("size(sources) > 0 AND size(topics) > 0").selectExpr("explode(sources) AS source", "topics")
    counted = pairs.selectExpr("source", "explode(topics) AS topic").groupBy("source", "topic").count()
    ranked = counted.groupBy("source").agg(F.expr("sort_array(collect_list(struct(count, topic)), false) AS best"))
    clear = "size(best) = 1 OR get(best, 0).count > get(best, 1).count"
    return ranked.where(clear).selectExpr("source", "get(best, 0).topic AS shared")


def _kin(rows: DataFrame, told: DataFrame) -> DataFrame:
    """Source and whose messages it is about, where no ledger notes a topic: those of one party's acknowledgements.

    Most of its places and keys are that party's own. What fits two parties is about neither: both may count from 0.
    """
    without = "topic IS NULL AND key IS NOT NULL"
    noted = rows.where(f"{_ROLES} AND {_PLACED} AND {without}").selectExpr(
        "source", "role", "coalesce(party, source) AS kin", "queue", "position", "key"
    )
    tellers = noted.where("role = 'acked'").select("kin", "queue", "position", "key").distinct()
    others = noted.where("role <> 'acked'").select("source", "queue", "position", "key").distinct()
    shared = others.join(tellers, ["queue", "position", "key"]).groupBy("source", "kin").count()
    placed = told.where("topic = '' AND role <> 'acked'").groupBy("source").agg(F.expr("sum(placed) AS placed"))
    most = shared.join(F.broadcast(placed), "source").where("2 * count > placed")
    return most.groupBy("source").agg(F.expr("CASE WHEN count(1) = 1 THEN min(kin) END AS kin"))


def _of_party(told: DataFrame, shared: DataFrame) -> DataFrame:
    """*shared*, and for what a party sent without a place the only topic in its acknowledgements."""
    both = told.join(F.broadcast(shared), "source", "left")
    acked = both.where("role = 'acked' AND party IS NOT NULL").selectExpr(
        "party", "coalesce(nullif(topic, ''), shared) AS answered"
    )
    only = acked.groupBy("party").agg(
        F.expr("CASE WHEN min(answered) = max(answered) AND count(1) = count(answered) THEN min(answered) END AS only")
    )
    return (
        both.where("topic = ''")
        .join(F.broadcast(only), "party", "left")
        .groupBy("source")
        .agg(F.expr("coalesce(max(shared), max(CASE WHEN role IN ('sent', 'failed') THEN only END)) AS shared"))
    )
