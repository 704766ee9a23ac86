"""LEDGER, thinned inside Spark: counts instead of messages, and what became of messages as runs instead of rows.

In ``tallies`` and ``deliveries`` a message is (topic, queue, offset); where a ledger notes no offset, (topic, key).
``fates`` says how messages are told apart there. Messages of MQTT have neither queues nor offsets, and no ledger
must note all of them: they are told by ``thinning.mqtt_flows`` instead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.thinning import fates, ledger_parts, ledger_topics, mqtt_flows, mqtt_notes, mqtt_roles

BUCKET = 10
"""Seconds that one row spans."""
_HANDLED = "role IN ('received', 'consumed', 'processed')"
_NOTED = "role NOT IN ('stored', 'dump')"
_BEGIN = f"floor(unix_seconds(wall) / {BUCKET}) * {BUCKET}"
_COLUMNS = (
    "source", "line", "role", "told", "party", "`group`", "topic", "queue", "position", "key", "status", "wall",
    "dup", "qos", "retained",
)  # fmt: skip


def thinned(ledger: DataFrame, mqtt: Collection[str] = (), *, others: bool = True) -> Mapping[str, DataFrame]:
    """What leaves Spark, by fact: tallies, deliveries, parts and fates; and what is told of the *mqtt* ledgers.

    *mqtt* are their links; *others* is whether there is anything else in *ledger*.
    """
    rows = parsed(ledger)
    if not mqtt:
        return _placed(rows)
    flows = mqtt_flows.thinned(mqtt_roles.filled(rows, mqtt), mqtt, others=others)
    return {**flows, **_placed(rows.where(f"NOT {mqtt_notes.mqtt(mqtt)}"))} if others else flows


def _placed(rows: DataFrame) -> Mapping[str, DataFrame]:
    """What is told of messages that have places or stand in a queue."""
    topics = ledger_topics.topics(rows).localCheckpoint()
    return {
        "tallies": tallies(rows),
        "deliveries": deliveries(rows),
        "parts": ledger_parts.parts(rows, topics),
        "fates": fates.fates(rows, topics),
    }


def parsed(ledger: DataFrame) -> DataFrame:
    """The rows, parsed now and once.

    A plan that held the parsing as often as its rows are read takes Spark longer to make than the rows take to read.
    """
    return ledger.selectExpr(*_COLUMNS).where("wall IS NOT NULL OR role IN ('stored', 'dump')").localCheckpoint()


def tallies(ledger: DataFrame) -> DataFrame:
    """source, role, topic, queue, at (seconds), messages, and the first line; no text, so that it is only counted."""
    known = ledger.where(f"wall IS NOT NULL AND topic IS NOT NULL AND (role IS NULL OR {_NOTED})").selectExpr(
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
