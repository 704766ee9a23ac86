"""LEDGER of MQTT, thinned inside Spark: what became of messages as runs and by topic, and what each ledger notes when.

Rows of ledgers without ids are counted only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.thinning import mqtt_messages, mqtt_notes
from mqlab.thinning.mqtt_notes import DUP, RETAINED, ROLES

RUNS = 1000
"""Runs of a sender that are told one by one; members of a share group take turns, so that there may be as many as
messages, and facts must not grow with those."""
TOPICS = 2000
"""Topics that are told one by one."""
BUCKET = 10
"""Seconds that one row spans."""

_FATE = ("sender", "party", "failed", "qos", "received")
_MOMENTS = ("unix_micros(first.at) AS first_at", "unix_micros(last.at) AS last_at")


def thinned(rows: DataFrame, links: Collection[str], *, others: bool) -> Mapping[str, DataFrame]:
    """flows, topic_flows, receipts and passages of the MQTT ledgers *links*, from the rows of LEDGER, parsed.

    *others* is whether there are rows of other ledgers. Runs Spark once.
    """
    notes = mqtt_notes.notes(rows, links, others=others)
    known = mqtt_messages.messages(notes)
    return {
        "flows": _flows(known),
        "topic_flows": _topic_flows(known),
        "receipts": _receipts(rows, links, known),
        "passages": _passages(known),
    }


def _told(messages: DataFrame) -> DataFrame:
    return messages.selectExpr(*_FATE, "topic", "first", "first AS last", "1 AS messages")


def _together(rows: DataFrame, *by: str) -> DataFrame:
    """Rows that are alike *by* some columns as one, and how many they were."""
    ends = ("sum(messages) AS messages", "min(first) AS first", "max(last) AS last", "count(1) AS pieces")
    return rows.groupBy(*by).agg(*map(F.expr, ends))


def _flows(messages: DataFrame) -> DataFrame:
    """Messages of a sender that follow one another with the same fate as one row, at most ``RUNS`` of a sender."""
    fate = "struct(failed, qos, received)"
    order = "PARTITION BY sender ORDER BY first"
    changed = _told(messages).selectExpr("*", f"CAST(NOT ({fate} <=> lag({fate}) OVER ({order})) AS INT) AS changed")
    numbered = changed.selectExpr("*", f"sum(changed) OVER ({order} ROWS UNBOUNDED PRECEDING) AS run")
    pieces = _together(numbered.selectExpr("*", f"{_begin('first.at')} AS bucket"), *_FATE, "run", "bucket")
    many = f"max(run) OVER (PARTITION BY sender) > {RUNS}"
    told = pieces.selectExpr("* EXCEPT (run, bucket, pieces)", f"CASE WHEN {many} THEN bucket ELSE -run END AS run")
    few = _together(told, *_FATE, "run")
    return few.selectExpr("first.source AS source", "* EXCEPT (run, pieces)", *_MOMENTS)


def _topic_flows(messages: DataFrame) -> DataFrame:
    """Messages by topic, sender and fate; topics that miss or double most come first, ``TOPICS`` of them alone."""
    by_topic = _together(_told(messages), "topic", *_FATE)
    own = "PARTITION BY topic"
    widest = by_topic.selectExpr("*", f"max(size(received)) OVER ({own}) AS widest")
    odd = "size(received) < greatest(widest, 1) OR exists(received, r -> r.n > 1)"
    ranked = widest.selectExpr(
        "* EXCEPT (widest, pieces)",
        f"sum(CASE WHEN {odd} THEN messages ELSE 0 END) OVER ({own}) AS odd", f"sum(messages) OVER ({own}) AS every",
    )  # fmt: skip
    rank = "dense_rank() OVER (ORDER BY topic IS NULL, odd DESC, every DESC, topic)"
    alone = ranked.selectExpr("* EXCEPT (odd, every)", f"{rank} AS rank")
    named = alone.selectExpr("* EXCEPT (topic, rank)", f"CASE WHEN rank <= {TOPICS} THEN topic END AS topic")
    few = _together(named, "topic", *_FATE)
    return few.selectExpr("first.source AS source", "* EXCEPT (pieces)", "pieces AS topics", *_MOMENTS)


def _receipts(rows: DataFrame, links: Collection[str], messages: DataFrame) -> DataFrame:
    """Rows of each ledger by ten seconds; those of other systems' ledgers where they tell of these messages."""
    heard = messages.selectExpr("explode(received) AS one").selectExpr("one.source").distinct()
    told = rows.where(ROLES).selectExpr(
        "source", "role", f"{_begin('wall')} AS at", "line", "topic", f"{DUP} AS dup", f"{RETAINED} AS retained"
    )
    own = told.join(F.broadcast(heard.selectExpr("source", "true AS known")), "source", "left")
    by_topic = own.where(f"known OR {mqtt_notes.mqtt(links)}").groupBy("source", "role", "at", "topic").agg(
        F.expr("count(1) AS rows"), F.expr("count_if(dup) AS dup"), F.expr("count_if(retained) AS retained"),
        F.expr("min(line) AS line"),
    )  # fmt: skip
    sums = ("sum(rows) AS rows", "count(topic) AS topics", "sum(dup) AS dup", "sum(retained) AS retained")
    counted = by_topic.groupBy("source", "role", "at").agg(*map(F.expr, sums), F.expr("min(line) AS line"))
    again = messages.selectExpr("explode(again) AS one").selectExpr("one.*")
    repeated = again.selectExpr("* EXCEPT (at)", f"{_begin('at')} AS at").groupBy("source", "role", "at").agg(
        F.expr("count(1) AS again"), F.expr("max(seconds) AS again_seconds"), F.expr("min(line) AS again_line")
    )  # fmt: skip
    return counted.join(repeated, ["source", "role", "at"], "left")


def _passages(messages: DataFrame) -> DataFrame:
    """How long messages took from their publisher to each receiver that notes them, the first time."""
    sent = messages.where("sender IS NOT NULL").selectExpr("sender", "first.at AS sent_at", "explode(arrived) AS one")
    took = sent.selectExpr(
        "sender AS source", "one.source AS receiver", "unix_micros(sent_at) AS sent_at",
        "unix_micros(one.at) - unix_micros(sent_at) AS took",
    )  # fmt: skip
    return took.groupBy("source", "receiver").agg(
        F.expr("count(1) AS messages"),
        F.expr("min(took) AS least"),
        F.expr("percentile_approx(took, 0.5, 1000) AS median"),
        F.expr("max(took) AS most"),
        F.expr("min(struct(took, sent_at)).sent_at AS at"),
    )


def _begin(at: str) -> str:
    return f"floor(unix_seconds({at}) / {BUCKET}) * {BUCKET}"
