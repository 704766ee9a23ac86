"""LEDGER, thinned inside Spark: counts instead of messages, and what became of messages as runs instead of rows.

In ``tallies`` and ``deliveries`` a message is (topic, queue, offset); where a ledger notes no offset, (topic, key).
``fates`` says how messages are told apart there. Messages of MQTT have neither queues nor offsets, and no ledger
must note all of them: they are told by ``thinning.mqtt_flows`` instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.ledgers.layout import FIELDS
from mqlab.thinning import fates, ledger_parts, ledger_roles, ledger_topics, mqtt_flows, mqtt_notes
from mqlab.thinning.ledger_roles import Silent

BUCKET = 10
"""Seconds that one row spans."""
_HANDLED = "role IN ('received', 'consumed', 'processed')"
_NOTED = "role NOT IN ('stored', 'dump')"
_BEGIN = f"floor(unix_seconds(wall) / {BUCKET}) * {BUCKET}"
_COLUMNS = (
    "source", "line", "role", "told", "party", "`group`", "topic", "queue", "position", "key", "status", "wall",
    "dup", "qos", "retained",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Known:
    """What recognition knows of ledgers, by their links."""

    mqtt: frozenset[str] = frozenset()
    """Those about messages of MQTT."""
    silent: frozenset[str] = frozenset()
    """Those that do not say what was done with a message."""
    answered: frozenset[str] = frozenset()
    """Those whose rows note a second moment."""

    @classmethod
    def of(cls, layouts: Mapping[str, str]) -> Known:
        """From the layouts of ledgers by link (``Source.layout``)."""
        by_link = {link: json.loads(layout) for link, layout in layouts.items()}
        mqtt = frozenset(link for link, layout in by_link.items() if layout.get("mqtt"))
        said = FIELDS.index("role")
        silent = {
            link for link, layout in by_link.items()
            if layout["columns"][said] is None
            and (layout.get("role") is None or (layout.get("told") == "shape" and link not in mqtt))
        }  # fmt: skip
        return cls(mqtt, frozenset(silent), frozenset(link for link, one in by_link.items() if one.get("answered")))


def thinned(ledger: DataFrame, known: Known, *, others: bool = True) -> Mapping[str, DataFrame]:
    """What leaves Spark, by fact: tallies, deliveries, parts and fates; and what is told of ledgers of MQTT.

    *others* is whether there is anything but ledgers of MQTT.
    """
    rows = parsed(ledger)
    if not known.mqtt:
        return _placed(ledger_roles.filled(rows, Silent(known.silent)))
    mine = Silent(known.silent & known.mqtt, known.answered, known.mqtt)
    heard = ledger_roles.filled(rows, mine)
    if not others:
        return mqtt_flows.thinned(heard, known.mqtt, others=False)
    told = ledger_roles.filled(heard, Silent(known.silent - known.mqtt))
    placed = _placed(told.where(f"NOT {mqtt_notes.mqtt(known.mqtt)}"))
    return {**mqtt_flows.thinned(told, known.mqtt, others=True), **placed}


def _placed(rows: DataFrame) -> Mapping[str, DataFrame]:
    """What is told of messages that have places or stand in a queue."""
    topics = ledger_topics.topics(rows).localCheckpoint()
    return {
        "tallies": tallies(_titled(rows, topics)),
        "deliveries": deliveries(_titled(rows, topics)),
        "parts": ledger_parts.parts(rows, topics),
        "fates": fates.fates(rows, topics),
    }


def parsed(ledger: DataFrame) -> DataFrame:
    """The rows, parsed now and once.

    A plan that held the parsing as often as its rows are read takes Spark longer to make than the rows take to read.
    """
    return ledger.selectExpr(*_COLUMNS).where("wall IS NOT NULL OR role IN ('stored', 'dump')").localCheckpoint()


def _titled(rows: DataFrame, topics: DataFrame) -> DataFrame:
    """*rows* with the topic they are about, empty where that stays unknown, and their scope."""
    known = F.broadcast(topics.selectExpr("source", "topic AS noted", "title", "scope"))
    named = rows.withColumn("noted", F.expr("coalesce(topic, '')")).join(known, ["source", "noted"], "left")
    return named.selectExpr("* EXCEPT (topic, noted, title)", "coalesce(title, topic, '') AS topic")


def tallies(ledger: DataFrame) -> DataFrame:
    """source, role, topic, queue, at (seconds), messages, and the first line; no text, so that it is only counted."""
    known = ledger.where(f"wall IS NOT NULL AND (role IS NULL OR {_NOTED})").selectExpr(
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
    handled = ledger.where(f"{_HANDLED} AND wall IS NOT NULL").selectExpr(
        "source", "topic", "scope", "coalesce(queue, '') AS queue", f"{_BEGIN} AS at", named
    )
    messages = handled.where("message IS NOT NULL").groupBy("scope", "topic", "queue", "message").agg(
        F.expr("min(at) AS at"), F.expr("sort_array(collect_list(source)) AS sources")
    )  # fmt: skip
    counted = messages.groupBy("topic", "queue", "at", "sources").agg(F.expr("count(1) AS messages"))
    return counted.selectExpr("sources[0] AS source", "topic", "queue", "at", "sources", "messages")
